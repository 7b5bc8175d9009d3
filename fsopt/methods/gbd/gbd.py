"""Methods ``gbd`` and ``gbd-lambda`` of Aytug: the best support vector machine with few features, by cuts.

Their number is limited (GBD-M), or each has a penalty weight (GBD-lambda); both share the loop of cuts and its Fit.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from fsopt.answers.fits import Fit
from fsopt.common.arguments import with_keywords_of, word
from fsopt.data import Dataset
from fsopt.drivers.gbd.driver import GbdSettings, gbd
from fsopt.drivers.run import Run, Steps
from fsopt.linear import interior_point
from fsopt.methods.gbd.problems import features_of, trimmed
from fsopt.methods.gbd.verdict import check_selection, objective, selection, selection_claims
from fsopt.methods.large_programs import interior_order
from fsopt.methods.preprocessing import Hyperplane, make_fit, preprocess
from fsopt.methods.spec import MethodSpec, in_units
from fsopt.models.blocks import number
from fsopt.models.gbd.feature_lists import BOUNDS
from fsopt.models.gbd.fsp_master import build_fsp_master
from fsopt.models.gbd.fsp_sub import build_fsp_sub
from fsopt.models.gbd.selection_constraints import SelectionConstraints


def fit_by_cuts(
    data: Dataset,
    run: Run,
    *,
    c: float = 1.0,
    preset: str | None = None,
    start: str | Sequence[float] | None = None,
    master_solver: str | None = None,
    tolerance: float = 1e-6,
    max_cuts: int = 250,
    scale: str = "standard",
    **selection: Any,
) -> Steps[Fit]:
    r"""Run generalized Benders decomposition and return the Fit of its incumbent.

    Parameters
    ----------
    c : float, default 1.0
        > 0, penalty weight of the hinge loss.
    preset : str, optional
        ``printed``: the loop of the paper, from its feasible point, ``start="zero"``, and with the argmax of each
        master; by default a master is solved to a tenth of the gap that is still open. ``closed-form``, only without
        constraints on the selection: the fast variant of the paper, which solves no integer program, takes the features
        with :math:`\frac12 q_j^2 > \lambda_j` in the last cut, and as a rule leaves a gap. None for no preset.
    start : str | Sequence[float], optional
        Selection of the first cut: ``all`` features, ``zero``, or sigma (p,) in [0, 1]. None is that of the preset,
        else ``all``.
    master_solver : str, optional
        Solver of the master, one for MILPs; None for the preferred one.
    tolerance : float, default 1e-06
        The loop stops at ``upper - lower <= tolerance * max(1, upper)``. Above a relative gap of 1e-3 the answer is
        ``feasible``, and ``stop`` says, for example, ``within 10``.
    max_cuts : int, default 250
        >= 2, cuts after which the loop stops.
    scale : str, default 'standard'
        Preprocessing of the features: ``standard`` (default), ``center`` or ``none``.
    **selection
        Constraints and penalty weights, as :func:`fsopt.models.gbd.fsp_master.build_fsp_master` takes them.

    Returns
    -------
    Fit
        With ``sigma`` and ``alphas``, the multipliers behind the cuts, in its details.

    Raises
    ------
    ParameterError : a parameter out of range, or constraints that no selection satisfies.
    """
    started = time.perf_counter()
    c = number("gbd", "c", c)
    work, map_ = preprocess(data, scale)
    settings = GbdSettings(start, preset, master_solver, tolerance, max_cuts)
    if isinstance(selection.get("lam"), str):
        selection["lam"] = lam_of_svm(work, c, selection["lam"])
    rules = in_units("gbd", data, selection, map_.scale)
    program = build_fsp_master(work, **rules)
    bounds = {name: rules[name] for name in BOUNDS if name in rules}
    direct = not bounds and interior_order(work, run, repeated=True)[0]
    sub = interior_point.minimise if direct else build_fsp_sub(work, c=c, **bounds)
    result = yield from gbd.steps(work, program, sub, c=c, settings=settings, run=run)
    at = result.point
    sigma, w = trimmed(work, rules, at["sigma"], at["w"])
    details = {"alphas": at["alphas"], "c": c, "sigma": sigma}
    hyperplane = Hyperplane(w, at["b"], features_of(program.rules.of_features(sigma)))
    fit = make_fit(data, map_, hyperplane, result, started=started, details=details)
    return replace(fit, params={name: selection[name] for name in ("lam",) if name in selection})


def lam_of_svm(work: Dataset, c: float, name: str) -> float:
    """Return w'w / (2p) of the support vector machine on all features; the only name is ``svm``."""
    word("'lam' of 'gbd-lambda'", name, ("svm",))
    w = interior_point.minimise(work, c=c).point["w"]
    return float(w @ w) / (2 * work.p)


