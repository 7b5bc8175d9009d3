"""Comparison of a driver's model with what is given beside it: a mismatch would make bounds and criteria false."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyomo.environ as pyo

from fsopt.data import Dataset
from fsopt.data.hyperplanes import loss_weights
from fsopt.errors import ParameterError
from fsopt.models.gbd.feature_lists import WeightBounds
from fsopt.solvers.base import Session

EQUAL = 1e-9
"""Relative difference up to which two numbers are equal: the model holds the data's own numbers, up to their sums."""


def check_margins(driver: str, session: Session, data: Dataset) -> None:
    """Raise ParameterError unless the margins of a model are y_i (w'x_i + b) of the samples of a data set.

    Both sides are compared at one random hyperplane: n linear forms that agree there agree with probability one.
    """
    m = session.model
    hint = "build the model from the data set that the driver is given"
    if len(m.w) != data.p or len(m.margin) != data.n:
        raise ParameterError(
            f"the model '{m.name}' given to '{driver}' has {len(m.margin)} samples and {len(m.w)} features, "
            f"the data {data.n} and {data.p}",
            hint,
        )
    w = np.random.default_rng(0).standard_normal(data.p)
    x = np.zeros(session.program.n)
    x[session.columns(m.w)], x[session.columns(m.b)] = w, 1.0
    forms = session.program.A[session.rows(m.margin)] @ x
    difference = np.abs(forms - data.y * (data.X @ w + 1.0))
    if np.any(difference > EQUAL * (np.abs(data.X) @ np.abs(w) + 1.0)):
        raise ParameterError(f"the model '{m.name}' given to '{driver}' is of other data", hint)


def minimises(session: Session, costs: Mapping[str, Any], squares: str = "") -> bool:
    """Return whether a model minimises costs of some variables, by name, and half the squares of one, but no more."""
    program, expected = session.program, np.zeros((2, session.program.n))
    for place, given in zip(expected, (costs, {squares: 1.0} if squares else {}), strict=True):
        for name, values in given.items():
            if (variable := session.model.component(name)) is None:
                return False
            place[session.columns(variable)] = values
    others = program.c0 != 0.0 or program.sign != 1.0 or program.objective_terms or program.P.nnz != expected[1].sum()
    same = np.array_equal(program.P.diagonal(), expected[1]) and np.allclose(program.c, expected[0], EQUAL, 0.0)
    return same and not others


def check_svm(session: Session, data: Dataset, c: float, bounds: WeightBounds) -> None:
    """Raise ParameterError unless a model is ``fsp-sub`` of a data set with this penalty weight and these bounds."""
    check_margins("gbd", session, data)
    m = session.model
    if not minimises(session, {"xi": loss_weights(c, data.weights)}, squares="u"):
        raise ParameterError(
            f"the objective of '{m.name}' given to 'gbd' is not 1/2 u'u + {c:g} e'xi",
            "build it with the same c and leave its objective",
        )
    if not _same_bounds(session, bounds):
        raise ParameterError(
            f"the bounds on the weights of '{m.name}' given to 'gbd' are not those of the master",
            "build both models with the same positive, negative, lower and upper",
        )


def _same_bounds(session: Session, bounds: WeightBounds) -> bool:
    """Return whether the rows ``above`` and ``below`` of ``fsp-sub`` are the bounds, at its sigma."""
    m, program = session.model, session.program
    sigma = np.array([pyo.value(v) for v in m.sigma.values()])
    for name, ends, sides in (("above", bounds.upper, program.hi), ("below", bounds.lower, program.lo)):
        rows, bounded = m.component(name), np.flatnonzero(np.isfinite(ends))
        if list(rows or ()) != bounded.tolist():
            return False
        if rows and not np.allclose(sides[session.rows(rows)], (ends * sigma)[bounded], rtol=EQUAL, atol=0.0):
            return False
    return True
