"""Methods ``rsvm``, the rigorous support vector machine, on features or on kernel values, and ``mopfs`` (Bi).

The second selects the features that remain when the hinge loss and RW are minimised in turn.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from fsopt.answers.certificate import Certificate
from fsopt.answers.fits import Fit
from fsopt.certificates.kernel_scaling import Cut, ScalingProblem, certify_scaling
from fsopt.certificates.points import relative_gap
from fsopt.data import Dataset
from fsopt.data.hyperplanes import best_intercepts, hinge
from fsopt.data.matrices import constant_columns
from fsopt.drivers.kernel_scaling import GAP
from fsopt.drivers.mop import SLACK, certify_mop, mop, relative_costs
from fsopt.drivers.run import Run, Steps
from fsopt.errors import ParameterError
from fsopt.linear.penalties import Euclid
from fsopt.methods.baselines.machines import default_capacity, fit_machine, gamma_of, squared_radius
from fsopt.methods.claims import of_value
from fsopt.methods.preprocessing import make_fit, preprocess
from fsopt.methods.spec import MethodSpec, SavedFit
from fsopt.methods.verdict import extend, finite_vector, saved_alpha


def fit_rsvm(
    data: Dataset,
    run: Run,
    *,
    w_cap: float | None = None,
    scale: str = "unit-rows",
    kernel: str | None = None,
    width: float | None = None,
) -> Steps[Fit]:
    r"""Fit the rigorous support vector machine (RSVM), which selects nothing.

    .. math:: \min\ e'\xi \quad\text{s.t.}\quad w'w \le W,\quad y_i(w'z_i + b) \ge 1 - \xi_i,\ \xi \ge 0

    Where no solver is named, fsopt's own interior point (:func:`fsopt.linear.interior_point.minimise`) solves it and
    its dual (14), else the solver the model (13).

    With a kernel, :math:`z_i` are the images of the preprocessed samples, centred to mean 0 as in section 3 of the
    paper: the rows of the factor F of their Gram matrix :math:`FF'`, of full rank, take the samples' place in (13).
    Centring moves the intercept, and the radius R of the ball, but neither w nor the loss.

    Parameters
    ----------
    w_cap : float, optional
        W > 0, capacity; None takes (RW + 1) / n = 0.1, with RW at least 1.
    scale : str, default 'unit-rows'
        Preprocessing: ``unit-rows`` (default, the paper's: centre, unit deviation, samples to norm 1), ``standard``,
        ``center`` or ``none``.
    kernel : str, optional
        ``gaussian`` or ``linear``: a classifier on the kernel values of the preprocessed
        samples; None for a hyperplane in the space of the features, which are not centred again.
    width : float, optional
        > 0, of the Gaussian kernel, in the units of the preprocessed features; None takes sqrt(p v / 2), with v the
        variance of all entries of the preprocessed samples.

    Returns
    -------
    Fit
        ``objective`` is the hinge loss E. Selected are the features of nonzero weight, with a kernel the training
        samples that are support vectors. ``params`` has ``w_cap``, ``details`` has ``radius`` R, the largest squared
        norm of a sample or centred image; ``h_over_l`` = (RW + 1) / n, the paper's estimate of the VC dimension over
        the number of samples; ``gamma``, 1/C of the C-SVM with the same hyperplane, 0 where the capacity constraint is
        not active: the answer is then the shortest hyperplane of smallest loss; ``capacity`` w'w; ``b_interval``, whose
        middle is b; and the evidence ``alpha``, the multipliers in [0, 1] of the margins.

    Raises
    ------
    ParameterError : w_cap <= 0, an unknown kernel, or kernel values that are too alike.

    Notes
    -----
    Bi, (13), (14) and sections 3 and 7.
    """
    if constant_columns(data.X, data.deviations).all():
        raise ParameterError("all samples are the same", "give data that vary")
    return fit_machine("rsvm", data, run, w_cap, scale=scale, kernel=kernel, width=width)


def rsvm_numbers(saved: SavedFit) -> dict[str, Any]:
    """Return radius, capacity and multiplier of the capacity of the samples or their Gram matrix, and intercepts."""
    data, gram = saved.data, saved.fit.kernel is not None
    w_cap = float(saved.params["w_cap"])
    K = data.X  # where it is the Gram matrix, the radius is that of the images less their mean
    radius = float((np.diag(K) - 2.0 * K.mean(axis=1) + K.mean()).max()) if gram else squared_radius(data)
    return {
        "radius": radius,
        "h_over_l": (radius * w_cap + 1.0) / data.total,
        "gamma": gamma_of(data, saved_alpha(saved), w_cap, gram=gram),
        "capacity": Euclid(data.X if gram else None).of(saved.w) ** 2,
        "b_interval": best_intercepts(data.X @ saved.w, data.y, data.weights),
    }


RSVM = MethodSpec(
    "rsvm",
    fit_rsvm,
    ("rsvm",),
    numbers=rsvm_numbers,
    equation="(13), (14)",
    estimator="RSVM",
    driver="interior-point",
    weights="samples",
)


START = {
    "optimal": "s = 1 is already optimal for (15): no other scales are better at the first hyperplane",
    "stationary": "s = 1 is already stationary for (15): local steps gain nothing there",
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
        >= 0: q_j = c RW / (p s_j) at the present scales s, with RW of the start, so that each present scale costs the
        same. With 0 Proposition 1 guarantees that RW never rises; a positive one makes the selection sparser.
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
        Selected are the features with a positive scale and weight. ``objective`` is the hinge loss E of the final
        hyperplane, summed over the samples; ``feasible`` always. The certificate holds where E and, for c = 0, H = RW
        never rose and E is the smallest loss for the final ``scales`` (p,) and the bound ``cap`` on W, by ``alpha``
        (n,), all in ``details``; exactly verified is E alone. ``E`` may have one entry more than ``H`` after a limit.
        ``details["last_scaling"]`` is the last (15): its scales ``s`` (p,) are verified as feasible, for ``global``
        and c = 0 its ``bound``, too, by ``cuts``. For c > 0 a note says that H may rise.

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
        run=run,
    )
    at = result.point
    warnings = [START[at["start"]]] if at["start"] else []
    if at["inactive"]:
        warnings.append("the capacity constraint is inactive: the hyperplane of smallest norm is used")
    last = at["last_scaling"]
    details = {k: at[k] for k in ("scales", "E", "H", "alpha", "cap")} | {
        "last_scaling": last and {**last, "cuts": [asdict(cut) for cut in last["cuts"]]}
    }
    return make_fit(map_, at["w"], at["b"], result, params={"w_cap": cap}, warnings=tuple(warnings), details=details)


def scale_cost(work: Dataset, weight: float, cap: float) -> float:
    """Return the cost of a scale in (15): the weight times RW of the start, spread over the features."""
    return weight * cap * squared_radius(work) / work.p


def check(saved: SavedFit) -> Certificate:
    """Recompute the certificate of a saved fit: histories, the bound on the final E, and the last (15)."""
    fit, data = saved.fit, saved.data
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
    last = {} if fit.details["last_scaling"] is None else _check_scaling(fit, data, at)
    found = extend(found, {"scales": float(np.maximum(-at["scales"], 0.0).max())}, last)
    return replace(found, objective=hinge(data.X @ saved.w + saved.b, data.y))


def _check_scaling(fit: Fit, data: Dataset, at: Mapping[str, Any]) -> dict[str, float]:
    """Return the residuals of the last (15): its scales feasible, the histories, and a stated bound by its cuts."""
    last = fit.details["last_scaling"]
    w, before, s = (finite_vector(last[k], data.p) for k in ("w", "from", "s"))
    b, e_cap = float(last["b"]), float(last["e_cap"])
    cuts = [Cut.of(record, data.n) for record in last["cuts"]]
    costs = relative_costs(before, scale_cost(data, fit.params["c"], fit.params["w_cap"]))
    problem = ScalingProblem(data, w, b, e_cap, costs, before > 0)
    radius, capacity = problem.size(s)
    risk = hinge(data.X @ (before * w) + b, data.y)
    # RW + q's >= 0 needs no cuts; the gap of a search that a limit ended may be open.
    found = certify_scaling(problem, s, cuts, 0.0 if last["bound"] is None else float(last["bound"]), GAP)
    return {
        "H": relative_gap(at["H"][-1], radius * capacity),
        "E of (15)": relative_gap(at["E"][len(at["H"]) - 1], risk),
        "slack of (15)": max(e_cap - risk - 2 * SLACK * max(1.0, risk), 0.0),
        **{f"{name} of (15)": found.residuals[name] for name in ("risk", "sign", "bound")},
    }


MOPFS = MethodSpec(
    "mopfs",
    fit_mopfs,
    # Not kernel-scaling: it gives linear programs their start alone, and no answer would keep what is added to it.
    ("rsvm-dual", "kernel-scaling-step", "rsvm-least-norm"),
    check=check,
    equation="(13)-(15)",
    estimator="MOPFS",
    driver="mop",
    exact=of_value,
    # Scales are exact zeros of linear programs, and weights are multiplied by them.
    threshold=1e-9,
)
SPECS = (RSVM, MOPFS)
