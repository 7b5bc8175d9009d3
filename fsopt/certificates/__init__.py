"""Certificates: evidence recomputed from a compiled model and a point, without any solver."""
