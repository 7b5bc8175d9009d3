"""Methods, from a data set to a classifier: preprocessing, a model, a driver, and a rule of selection."""
