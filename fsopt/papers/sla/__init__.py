"""The experiments of Mangasarian (section 5)."""
