"""Models of Bi: support vector machines as multi-objective programs, empirical risk against capacity."""
