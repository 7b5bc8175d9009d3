"""fsopt.verify: the evidence of fits and solves recomputed; :mod:`fsopt.verifier` reads proof files alone."""
