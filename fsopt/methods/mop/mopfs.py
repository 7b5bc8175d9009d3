"""Method ``mopfs`` (paper 5): features that survive the alternation of risk and capacity."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from fsopt.certificates.certificate import Certificate
from fsopt.certificates.residuals import relative_gap
from fsopt.data import Dataset
from fsopt.data.hyperplanes import hinge
from fsopt.drivers.kernel_scaling.loop import check_scaling
from fsopt.drivers.kernel_scaling.proof import Cut, ScalingProblem, certify_scaling
from fsopt.drivers.mop import GAP, SLACK, certify_mop, mop
from fsopt.drivers.run import Run
from fsopt.errors import reading
from fsopt.methods.assembly import extend, make_fit
from fsopt.methods.preprocessing import Hyperplane, preprocess
from fsopt.methods.spec import MethodSpec, SavedFit, Value
from fsopt.models.blocks import number, whole
from fsopt.results import Fit, Status
from fsopt.typing import Vector

SHARE = 0.1
"""Default h / l of the paper's best runs: W0 + 1 is a tenth of the number of rows."""


KEPT = 1e-9
"""Weights above this, relative to the largest, are selected."""


START = {
    "optimal": "s = 1 is already optimal for (15), which is proved: no other scales do better at the first plane",
    "stationary": "s = 1 is already stationary for (15): local steps gain nothing there, scaling=global may",
}
"""What was shown of s = 1 -> the remark."""


def fit_mopfs(
    data: Dataset,
    run: Run,
    *,
    w_cap: float | None = None,
    c: float = 1e-3,
    scaling: str = "local",
    max_iterations: int = 20,
    scale: str = "unit-rows",
) -> Fit:
    """Fit the multi-objective feature selection machine (MOPFS).

    Parameters
    ----------
    w_cap : W0 > 0, the first capacity; None takes h/l = 0.1, that is max(1, n/10 - 1).
    c : >= 0, price of a scale, relative to the product RW of the start over the number of features. 0 gives the
        guarantee of Proposition 1 that RW never rises; a price makes the selection sparser.
    scaling : ``local`` (default) or ``global``, how (15) is solved, see :func:`fsopt.drivers.mop.mop`.
    max_iterations : of Algorithm 1.
    scale : ``unit-rows`` (default, the paper's: centre, unit deviation, rows to norm 1), ``standard``,
        ``center`` or ``none``.

    Returns
    -------
    Fit
        Selected are the features with a positive scale and weight. ``objective`` is the hinge loss E of the
        final plane; ``feasible`` by nature: the alternation proves no optimum. The certificate holds where E and, for
        c = 0, H never rose and E is proved to be the least loss for the final scales and cap; with c > 0 its notes say
        that Proposition 1 is not guaranteed. ``details`` has
        ``scales``, ``E`` and ``H`` histories, ``alpha`` and ``cap``, the proof of the final E, and ``scaling``, the
        last (15) with its answer and, for ``global``, its proof. Paper 5, section 6.

    Raises
    ------
    ParameterError : another word for scaling or scale, or a number outside its range.
    """
    started = time.perf_counter()
    cap = default_cap(data.n) if w_cap is None else number("mopfs", "w_cap", w_cap, low=0.0, strict=True)
    price = number("mopfs", "c", c, low=0.0)
    check_scaling("mopfs", scaling)
    max_iterations = whole("mopfs", "max_iterations", max_iterations, low=1, high=100_000)
    work, map_ = preprocess(data, scale)
    result = mop(work, w_cap=cap, c=absolute_price(work, price, cap), scaling=scaling, max_iterations=max_iterations, run=run)  # fmt: skip
    at = result.point
    warnings = [START[at["start"]]] if at["start"] else []
    if at["inactive"]:
        warnings.append("the capacity constraint is inactive: the plane of least norm is used")
    chosen = _support(at["w"])
    assert result.objective is not None
    details = {k: at[k] for k in ("scales", "E", "H", "alpha", "cap")} | {"scaling": _saved(at["scaling"])}
    return make_fit(
        data, map_, Hyperplane(at["w"], at["b"], chosen), objective=result.objective, outcome=result, started=started,
        warnings=tuple(warnings), details=details,
    )  # fmt: skip


def default_cap(n: int) -> float:
    """Return W0 for h/l = 0.1 on rows of norm 1."""
    return max(1.0, SHARE * n - 1.0)


