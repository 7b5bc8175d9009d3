"""Method ``rsvm`` (Bi): the rigorous support vector machine, on features or on kernel values."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from fsopt.answers.certificate import merged
from fsopt.answers.fits import Fit
from fsopt.data import Dataset
from fsopt.data.hyperplanes import best_intercepts, project_multipliers
from fsopt.data.weights import loss_weights
from fsopt.drivers.run import Run, Steps
from fsopt.errors import ParameterError, reading
from fsopt.linear.certificate import certify
from fsopt.linear.penalties import capped
from fsopt.methods.mop.rsvm_training import (
    INACTIVE,
    ROUTES,
    RsvmSolution,
    default_capacity,
    solve_rsvm,
    squared_radius,
    vectors_of,
)
from fsopt.methods.preprocessing import (
    Hyperplane,
    centred_factor,
    certified,
    expansion,
    kernel_values,
    make_fit,
    preprocess,
    support_vectors,
)
from fsopt.methods.spec import MethodSpec, SavedFit
from fsopt.methods.verdict import finite_vector, saved_alpha
from fsopt.typing import Vector


def stated_residuals(
    data: Dataset, w: Vector, alpha: Vector, details: Mapping[str, Any], *, gram: bool = False
) -> dict[str, float]:
    """Return the relative differences of the stated numbers from those of a hyperplane and its multipliers.

    Parameters
    ----------
    data : the samples; their Gram matrix where ``gram``, and w (n,) is then the expansion of the hyperplane in them.
    w : (p,) or (n,) weights.
    alpha : (n,) multipliers.
    details : with ``w_cap``, ``gamma``, ``capacity``, ``n_support_vectors`` and ``b_interval``.

    Raises
    ------
    KeyError, TypeError, ValueError : the details are damaged.
    """
    turned = project_multipliers(alpha, data.y, loss_weights(1.0, data.weights)) * data.y
    square = float(turned @ data.X @ turned) if gram else float(((data.X.T @ turned) ** 2).sum())
    gamma, stated = float(np.sqrt(max(square, 0.0) / float(details["w_cap"]))), float(details["gamma"])
    # gamma is set to 0 where the capacity constraint is inactive, and no larger one may be.
    off = max(gamma - INACTIVE * data.n, 0.0) if stated == 0 else abs(stated - gamma) / max(data.n, gamma)
    scores = data.X @ w
    capacity = float(w @ scores) if gram else float(w @ w)
    vectors = support_vectors(finite_vector(details["shortest_alpha" if stated == 0 else "alpha"], data.n))
    ends = np.abs(finite_vector(details["b_interval"], 2) - best_intercepts(scores, data.y, data.weights))
    return {
        "capacity": abs(capacity - float(details["capacity"])) / max(capacity, 1e-300),
        "gamma": off,
        "n_support_vectors": float(details["n_support_vectors"] != len(vectors)),
        "b_interval": float(ends.max()) / max(1.0, float(np.abs(scores).max())),
    }


def shortest_residuals(gram: Dataset, w: Vector, b: float, alpha: Vector) -> dict[str, float]:
    r"""Return the residuals of the first-order conditions of (12), the shortest hyperplane of its loss.

    The hyperplane is :math:`w = \sum_i \alpha_i y_i z_i` with :math:`y'\alpha = 0`, :math:`0 \le \alpha \le \nu`.
    Samples beyond the margin have :math:`\alpha_i = 0`, those with a loss :math:`\alpha_i = \nu`.

    Parameters
    ----------
    gram : Gram matrix (n, n) of the samples.
    w : (n,) the expansion of the hyperplane in the samples.
    alpha : (n,) multipliers of the margins.

    Returns
    -------
    dict
        ``expansion``, the squared distance of w from that sum; ``complementarity``, the products of multipliers and
        distances; both relative to w'w. ``multipliers``, the violation of their sign and sum, relative to the largest.
    """
    square = max(float(w @ gram.X @ w), 1e-300)
    rest = w - alpha * gram.y
    margins = gram.y * (gram.X @ w + b) - 1.0
    largest = max(float(alpha.max()), 1e-300)
    excess = float(np.maximum(alpha, 0.0) @ np.maximum(margins, 0.0))
    within = float((largest - alpha) @ np.maximum(-margins, 0.0))
    wrong = max(float(-alpha.min()), abs(float(gram.y @ alpha))) / largest
    return {
        "expansion": max(float(rest @ gram.X @ rest), 0.0) / square,
        "complementarity": (excess + within) / square,
        "multipliers": max(wrong, 0.0),
    }


def fit_rsvm(
    data: Dataset,
    run: Run,
    *,
    w_cap: float | None = None,
    route: str = "dual",
    scale: str = "unit-rows",
    kernel: str | None = None,
    width: float | None = None,
) -> Steps[Fit]:
    r"""Fit the rigorous support vector machine (RSVM), which selects nothing.

    .. math:: \min\ e'\xi \quad\text{s.t.}\quad w'w \le W,\quad y_i(w'z_i + b) \ge 1 - \xi_i,\ \xi \ge 0

    With a kernel, :math:`z_i` are the images of the preprocessed samples, centred to mean 0 as in section 3 of the
    paper: the rows of the factor F of their Gram matrix :math:`FF'`, of full rank, take the samples' place in (13) and
    (14). Centring moves the intercept, and the radius R of the ball, but neither w nor the loss.

    Parameters
    ----------
    w_cap : float, optional
        W > 0, capacity; None takes (RW + 1) / n = 0.1, with RW at least 1.
    route : str, default 'dual'
        ``dual`` (default) solves (14), ``primal`` (13).
    scale : str, default 'unit-rows'
        Preprocessing: ``unit-rows`` (default, the paper's: centre, unit deviation, samples to norm 1), ``standard``,
        ``center`` or ``none``.
    kernel : str, optional
        ``gaussian``, ``polynomial`` of degree 2, or ``linear``: a classifier on the kernel values of the preprocessed
        samples; None for a hyperplane in the space of the features, which are not centred again.
    width : float, optional
        > 0, of the Gaussian kernel, in the units of the preprocessed features; None takes sqrt(p v / 2), with v the
        variance of all entries of the preprocessed samples.

    Returns
    -------
    Fit
        ``objective`` is the hinge loss E. Selected are the features of nonzero weight, with a kernel the training
        samples that are support vectors. ``details`` has ``w_cap``; ``radius`` R, the largest squared norm of a sample
        or centred image; ``h_over_l`` = (RW + 1) / n, the paper's estimate of the VC dimension over the number of
        samples; ``gamma``, 1/C of the C-SVM with the same hyperplane, 0 where the capacity constraint is not active;
        ``capacity`` w'w; ``b_interval``, whose middle is b; ``n_support_vectors``; the evidence ``alpha``, and with
        gamma = 0 ``shortest_alpha``, the multipliers of (12), whose support vectors are those of the hyperplane.

    Raises
    ------
    ParameterError : w_cap <= 0, an unknown route or kernel, or kernel values that are too alike.

    Notes
    -----
    Bi, (13), (14) and sections 3 and 7.
    """
    started = time.perf_counter()
    work, map_ = preprocess(data, scale)
    samples, function = work, None
    warnings: tuple[str, ...] = ()
    if kernel is not None:
        function, work, warnings = kernel_values(work, kernel, width)
        samples = centred_factor(work)
    radius = squared_radius(samples)
    if radius == 0:
        raise ParameterError("all samples are the same", "give data that vary")
    found = yield from solve_rsvm(
        samples,
        run,
        w_cap=default_capacity(data.total, radius) if w_cap is None else w_cap,
        route=route,
    )
    cap = found.details["w_cap"]
    hyperplane, certificate = Hyperplane(found.w, found.b, SPEC.select(found.w)), found.certificate
    interval = found.details["b_interval"]
    if function is not None:
        w = expansion(samples, found.w) if found.beta is None else found.beta
        hyperplane, interval = _of_images(work, w, found)
        certificate = certify(work, capped(cap, work.X), 1.0, w, hyperplane.b, found.details["alpha"], gram=True)
    return make_fit(
        work,
        map_,
        hyperplane,
        certified(found.outcome, certificate),
        started=started,
        warnings=warnings + found.warnings,
        details={
            **found.details,
            "b_interval": interval,
            "radius": radius,
            "h_over_l": (radius * cap + 1.0) / data.total,
        },
        kernel=function,
    )


def _of_images(values: Dataset, w: Vector, found: RsvmSolution) -> tuple[Hyperplane, tuple[float, ...]]:
    """Return the hyperplane of weights of kernel values and its interval of intercepts, for images as they are."""
    # Scores of the images less their mean differ from those of the images by a constant, and so do intercepts.
    moved = float(w @ values.X.mean(axis=1))
    return Hyperplane(w, found.b - moved, vectors_of(found.details)), tuple(
        end - moved for end in found.details["b_interval"]
    )


def stated(saved: SavedFit) -> dict[str, float]:
    """Return the distances of the numbers that a fit states; raises FileError where they are damaged."""
    fit, data = saved.fit, saved.data
    gram, alpha = fit.kernel is not None, saved_alpha(saved)
    with reading("proof"):
        w_cap = float(fit.details["w_cap"])
        if not w_cap > 0:
            raise ValueError("a capacity > 0 is needed")
        radius = max(float(_centred_squares(data).max()) if gram else squared_radius(data), 1e-300)
        found = stated_residuals(data, saved.w, alpha, fit.details, gram=gram)
        for name, value in (
            ("radius", radius),
            ("h_over_l", (radius * w_cap + 1.0) / data.total),
        ):
            found[name] = abs(value - float(fit.details[name])) / value
        if gram and fit.details["gamma"] == 0:
            multipliers = finite_vector(fit.details["shortest_alpha"], data.n)
            found = merged(found, shortest_residuals(data, saved.w, saved.b, multipliers))
    asked = fit.params.get("w_cap")
    other = abs(w_cap / (default_capacity(data.total, radius) if asked is None else asked) - 1.0)
    return {**found, "parameters": other, "route": float(fit.params["route"] not in ROUTES)}


def _centred_squares(kernel: Dataset) -> Vector:
    """Return the squared norms (n,) of the images less their mean."""
    squares: Vector = np.diag(kernel.X) - 2.0 * kernel.X.mean(axis=1) + kernel.X.mean()
    return squares


def selected(saved: SavedFit) -> tuple[int, ...]:
    """Return the features of nonzero weight, with a kernel the support vectors, see :func:`vectors_of`."""
    return saved.selection if saved.fit.kernel is None else vectors_of(saved.fit.details)


SPEC = MethodSpec(
    "rsvm",
    fit_rsvm,
    ("rsvm-dual", "rsvm"),
    program="rsvm",
    stated=stated,
    paper="mop",
    equation="(13), (14)",
    estimator="RSVM",
    support=selected,
    weights="samples",
    # Nothing is sparse, but a constant feature has a weight of 1e-17 instead of 0.
    threshold=1e-9,
)
