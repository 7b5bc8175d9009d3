"""Small problems with known answers for the tests of solvers: active bounds, quadratic constraints, hard knapsacks."""

import warnings
from functools import cache

import numpy as np
import pyomo.environ as pyo
from pyomo_models import FREE, model_of

import fsopt
from fsopt.errors import SolverError
from fsopt.solvers.registry import SOLVERS

PRICES = {"le": -1.5, "ge": 2.0, "eq": 0.7, "range": -1.1, "up": -1.2, "low": 0.9, "fixed": 0.6}
"""Shadow prices of the constraints, bounds and fixed variable of :func:`active_bounds`, of the minimum."""


def active_bounds(sense: int, square: float) -> pyo.ConcreteModel:
    """Return a problem whose rows and bounds are all active at the PRICES; ``square`` adds a term of minimum there."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(7), bounds=lambda m, j: {4: (None, 1.5), 1: (0.5, None)}.get(j))
    x = m.x
    x[6].fix(0.25)
    m.le = pyo.Constraint(expr=x[0] + x[1] + x[6] <= 2.0)
    m.ge = pyo.Constraint(expr=x[2] - x[3] + 1 >= 2.0)
    m.eq = pyo.Constraint(expr=x[0] + x[2] + x[4] == 3.0)
    m.range = pyo.Constraint(expr=(-9, x[5] - x[3], 1.25))
    A = np.array([[1, 1, 0, 0, 0, 0, 1], [0, 0, 1, -1, 0, 0, 0], [1, 0, 1, 0, 1, 0, 0], [0, 0, 0, -1, 0, 1, 0]])
    cost = A.T @ [PRICES[name] for name in ("le", "ge", "eq", "range")]
    cost += np.array([0, PRICES["low"], 0, 0, PRICES["up"], 0, PRICES["fixed"]])
    at = [1.25, 0.5, 0.25, -0.75, 1.5, 0.5, 0.25]
    form = sum(float(c) * v for c, v in zip(cost, x.values(), strict=True))
    form += square * sum((v - a) ** 2 for v, a in zip(x.values(), at, strict=True))
    m.o = pyo.Objective(expr=form if sense == pyo.minimize else -form, sense=sense)
    return m


def shadow_prices(m: pyo.ConcreteModel) -> dict[str, float]:
    """Return the shadow price of each bound of :func:`active_bounds` after a solve."""
    constraints = {name: m.dual[m.component(name)] for name in ("le", "ge", "eq", "range")}
    return constraints | {"up": m.rc[m.x[4]], "low": m.rc[m.x[1]], "fixed": m.rc[m.x[6]]}


SHAPES = ("ball", "rotated", "lorentz", "parabola")
PRODUCTS = ("product", "affine")


def one_cone(shape: str, sense: int, turned: bool = False) -> tuple[pyo.ConcreteModel, float]:
    """Return a problem whose quadratic constraint ``q`` is a cone, and its price; ``turned`` states ``-body >= 0``."""
    m = pyo.ConcreteModel()
    m.w, m.v = pyo.Var(), pyo.Var()
    m.s, m.t = pyo.Var(bounds=(0, None)), pyo.Var(bounds=(0, None))
    m.fix = pyo.Constraint(expr=m.w == 3)
    m.fix2 = pyo.Constraint(expr=m.v == 4)
    body, goal, price = {
        "ball": (m.s**2 + m.t**2 - 2, -m.s - m.t, -1 / 2),
        "rotated": (m.w**2 - m.s * m.t, m.s + m.t, -1 / 3),
        "lorentz": (m.w**2 + m.v**2 - m.t**2, m.t, -1 / 10),
        "parabola": (m.w**2 + m.v**2 - m.t, m.t, -1),
        "product": (2 - m.s * m.t, 3 * m.s + 5 * m.t, -np.sqrt(7.5)),  # 2 (15 q)^(1/2) for st >= q
        "affine": (m.w**2 + 1 - (m.s + 1) * (m.t + 2), m.s + m.t, -1 / np.sqrt(10)),  # 2 q^(1/2) - 3 for a product q
    }[shape]
    m.q = pyo.Constraint(expr=-body >= 0) if turned else pyo.Constraint(expr=body <= 0)
    m.o = pyo.Objective(expr=goal if sense == pyo.minimize else -goal, sense=sense)
    return m, price * (-1 if turned else 1) * (1 if sense == pyo.minimize else -1)


def failing(kind, what):
    """Return a program of a class that is infeasible, unbounded, or infeasible with a free direction."""
    rows = [lambda a, b, c, y: a + b >= 2]
    rows += [lambda a, b, c, y: a**2 <= b * c] * ("SOCP" in kind)
    rows += [lambda a, b, c, y: a + b + c <= -1] * (what != "unbounded")
    curve, slope = int("QP" in kind), int(what != "infeasible")
    goal = lambda a, b, c, y: a + b + 3 * c + curve * (a - 1) ** 2 - slope * y  # noqa: E731
    return model_of(goal, *rows, bounds=[(0, 9)] * 3 + [FREE], whole=range(3) if "MI" in kind else ())


def crossing(row=1.0, goal=1.0, whole=()):
    """Return a program with the optimum -7 at (3/2, 1), where the rows cross with the multipliers 13/5 and 7/20.

    With y whole, y = 0 and y = 2 leave -3.2 and -5.75 at best.
    """
    m = model_of(
        lambda x, y: goal * (-x * y - 3 * x - y),
        lambda x, y: row * (x * y) <= row * 1.5,
        lambda x, y: row * (x**2 - 2 * y**2 + x) <= row * 1.75,
        bounds=[(-1, 4), (0, 2)],
        whole=whole,
    )
    m.unit = pyo.Suffix()
    m.unit[m.o] = goal
    return m


def knapsacks(n: int = 45) -> pyo.ConcreteModel:
    """Return a binary program with five knapsacks that takes minutes."""
    rng = np.random.default_rng(3)
    A = rng.integers(1, 1000, (5, n))
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(n), domain=pyo.Binary)
    bodies = [sum(int(A[i, j]) * m.x[j] for j in range(n)) for i in range(5)]
    half = [int(a) // 2 for a in A.sum(axis=1)]
    m.c = pyo.Constraint(range(5), rule=lambda m, i: bodies[i] <= half[i])
    m.o = pyo.Objective(expr=sum((int(A[:, j].sum()) + 300) * m.x[j] for j in range(n)), sense=pyo.maximize)
    return m


@cache
def usable_solvers() -> tuple[str, ...]:
    """Return the solvers that are installed and have a licence here; those of one structure need none."""
    found = []
    for name, spec in SOLVERS.items():
        m = pyo.ConcreteModel()
        m.x = pyo.Var(bounds=(0, 10))
        m.row = pyo.Constraint(expr=m.x >= 1)
        m.objective = pyo.Objective(expr=m.x)
        if not spec.available:
            continue
        try:
            with warnings.catch_warnings(action="ignore"):
                fsopt.solve(m, name)
        except SolverError as error:
            if "licence" in str(error):
                continue
        found.append(name)
    return tuple(found)


def takers(*classes: str) -> list[str]:
    """Return the usable solvers of any program of these classes."""
    return [s for s in usable_solvers() if SOLVERS[s].classes.issuperset(classes)]
