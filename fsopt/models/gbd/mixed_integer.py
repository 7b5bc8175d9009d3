"""Shared by the convex mixed-integer forms of FSP-M: selection, limits, margins, a bound of the weights."""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo
from fsopt.data import Dataset
from fsopt.errors import ParameterError
from fsopt.models.blocks import add_classifier, add_margins, new_model
from fsopt.models.gbd.limits import Limits


def largest_weight(data: Dataset, c: float, upper: float | None = None) -> float:
    r"""Return a bound of the norm of the best weights of a machine, whatever the selection.

    Let w be the best weights for a selection and alpha the multipliers of its margins. By strong duality
    :math:`\tfrac12 w'w + Ce'\xi = e'\alpha - \tfrac12 w'w`, so :math:`w'w \le e'\alpha`; and
    :math:`0 \le \alpha \le C` with :math:`y'\alpha = 0` gives :math:`e'\alpha \le 2C\min(n_+, n_-)`, which is the
    hinge loss of w = 0. Where ``upper`` is at least the value of the best selection, that one has
    :math:`\tfrac12 w'w \le` ``upper`` too.
    """
    positive = int(np.sum(data.y > 0))
    most = 2.0 * c * min(positive, data.n - positive)
    return float(np.sqrt(most if upper is None else min(most, 2.0 * upper)))


def new_selection_model(name: str, data: Dataset, limits: Limits, relax: bool) -> pyo.ConcreteModel:
    """Return the machine's plane and margins, the selection and its limits."""
    if not isinstance(relax, bool):
        raise ParameterError(f"parameter 'relax' of '{name}' must be true or false, not {relax!r}", "relax=true")
    model = new_model(name, data)
    add_classifier(model)
    domain = pyo.UnitInterval if relax else pyo.Binary
    model.sigma = pyo.Var(model.J, within=domain, doc="sigma, selection")
    add_margins(model, data, "(FSP-M)")
    limits.add_to(model)
    return model
