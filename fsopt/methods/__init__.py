"""Methods: preprocessing + model + driver + selection rule, from a data set to a classifier."""
