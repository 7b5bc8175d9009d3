"""Shared by L1-MPM and L0-MPM: the probability constraints with weights split as w = w+ - w-."""

from __future__ import annotations

import pyomo.environ as pyo
from fsopt.compiler import dot
from fsopt.data import Dataset
from fsopt.models.blocks import new_model, number
from fsopt.models.mpm.moments import Moments, add_deviations, kappa
from typing import Any


def new_sparse_model(
    name: str, data: Dataset, moments: Moments, delta: Any, equations: tuple[str, str, str]
) -> pyo.ConcreteModel:
    """Return the feasible set shared by L1-MPM and the steps of L0-MPM, without an objective."""
    delta = number(name, "delta", delta, low=0.0, high=1.0, strict=True)
    first, second, third = equations
    m = new_model(name, data)
    m.w = pyo.Var(m.J, doc="w = w_plus - w_minus, weights")
    m.w_plus = pyo.Var(m.J, within=pyo.NonNegativeReals, doc="positive part of w")
    m.w_minus = pyo.Var(m.J, within=pyo.NonNegativeReals, doc="negative part of w")
    m.b = pyo.Var(doc="b, the plane is w'x = b")
    m.m1 = pyo.Var(bounds=(1, None), doc="m_1 = w'mu_1 - b, at least 1")
    m.m2 = pyo.Var(bounds=(1, None), doc="m_2 = b - w'mu_2, at least 1")
    add_deviations(m, moments)
    weights = tuple(m.w.values())

    def split(m: pyo.ConcreteModel, j: int) -> Any:
        return m.w[j] - m.w_plus[j] + m.w_minus[j] == 0

    m.split = pyo.Constraint(m.J, rule=split, doc=f"{third} w = w_plus - w_minus")
    m.mean1 = pyo.Constraint(expr=dot(moments.mean1, weights) - m.b - m.m1 == 0, doc="m_1 = w'mu_1 - b")
    m.mean2 = pyo.Constraint(expr=m.b - dot(moments.mean2, weights) - m.m2 == 0, doc="m_2 = b - w'mu_2")
    m.accuracy1 = pyo.Constraint(expr=m.m1 - kappa(delta) * m.t1 >= 0, doc=f"{first} m_1 >= kappa ||F_1 w||")
    m.accuracy2 = pyo.Constraint(expr=m.m2 - kappa(delta) * m.t2 >= 0, doc=f"{second} m_2 >= kappa ||F_2 w||")
    return m
