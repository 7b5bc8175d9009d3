"""Methods of Peleg & Meir."""
