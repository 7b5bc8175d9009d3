"""Model ``gmeb-sdp``: Peleg & Meir, (15) with its linear matrix inequality."""

from __future__ import annotations

from fsopt.models.spec import ModelSpec

import pyomo.environ as pyo
from fsopt.compiler import lmi
from fsopt.data import Dataset
from fsopt.models.blocks import add_margins
from fsopt.models.gmeb.moments import add_moments, add_scaled_classifier


def build_gmeb_sdp(data: Dataset, *, r_plus: float = 3.0, r_minus: float = 3.0) -> pyo.ConcreteModel:
    r"""Return the convex GMEB problem with its linear matrix inequality, a semidefinite program.

    .. math::

        \min\ & 1'\xi \\
        \text{s.t.}\ & y_i(w'x_i + b) \ge 1 - \xi_i, \quad \xi \ge 0 \\
        & \begin{bmatrix} \mathrm{diag}(\sigma) & w \\ w' & 1 \end{bmatrix} \succeq 0 \\
        & v^{+\prime}\sigma \le R_+, \quad v^{-\prime}\sigma \le R_-

    The inequality is the closure of :math:`\sum_j w_j^2/\sigma_j \le 1` (Schur's complement). Its dense cone of order
    p + 1 takes seconds at p = 200: prefer the rotated cones of :func:`build_gmeb_primal` beyond p = 100.

    Parameters
    ----------
    data : centred columns are assumed, nothing is preprocessed here.
    r_plus, r_minus : :math:`R_+, R_- > 0`, units of squared features times sigma; infinity drops the row.

    Returns
    -------
    ConcreteModel
        SDP, one semidefinite cone of order p + 1. Variables ``w b sigma xi`` and the upper triangle ``lmi.S``,
        constraints ``margin lmi.entry moment_plus moment_minus``.

    Raises
    ------
    ParameterError : a radius that is not a positive number.

    Notes
    -----
    Paper 1, problem (15) in the form that section 4.1 derives from Lemma 6.
    """
    m = add_scaled_classifier("gmeb-sdp", data)
    add_margins(m, data, "(15)")
    m.objective = pyo.Objective(expr=pyo.quicksum(m.xi.values()), doc="(15) 1'xi")
    w = tuple(m.w.values())
    scales = [[m.sigma[i] if i == j else 0.0 for j in m.J] + [w[i]] for i in m.J]
    m.lmi = lmi([*scales, [*w, 1.0]], doc="(15) [[diag(sigma), w], [w', 1]] >= 0, entry by entry")
    add_moments(m, data, r_plus, r_minus)
    return m


SPEC = ModelSpec("gmeb-sdp", build_gmeb_sdp, "SDP", paper="gmeb", equation="(15), LMI")
