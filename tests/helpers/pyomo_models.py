"""Small Pyomo models in one statement."""

import numpy as np
import pyomo.environ as pyo

from fsopt.compiler import lmi
from fsopt.compiler.cones import ConeStack, triangle_to_matrix

FREE, POSITIVE = (None, None), (0, None)
"""Bounds of a variable."""


def model_of(goal, *rows, bounds, start=None, whole=(), sense=pyo.minimize) -> pyo.ConcreteModel:
    """Return the model of functions of variables x with pairs of bounds; ``whole`` are the places of integers."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(len(bounds)), bounds=lambda m, j: bounds[j])
    if start is not None:
        m.x.set_values(dict(enumerate(start)))
    for j in whole:
        m.x[j].domain = pyo.Integers
    m.row = pyo.Constraint(range(len(rows)), rule=lambda m, i: rows[i](*m.x.values()))
    m.o = pyo.Objective(expr=goal(*m.x.values()), sense=sense)
    return m


def symmetric(size: int, seed: int = 0) -> np.ndarray:
    A = np.random.default_rng(seed).standard_normal((size, size))
    return A + A.T


def largest_eigenvalue(A: np.ndarray, sense: int = pyo.minimize) -> pyo.ConcreteModel:
    """Return min 7 + 2 t such that t I - A is semidefinite, or max of its negative."""
    m, size, turn = pyo.ConcreteModel(name="eigenvalue"), len(A), 1 if sense == pyo.minimize else -1
    m.t = pyo.Var()
    m.lmi = lmi([[(m.t if i == j else 0.0) - A[i, j] for j in range(size)] for i in range(size)], doc="t I - A >= 0")
    m.o = pyo.Objective(expr=turn * (7 + 2 * m.t), sense=sense)
    return m


def missed(cones: ConeStack, s: np.ndarray) -> np.ndarray:
    """Return by how much each block of s misses its cone: its tail less its head, or minus its least eigenvalue."""
    blocks = [s[a:b] for a, b in zip(cones.starts[:-1], cones.starts[1:], strict=True)]
    least = [
        np.linalg.eigvalsh(triangle_to_matrix(v, order))[0] if order else v[0] - np.linalg.norm(v[1:])
        for v, order in zip(blocks, cones.orders, strict=True)
    ]
    return np.maximum(-np.array(least), 0.0)
