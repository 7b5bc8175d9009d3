"""Methods of Yang & Ju."""
