"""Multi-objective programming of an SVM (Bi, Algorithm 1): the driver, its step (14), its certificate."""
