"""Generalized Benders decomposition (Aytug): the driver, its master problem and subproblem, cuts."""
