"""Methods of Mangasarian."""
