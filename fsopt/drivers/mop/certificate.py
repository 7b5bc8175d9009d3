"""Certificates of Algorithm 1 of Bi: the bound on the loss, and the histories against Proposition 1."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fsopt.answers.certificate import Certificate, Kind, make
from fsopt.certificates.points import relative_gap
from fsopt.data import Dataset
from fsopt.data.hyperplanes import hinge, project_multipliers
from fsopt.typing import Vector

PROPOSITION = "Proposition 1 is guaranteed for c = 0: with c > 0 only E is known not to rise, H = RW may"


def risk_bound(data: Dataset, scales: Vector, cap: float, alpha: Vector) -> float:
    r"""Return the lower bound that multipliers prove on the loss of every hyperplane with these scales and this cap.

    Every :math:`\alpha \in [0, 1]^n` with :math:`y'\alpha = 0` gives :math:`e'\alpha - \sqrt W\,\|S^{1/2}X'Y\alpha\|`
    (Bi, (14)).
    """
    alpha = project_multipliers(alpha, data.y, 1.0)
    q = data.X.T @ (alpha * data.y)
    return max(float(alpha.sum() - np.sqrt(cap * (scales @ q**2))), 0.0)


def certify_mop(data: Dataset, at: Mapping[str, Any], *, costs: bool) -> Certificate:
    """Check the histories against Proposition 1, and the last hyperplane against its scales, its cap and its bound."""
    scores = data.X @ at["w"] + at["b"]
    scales, cap = at["scales"], at["cap"]
    active = scales > 0
    used = float((at["w"][active] ** 2 / scales[active]).sum())
    residuals = {
        "rise of E": _largest_rise(at["E"]),
        "loss": relative_gap(at["E"][-1], hinge(scores, data.y)),
        # With the cap 0 any weight is an excess, in any unit.
        "capacity": max(used - cap, 0.0) / (cap or 1.0) + float(np.abs(at["w"][~active]).max(initial=0.0)),
        "gap of E": relative_gap(at["E"][-1], risk_bound(data, scales, cap, at["alpha"])),
    }
    if not costs:
        residuals["rise of H"] = _largest_rise(at["H"])
    return make(Kind.MOP, residuals, notes=(PROPOSITION,) if costs else ())


def _largest_rise(values: list[float]) -> float:
    rises = np.diff(values) / np.maximum(1.0, np.abs(values[:-1]))
    return float(max(rises.max(initial=0.0), 0.0))
