"""Synthetic data of the papers: one seeded function for each law, drawn with ``numpy.random.default_rng``.

Labels are random, so a small sample may hold one class only; that is a DataError (choose another seed).
"""
