"""The experiments of Peleg & Meir (section 6)."""
