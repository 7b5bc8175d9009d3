"""Models of Aytug: SVMs on a limited number of features (FSP), by generalized Benders decomposition."""
