"""Models of Aytug: support vector machines with a limited number of features, by generalized Benders decomposition."""
