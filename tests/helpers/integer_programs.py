"""Random integer programs in any units, with their optimum by enumeration: one continuous variable in closed form."""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo

KINDS = ("MILP", "MIQP", "MISOCP")
SIZES = 10.0 ** np.arange(-4, 5)
TOLERANCE = 1e-6


def random_program(seed, kind):
    """Return a model and its optimum, infinite where it is infeasible.

    The program is min s (c'z + d v + q) over whole z in [-2, 2]^n and real v with A z + B v <= b, where v = w / u, q is
    (v - e)^2 + |z - a|^2 for a MIQP and 2 sqrt(v^2 + |z - a|^2) for a MISOCP, and each row has a unit of its own.
    """
    r = np.random.default_rng(seed)
    n, m = int(r.integers(2, 6)), int(r.integers(2, 5))
    u, s, rows = r.choice(SIZES), r.choice(SIZES), r.choice(SIZES, m)
    A, B = np.round(r.normal(size=(m, n)), 2), np.round(r.normal(size=m), 2)
    b = np.round(r.normal(size=m) + 1.0, 2)
    c, d = np.round(r.normal(size=n), 2), np.round(0.9 * r.uniform(-1, 1), 2)
    a, e = np.round(r.uniform(-2, 2, n), 2), np.round(r.normal(), 2)
    model = pyo.ConcreteModel(f"{kind} {seed}")
    model.z = pyo.Var(range(n), domain=pyo.Integers, bounds=(-2, 2))
    model.w = pyo.Var(bounds=(-3 * u, 3 * u) if seed % 2 or kind == "MILP" else (None, None))

    def linear(weights, last):
        return sum(weights[j] * model.z[j] for j in range(n)) + last / u * model.w

    model.row = pyo.Constraint(range(m), rule=lambda _, i: rows[i] * linear(A[i], B[i]) <= rows[i] * b[i])
    cost = linear(c, d)
    apart = sum((model.z[j] - a[j]) ** 2 for j in range(n))
    if kind == "MIQP":
        cost += (model.w / u - e) ** 2 + apart
    if kind == "MISOCP":
        model.t = pyo.Var(bounds=(0, None))
        model.y = pyo.Var(range(n))
        model.apart = pyo.Constraint(range(n), rule=lambda _, j: model.y[j] == u * (model.z[j] - a[j]))
        model.cone = pyo.Constraint(expr=model.w**2 + sum(model.y[j] ** 2 for j in range(n)) <= model.t**2)
        cost += 2 / u * model.t
    sense = pyo.maximize if seed % 3 == 0 else pyo.minimize
    model.objective = pyo.Objective(expr=s * cost if sense == pyo.minimize else -s * cost, sense=sense)
    best = s * _enumerated(kind, (A, B, b), (c, d), (a, e), bounded=model.w.has_lb())
    return model, best if sense == pyo.minimize else -best


def near(value, best):
    """Return whether a value is an optimum up to the tolerance of answers that are verified."""
    return abs(value - best) <= TOLERANCE * max(1.0, abs(best))


def _enumerated(kind, rows, linear, centre, *, bounded):
    (A, B, b), (c, d), (a, e) = rows, linear, centre
    z = np.stack(np.meshgrid(*[np.arange(-2, 3)] * A.shape[1]), axis=-1).reshape(-1, A.shape[1])
    rest = b - z @ A.T
    with np.errstate(divide="ignore", invalid="ignore"):
        ends = rest / B
    low = np.where(B < 0, ends, -np.inf).max(axis=1, initial=-3.0 if bounded else -np.inf)
    high = np.where(B > 0, ends, np.inf).min(axis=1, initial=3.0 if bounded else np.inf)
    feasible = (low <= high) & np.where(B == 0, rest >= 0, True).all(axis=1)
    apart = ((z - a) ** 2).sum(axis=1)
    if kind == "MILP":
        v, q = (low if d > 0 else high), 0.0
    elif kind == "MIQP":
        v = np.clip(e - d / 2, low, high)
        q = (v - e) ** 2 + apart
    else:
        v = np.clip(-d * np.sqrt(apart / (4 - d**2)), low, high)
        q = 2 * np.sqrt(v**2 + apart)
    values = np.where(feasible, z @ c + d * v + q, np.inf)
    return float(values.min())


def knapsacks(n, seed=1):
    """Return a model of two knapsacks of the same n items, most of which the search has to enumerate."""
    sizes = np.random.default_rng(seed).integers(100, 1000, size=(2, n))
    model = pyo.ConcreteModel("knapsacks")
    model.x = pyo.Var(range(n), domain=pyo.Binary)
    room = 0.42 * sizes.sum(axis=1) + 0.5
    model.size = pyo.Constraint([0, 1], rule=lambda m, i: sum(int(sizes[i, j]) * m.x[j] for j in range(n)) <= room[i])
    prices = sizes.sum(axis=0) + 0.01 * np.arange(n)
    model.value = pyo.Objective(expr=sum(prices[j] * model.x[j] for j in range(n)), sense=pyo.maximize)
    model.prices, model.sizes, model.room = prices, sizes, room
    return model


def best_knapsack(model):
    """Return the optimum of two knapsacks by enumeration."""
    n = len(model.prices)
    chosen = (np.arange(2**n)[:, None] >> np.arange(n)) & 1
    fits = (chosen @ model.sizes.T <= model.room).all(axis=1)
    return float((chosen @ model.prices)[fits].max())