def few_cuts(p: int) -> Mapping[str, Any]:
    """Return the parameters in comparisons: cuts that are enough for a good selection, not for a proof."""
    return {"max_cuts": 20, "tolerance": 1e-4}


@with_keywords_of(SelectionConstraints.of, fit_by_cuts, without=("exclude",))
def fit_gbd(data: Dataset, run: Run, **keywords: Any) -> Steps[Fit]:
    r"""Fit the best support vector machine with a limited number of features, by generalized Benders cuts (GBD-M).

    .. math::

        \min_{\sigma \in \{0,1\}^p}\ & F(\sigma) \quad\text{s.t.}\quad e'\sigma \le M \ \text{or}\
        \beta'\sigma \le B, \ \text{and rules between features} \\
        & F(\sigma) = \min\ \tfrac12 w'w + C e'\xi \quad\text{s.t.}\quad y_i(w'x_i + b) \ge 1 - \xi_i,\ \xi \ge 0,\
        w_j = 0 \text{ if } \sigma_j = 0

    A loop of two explicit models: the subproblem ``fsp-sub``, a quadratic program in the solver ``solver``, gives F and
    a cut at a selection; the master ``fsp-master``, an MILP in the solver ``master_solver``, gives a lower bound and
    the next selection. From 5,000 entries of the data on fsopt's interior point solves the subproblem, where no solver
    is named and no model changed. Method ``best-subset`` solves the same problem without a solver, and closes larger
    gaps.

    Returns
    -------
    Fit
        ``objective`` is F(sigma) of the final hyperplane and ``bound`` the lower bound on the optimum, in preprocessed
        units; ``optimal`` where they meet, else ``feasible`` with the gap between them.
        ``features`` are those of sigma: also one of weight 0 that a rule asks for.
        ``details`` has ``sigma`` and ``alphas``, the multipliers behind the cuts.

    Raises
    ------
    ParameterError : a parameter out of range, or constraints that no selection satisfies.

    Notes
    -----
    Aytug, GBD-M, (5)-(11) and Table 1.
    """
    return fit_by_cuts(data, run, **keywords)


@with_keywords_of(SelectionConstraints.of, fit_by_cuts, without=("m", "costs", "budget", "exclude"))
def fit_gbd_lambda(data: Dataset, run: Run, *, lam: float | Sequence[float] | str = 1.0, **keywords: Any) -> Steps[Fit]:
    r"""Fit the best support vector machine with a penalty weight on each feature, by generalized Benders cuts.

    .. math:: \min_{\sigma \in \{0,1\}^p}\ F(\sigma) + \lambda'\sigma

    with F of :func:`fsopt.methods.gbd.gbd.fit_gbd`, the objective value of the support vector machine on a selection,
    and its loop of two models (GBD-lambda). Method ``best-subset-penalised`` solves the same problem without a solver.

    Parameters
    ----------
    lam : float | Sequence[float] | str, default 1.0
        >= 0, penalty weight of each feature, or p of them. Not every number of features is optimal for some weight.
        ``svm`` takes :math:`w'w / (2p)` from the weights w of the support vector machine on all features: its cut keeps
        the features with :math:`\tfrac12 w_j^2 > \lambda`, those above the mean. The paper's outlook suggests this
        machine as a start for choosing lambda, the mean is our choice; the number is in the parameters of the fit.

    Returns
    -------
    Fit
        ``objective`` is F(sigma) + lambda'sigma of the final hyperplane and ``bound`` the lower bound on the optimum;
        ``optimal`` where they meet, else ``feasible``.

    Raises
    ------
    ParameterError : a parameter out of range, or constraints that no selection satisfies.

    Notes
    -----
    Aytug, GBD-lambda, (12)-(15). The printed closed form for sigma solves a master problem of one cut; with more cuts
    it is an MILP. ``preset="closed-form"`` runs the loop with it.
    """
    return fit_by_cuts(data, run, lam=lam, **keywords)


GBD = MethodSpec(
    "gbd",
    fit_gbd,
    ("fsp-sub", "fsp-master"),
    objective=objective,
    check=check_selection,
    paper="gbd",
    equation="(5)-(10)",
    estimator="GBD",
    driver="gbd",
    resumable=True,
    support=selection,
    compare=few_cuts,
    weights="samples",
    exact=selection_claims,
)
PENALISED = replace(
    GBD,
    name="gbd-lambda",
    fit=fit_gbd_lambda,
    equation="(12)-(15)",
    estimator="GBDLambda",
    grid=(("lam", (0.3, 1.0, 3.0)),),
)
SPECS = (GBD, PENALISED)
