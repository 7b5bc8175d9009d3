"""Models of Bi: support vector machines as multi-objective programs, risk against capacity."""