def absolute_price(work: Dataset, price: float, cap: float) -> float:
    """Return the price of a scale in units of RW: relative to the start, spread over the features."""
    return price * cap * float((work.X**2).sum(axis=1).max()) / work.p


def _support(w: Vector) -> tuple[int, ...]:
    return tuple(np.flatnonzero(np.abs(w) > KEPT * np.abs(w).max(initial=0.0)).tolist())


def _saved(answer: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return the last (15) as plain data."""
    if answer is None:
        return None
    return {k: v for k, v in answer.items() if k not in ("certificate", "price")} | {
        "cuts": [asdict(cut) for cut in answer["cuts"]]
    }


def check(claim: SavedFit) -> Certificate:
    """Recompute what a saved fit claims: histories, the proof of the final E, and that of the last (15).

    Raises
    ------
    FileError : the saved proof is damaged.
    """
    fit, data = claim.fit, claim.data
    with reading("proof"):
        at: dict[str, Any] = {k: np.array(fit.details[k], dtype=float) for k in ("scales", "alpha")}
        at |= {"w": claim.w, "b": claim.b, "cap": float(fit.details["cap"])}
        at |= {k: [float(v) for v in fit.details[k]] for k in ("E", "H")}
        if at["scales"].shape != (data.p,) or at["alpha"].shape != (data.n,) or not at["cap"] > 0 or not at["E"]:
            raise ValueError(f"{data.p} scales, {data.n} multipliers, a cap > 0 and a history are needed")
        found = certify_mop(data, at, priced=fit.params["c"] > 0)
        wrong = {
            "scales": float(np.maximum(-at["scales"], 0.0).max()),
            "support": float(_support(claim.w) != fit.support),
            "status": float(fit.status is not Status.FEASIBLE),
        }
        if fit.details["scaling"] is not None:
            wrong |= _check_scaling_proof(fit, data, at)
    return replace(extend(found, {**claim.residuals, **wrong}), objective=claim.value)


def _check_scaling_proof(fit: Fit, data: Dataset, at: Mapping[str, Any]) -> dict[str, float]:
    """Return how far the last (15) is from feasible, from the histories, and from its proof where it claims one."""
    last, H = fit.details["scaling"], at["H"][-1]
    w, before, s = (np.array(last[k], dtype=float) for k in ("w", "from", "s"))
    b, e_cap = float(last["b"]), float(last["e_cap"])
    if not w.shape == before.shape == s.shape == (data.p,):
        raise ValueError("the scales of (15) have another length")
    alive = before > 0
    cap = default_cap(data.n) if fit.params.get("w_cap") is None else float(fit.params["w_cap"])
    price = np.where(alive, absolute_price(data, fit.params["c"], cap) / np.where(alive, before, 1.0), 0.0)
    problem = ScalingProblem(data, w, b, e_cap, price, alive)
    radius, capacity = problem.size(s)
    risk = hinge(data.X @ (before * w) + b, data.y)
    residuals = {
        "H": relative_gap(H, radius * capacity),
        "E of (15)": relative_gap(at["E"][len(at["H"]) - 1], risk),
        "slack of (15)": max(e_cap - risk - 2 * SLACK * max(1.0, risk), 0.0),
        "risk of (15)": problem.excess(s),
    }
    if last["status"] == Status.OPTIMAL:
        cuts = [_cut(record, data.n) for record in last["cuts"]]
        found = certify_scaling(problem, s, cuts, float(last["bound"]), GAP)
        residuals |= {f"{name} of (15)": value for name, value in found.residuals.items()}
    return residuals


def _cut(record: Mapping[str, Any], n: int) -> Cut:
    mu, beta = np.array(record["mu"], dtype=float), np.array(record["beta"], dtype=float)
    if not mu.shape == beta.shape == (n,) or not np.isfinite([*mu, *beta, record["delta"]]).all():
        raise ValueError(f"multipliers of the shapes {mu.shape} and {beta.shape}")
    return Cut(mu, beta, float(record["delta"]), bool(record["priced"]))


def objective(data: Dataset, w: Vector, b: float, at: Mapping[str, Any]) -> Value:
    """Return the hinge loss E; the capacity is that of the last scales, which the check looks at."""
    return hinge(data.X @ w + b, data.y), 0.0


SPEC = MethodSpec(
    "mopfs",
    fit_mopfs,
    objective,
    check,
    ("rsvm-dual", "kernel-scaling-step", "rsvm-least-norm"),
    paper="mop",
    equation="(13)-(15)",
    driver="mop",
)
