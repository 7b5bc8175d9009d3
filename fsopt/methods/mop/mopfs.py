"""Method ``mopfs`` (Bi): the features that remain when the risk and the capacity are minimised in turn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from fsopt.answers.certificate import Certificate, merged
from fsopt.answers.fits import Fit
from fsopt.answers.results import Status
from fsopt.certificates.kernel_scaling import Cut, ScalingProblem, certify_scaling
from fsopt.certificates.points import relative_gap
from fsopt.data import Dataset
from fsopt.data.hyperplanes import hinge
from fsopt.drivers.kernel_scaling import GAP
from fsopt.drivers.mop import SLACK, certify_mop, mop, relative_costs
from fsopt.drivers.run import Run, Steps
from fsopt.errors import reading
from fsopt.methods.baselines.machines import default_capacity, squared_radius
from fsopt.methods.claims import of_value
from fsopt.methods.large_programs import interior_order
from fsopt.methods.preprocessing import make_fit, preprocess
from fsopt.methods.spec import MethodSpec, SavedFit
from fsopt.methods.verdict import extend, finite_vector

START = {
    "optimal": "s = 1 is already optimal for (15): no other scales are better at the first hyperplane",
    "stationary": "s = 1 is already stationary for (15): local steps gain nothing there, scaling=global may",
}
"""What was verified about s = 1 -> the warning."""


def fit_mopfs(
    data: Dataset,
    run: Run,
    *,
    w_cap: float | None = None,
    c: float = 1e-3,
    scaling: str = "local",
    max_iterations: int = 20,
    scale: str = "unit-rows",
) -> Steps[Fit]:
    r"""Fit the multi-objective feature selection machine (MOPFS).

    Algorithm 1 solves two problems in turn: the rigorous support vector machine (13) for given scales s of the
    features, which minimises the hinge loss E, and kernel scaling (15) for its hyperplane,

    .. math:: \min_{s \ge 0}\ R(s)\,W(s) + q's \quad\text{s.t. the hinge loss is at most } E,

    with R the squared radius of the scaled samples and W the capacity. Features whose scale becomes 0 are dropped.

    Parameters
    ----------
    w_cap : float, optional
        W0 > 0, the first capacity; None takes (W0 + 1) / n = 0.1 with W0 at least 1.
    c : float, default 0.001
        >= 0, penalty weight of a scale, relative to the product RW of the start over the number of features. With 0
        Proposition 1 guarantees that RW never rises; a positive one makes the selection sparser.
    scaling : str, default 'local'
        ``local`` (default) or ``global``, how (15) is solved, see :func:`fsopt.drivers.mop`.
    max_iterations : int, default 20
        >= 1, iterations of Algorithm 1 after which it stops.
    scale : str, default 'unit-rows'
        Preprocessing: ``unit-rows`` (default, the paper's: centre, unit deviation, samples to norm 1), ``standard``,
        ``center`` or ``none``.

    Returns
    -------
    Fit
        Selected are the features with a positive scale and weight. ``objective`` is the hinge loss E of the
        final hyperplane; ``feasible`` always, because the alternation does not prove an optimum. The certificate holds
        where E and, for c = 0, H = RW never rose and E is the smallest loss for the final scales and capacity; with
        c > 0 its notes say that Proposition 1 is not guaranteed. ``details`` has ``scales``, the histories ``E`` and
        ``H``, ``alpha`` and ``cap``, the evidence of the final E, and ``scaling``, the last (15) with its answer and,
        for ``global``, its cuts.

    Raises
    ------
    ParameterError : another word for scaling or scale, or a number outside its range.

    Notes
    -----
    Bi, Algorithm 1 and section 6.
    """
    cap = default_capacity(data.n, 1.0) if w_cap is None else w_cap
    work, map_ = preprocess(data, scale)
    result = yield from mop.steps(
        work,
        w_cap=cap,
        c=scale_cost(work, c, cap),
        scaling=scaling,
        max_iterations=max_iterations,
        generate=interior_order(work, run)[0],
        run=run,
    )
    at = result.point
    warnings = [START[at["start"]]] if at["start"] else []
    if at["inactive"]:
        warnings.append("the capacity constraint is inactive: the hyperplane of smallest norm is used")
    last = at["scaling"]
    details = {k: at[k] for k in ("scales", "E", "H", "alpha", "cap")} | {
        "scaling": last and {**last, "cuts": [asdict(cut) for cut in last["cuts"]]}
    }
    return make_fit(map_, at["w"], at["b"], result, warnings=tuple(warnings), details=details)


def scale_cost(work: Dataset, weight: float, cap: float) -> float:
    """Return the cost of a scale in (15): the weight times RW of the start, spread over the features."""
    return weight * cap * squared_radius(work) / work.p


def check(saved: SavedFit) -> Certificate:
    """Recompute the certificate of a saved fit: histories, the bound on the final E, and the last (15)."""
    fit, data = saved.fit, saved.data
    with reading("proof"):
        at: dict[str, Any] = {
            "w": saved.w,
            "b": saved.b,
            "scales": finite_vector(fit.details["scales"], data.p),
            "alpha": finite_vector(fit.details["alpha"], data.n),
            "cap": float(fit.details["cap"]),
        }
        at |= {k: [float(v) for v in fit.details[k]] for k in ("E", "H")}
        if not at["cap"] >= 0 or not at["E"]:
            raise ValueError("a cap >= 0 and a history are needed")
        found = certify_mop(data, at, costs=fit.params["c"] > 0)
        last = {} if fit.details["scaling"] is None else _check_scaling(fit, data, at)
    found = extend(found, {"scales": float(np.maximum(-at["scales"], 0.0).max())}, last)
    return replace(found, objective=hinge(data.X @ saved.w + saved.b, data.y))


def _check_scaling(fit: Fit, data: Dataset, at: Mapping[str, Any]) -> dict[str, float]:
    """Return the residuals of the last (15): feasibility, the histories, and the bound where it is called optimal."""
    last = fit.details["scaling"]
    w, before, s = (finite_vector(last[k], data.p) for k in ("w", "from", "s"))
    b, e_cap = float(last["b"]), float(last["e_cap"])
    cuts = [Cut.of(record, data.n) for record in last["cuts"]]
    cap = default_capacity(data.n, 1.0) if fit.params.get("w_cap") is None else float(fit.params["w_cap"])
    costs = relative_costs(before, scale_cost(data, fit.params["c"], cap))
    problem = ScalingProblem(data, w, b, e_cap, costs, before > 0)
    radius, capacity = problem.size(s)
    risk = hinge(data.X @ (before * w) + b, data.y)
    residuals = {
        "H": relative_gap(at["H"][-1], radius * capacity),
        "E of (15)": relative_gap(at["E"][len(at["H"]) - 1], risk),
        "slack of (15)": max(e_cap - risk - 2 * SLACK * max(1.0, risk), 0.0),
        "risk of (15)": problem.excess(s),
    }
    if last["status"] == Status.OPTIMAL:
        bound = float("nan" if last["bound"] is None else last["bound"])
        found = certify_scaling(problem, s, cuts, bound, GAP)
        residuals = merged(residuals, {f"{name} of (15)": value for name, value in found.residuals.items()})
    return residuals


SPEC = MethodSpec(
    "mopfs",
    fit_mopfs,
    ("rsvm-dual", "kernel-scaling-step", "rsvm-least-norm"),
    check=check,
    equation="(13)-(15)",
    estimator="MOPFS",
    driver="mop",
    exact=of_value,
    # Scales are exact zeros of linear programs, and weights are multiplied by them.
    threshold=1e-9,
)
