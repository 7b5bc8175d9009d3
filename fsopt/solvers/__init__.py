"""Solvers: the registry, one module per interface, and solving with a certificate."""
