"""The experiments of Aytug (section 4): methods tuned on validation data and measured on test data."""
