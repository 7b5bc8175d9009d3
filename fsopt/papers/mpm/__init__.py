"""The experiments of Yang & Ju (section 4): surfaces over delta and alpha, and methods side by side."""
