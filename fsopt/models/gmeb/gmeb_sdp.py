"""Model ``gmeb-sdp``: Peleg & Meir, (15) with its linear matrix inequality."""

from __future__ import annotations

import pyomo.environ as pyo

from fsopt.compiler import lmi
from fsopt.data import Dataset
from fsopt.models.blocks import add_margins, add_slacks, hinge_cost
from fsopt.models.gmeb.moments import add_moment_bounds, new_scaled_model
from fsopt.models.spec import ModelSpec


def build_gmeb_sdp(data: Dataset, *, r_plus: float = 3.0, r_minus: float = 3.0) -> pyo.ConcreteModel:
    r"""Return the convex GMEB problem with its linear matrix inequality, a semidefinite program.

    .. math::

        \min\ & 1'\xi \\
        \text{s.t.}\ & y_i(w'x_i + b) \ge 1 - \xi_i, \quad \xi \ge 0 \\
        & \begin{bmatrix} \mathrm{diag}(\sigma) & w \\ w' & 1 \end{bmatrix} \succeq 0 \\
        & v^{+\prime}\sigma \le R_+, \quad v^{-\prime}\sigma \le R_-

    The inequality is the closure of :math:`\sum_j w_j^2/\sigma_j \le 1` by Schur's complement. Its dense cone of order
    p + 1 takes seconds at p = 200: prefer the rotated cones of ``gmeb-primal`` beyond p = 100.

    Parameters
    ----------
    data : Dataset
        Features centred by their training mean; the builder does not preprocess.
    r_plus, r_minus : float, default 3.0
        :math:`R_+, R_- > 0`, without unit, as sigma has the inverse squared units of the features; infinity omits the
        constraint.

    Returns
    -------
    ConcreteModel
        SDP, one semidefinite cone of order p + 1. Variables ``w b sigma xi`` and the upper triangle ``lmi.S`` of the
        matrix, constraints ``margin lmi.entry moment_plus moment_minus``. It has the optimum of ``gmeb-primal``.

    Raises
    ------
    ParameterError : a radius that is not a positive number.

    Notes
    -----
    Peleg & Meir, (15) in the form that section 4.1 derives from Lemma 6.
    """
    m = new_scaled_model("gmeb-sdp", data)
    add_slacks(m)
    m.objective = pyo.Objective(expr=hinge_cost(m, data), doc="(15) 1'xi")
    add_margins(m, data, "(15)")
    w = tuple(m.w.values())
    diagonal = [[m.sigma[i] if i == j else 0.0 for j in m.J] + [w[i]] for i in m.J]
    m.lmi = lmi([*diagonal, [*w, 1.0]], doc="(15) [[diag(sigma), w], [w', 1]] >= 0, entry by entry")
    add_moment_bounds(m, data, r_plus, r_minus)
    return m


SPEC = ModelSpec("gmeb-sdp", build_gmeb_sdp, "SDP", paper="gmeb", equation="(15), LMI", weights="samples")
