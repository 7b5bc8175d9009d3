"""Generalized Benders decomposition: the loop, its two problems, its search, its checkpoints."""
