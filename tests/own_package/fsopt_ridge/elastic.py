"""Model and method ``elastic-svm``: hinge loss with the penalty mu ||w||_1 + 1/2 ||w||^2."""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo

import fsopt
from fsopt.extend import MethodSpec, ModelSpec, make_fit, preprocess, values_of


def build_elastic(data, *, c: float = 1.0, mu: float = 0.5):
    """Return the support vector machine with both norms as penalty, a convex quadratic program."""
    m = pyo.ConcreteModel(name="elastic-svm")
    m.w, m.b = pyo.Var(range(data.p), doc="w, weights"), pyo.Var(doc="b, intercept")
    m.s = pyo.Var(range(data.p), within=pyo.NonNegativeReals, doc="s, sizes of the weights")
    m.xi = pyo.Var(range(data.n), within=pyo.NonNegativeReals, doc="xi, hinge slacks")
    penalty = mu * sum(m.s.values()) + 0.5 * sum(w**2 for w in m.w.values())
    m.objective = pyo.Objective(expr=penalty + c * sum(m.xi.values()), doc="(1)")
    score = [sum(float(x) * m.w[j] for j, x in enumerate(row)) + m.b for row in data.X]
    m.margin = pyo.Constraint(range(data.n), rule=lambda m, i: data.y[i] * score[i] >= 1 - m.xi[i], doc="(2)")
    m.above = pyo.Constraint(range(data.p), rule=lambda m, j: m.w[j] <= m.s[j], doc="(3) w <= s")
    m.below = pyo.Constraint(range(data.p), rule=lambda m, j: -m.w[j] <= m.s[j], doc="(3) -w <= s")
    return m


def fit_elastic(data, run, *, c: float = 1.0, mu: float = 0.5, scale: str = "standard"):
    """Fit the support vector machine with both norms as penalty."""
    work, map_ = preprocess(data, scale)
    model = fsopt.build("elastic-svm", work, c=c, mu=mu)
    _, result = run.solve(model, "'elastic-svm'")
    return make_fit(map_, values_of(model.w), model.b.value, result, details={"point": result.point})


def complete_elastic(data, w, b, **params):
    """Return the variables of the model at a hyperplane."""
    return {"w": w, "b": b, "s": np.abs(w), "xi": np.maximum(1.0 - data.y * (data.X @ w + b), 0.0)}


MODEL = ModelSpec("elastic-svm", build_elastic, "QP", equation="own", complete=complete_elastic)
METHOD = MethodSpec("elastic-svm", fit_elastic, ("elastic-svm",), equation="own")


def register():
    """Enter model and method."""
    fsopt.register_model(MODEL)
    fsopt.register_method(METHOD)
