"""Model ``fsp-master``: Aytug, (RMP-M) (10) and (RMP-lambda) (15), the relaxed master problem."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pyomo.environ as pyo
from numpy.typing import ArrayLike
from pyomo.core.base.constraint import ConstraintData

from fsopt.common.arguments import LIST, with_keywords_of
from fsopt.compiler import dot
from fsopt.data import Dataset
from fsopt.models.blocks import new_model, vector
from fsopt.models.gbd.fsp_m import add_selection, selection_cost
from fsopt.models.gbd.selection_constraints import SelectionConstraints, feature_weights
from fsopt.models.spec import TRIAL, Instance, ModelSpec
from fsopt.typing import Vector


@with_keywords_of(SelectionConstraints.of)
def build_fsp_master(
    data: Dataset,
    *,
    lam: ArrayLike | None = None,
    cuts: Sequence[ArrayLike] = (),
    **selection: Any,
) -> pyo.ConcreteModel:
    r"""Return the relaxed master problem of generalized Benders, a mixed-integer linear program.

    .. math::

        \min\ & \theta\ (+ \lambda'\sigma) \\
        \text{s.t.}\ & e'\sigma \le M \ \text{or}\ \beta'\sigma \le B, \qquad \sigma \in \{0,1\}^p,\ \theta \ge 0 \\
        & \theta \ge e'\alpha^s - \tfrac12 \sum_j q_j(\alpha^s)^2 \sigma_j, \quad q_j(\alpha) = \sum_i
        \alpha_i y_i x_{ij}, \quad s = 1, 2, \dots

    and the rules between features: :math:`\sigma_j = 1` (include), :math:`\sigma_j = 0` (exclude),
    :math:`\sigma_j \le \sigma_k` (implies), :math:`\sum_{j \in g} \sigma_j \le 1` (conflicts).

    The signs are those of a minimisation; UB and LB in the paper belong to the maximisation of the negative. A cut has
    a slope for every feature, selected or not, and is valid for every alpha that is feasible for the dual of the SVM.
    With groups there is one binary for each, and its slope is the sum over its features; with bounds on the weights
    :math:`\tfrac12 q_j^2` becomes :math:`h_j(q_j) = \max_{l_j \le w \le u_j} q_j w - \tfrac12 w^2`.

    Parameters
    ----------
    data : Features in comparable units; the optimum depends on them.
    lam : Penalty weight lambda >= 0 of every feature, or p penalty weights (RMP-lambda), beside m or a budget.
    cuts : Vectors alpha (n,) >= 0 with y'alpha = 0, one for each cut; :func:`add_cut` adds more.

    Returns
    -------
    ConcreteModel
        MILP with p binaries. Variables ``sigma theta``, constraints ``cuts``, and of ``cardinality budget include
        exclude implies conflicts`` those that are asked for; a mutable parameter ``lam`` where it is given. The optimum
        is a lower bound on (FSP-M) or (FSP-lambda) if each alpha is also at most C.

    Raises
    ------
    ParameterError : both m and a budget, m > p, negative costs or penalty weights, an unknown feature,
        constraints that no selection satisfies, a cut of the wrong length.

    Notes
    -----
    Aytug, (RMP-M) (10) and (RMP-lambda) (15); theta is the negative of the paper's sigma_0.
    """
    name = "fsp-master"
    constraints = SelectionConstraints.of(name, data, **selection)
    model = new_model(name, data, sparse=True)
    add_selection(model, constraints)
    model.theta = pyo.Var(within=pyo.NonNegativeReals, doc="theta, lower bound on F(sigma) by the cuts so far")
    objective = model.theta + 0.0
    if lam is None:
        constraints = constraints.with_default_cardinality()
    else:
        objective = model.theta + selection_cost(model, feature_weights(name, constraints.groups, lam))
    model.objective = pyo.Objective(expr=objective, doc="(10) theta, (15) theta + lambda'sigma")
    constraints.add_to(model)
    model.rules = constraints
    model.cuts = pyo.ConstraintList(doc="(10) theta >= e'alpha - 1/2 sum_j q_j^2 sigma_j")
    LIST.check(f"parameter 'cuts' of '{name}'", cuts)
    for k, alpha in enumerate(cuts):
        add_cut(model, data, vector(name, f"cuts[{k}]", alpha, data.n, low=0.0))
    return model


def cut_coefficients(data: Dataset, alpha: Vector, rules: SelectionConstraints | None = None) -> tuple[float, Vector]:
    """Return e'alpha and the sums of h_j(q_j(alpha)) over the groups (k,), by default q_j^2 / 2: those of a cut."""
    rules = SelectionConstraints.of("fsp-master", data) if rules is None else rules
    return float(alpha.sum()), rules.groups.sums(rules.bounds.conjugate(data.X.T @ (alpha * data.y)))


def add_cut(model: pyo.ConcreteModel, data: Dataset, alpha: ArrayLike) -> ConstraintData:
    r"""Add a Benders cut to a master problem, :math:`\theta \ge e'\alpha - \tfrac12 \sum_j q_j(\alpha)^2 \sigma_j`.

    Parameters
    ----------
    model : ConcreteModel
        ``fsp-master``.
    data : Dataset
        The data set that it was built from.
    alpha : array
        (n,) multipliers of the margins of ``fsp-sub`` at any sigma: :math:`0 \le \alpha \le C`,
        :math:`y'\alpha = 0`. The cut is as valid as these hold; a solver meets them up to its tolerance.

    Returns
    -------
    ConstraintData
        The new constraint, for :meth:`fsopt.Session.add` where the master is in a session.

    Raises
    ------
    ParameterError : alpha that is not n numbers.
    """
    found = vector("fsp-master", "alpha", alpha, data.n)
    constant, slopes = cut_coefficients(data, found, model.rules)
    return model.cuts.add(model.theta + dot(slopes, tuple(model.sigma.values())) >= constant)


SPEC = ModelSpec(
    "fsp-master",
    build_fsp_master,
    "MILP",
    equation="(RMP-M) (10)",
    instance=Instance(
        params={
            "m": 2,
            "cuts": ([0.125] * 16, [0.25] * 8 + [0.0] * 8, [0.0] * 8 + [0.125, 0.125, 0.25, 0.25] * 2),
        }
    ),
    trial=replace(TRIAL, params={"m": 2, "cuts": [[0.5] * 24, [1.0] * 12 + [0.0] * 12]}),
    weights="samples",
)
