"""Methods ``misclass`` and ``pmm`` (Mangasarian, (20) and Table 1): few misclassified samples.

The one is successive linearisation, the other parametric minimisation.
"""

from __future__ import annotations

import time
from dataclasses import replace

from fsopt.answers.certificate import Certificate
from fsopt.answers.fits import Fit
from fsopt.data import Dataset
from fsopt.data.hyperplanes import hyperplane_errors
from fsopt.drivers.pmm import StationaryPoint, certify_pmm, pmm
from fsopt.drivers.run import Run, Steps
from fsopt.errors import reading
from fsopt.methods.claims import of_pmm, of_step
from fsopt.methods.preprocessing import Hyperplane, make_fit, preprocess
from fsopt.methods.sla.fsv import check, fit_linearised, stated
from fsopt.methods.spec import MethodSpec, SavedFit
from fsopt.methods.verdict import extend, finite_vector
from fsopt.models.blocks import number


def fit_misclass(
    data: Dataset,
    run: Run,
    *,
    alpha: float = 5.0,
    scale: str = "standard",
) -> Steps[Fit]:
    r"""Fit the hyperplane with few misclassified samples by successive linearisation.

    .. math:: \min\ \sum_i (1 - e^{-\alpha e_i}), \qquad e_i = \max(0, 1 - y_i(w'x_i + b))

    Of many samples each step is solved by restricted programs of some of them,
    :func:`fsopt.drivers.sla.sla_by_column_generation`.

    Parameters
    ----------
    alpha : float, default 5.0
        > 0, steepness of the approximation of the step function; the paper's 5.
    scale : str, default 'standard'
        Preprocessing of the features: ``standard`` (default), ``center`` or ``none``; the problem is invariant to it,
        its arithmetic is not.

    Returns
    -------
    Fit
        ``objective`` is (20); ``optimal`` where it is 0, else ``stationary`` where the minimum principle was certified,
        without any statement on global optimality. ``details`` has ``plane_errors``, the number of samples on the wrong
        side of the hyperplane or on it, and ``starts``, the objective value of each run.

    Raises
    ------
    ParameterError : a number outside its range.

    Notes
    -----
    Mangasarian, (20), section 4 and Algorithm 4.1.
    """
    alpha = number("misclass", "alpha", alpha)
    return fit_linearised(data, run, "misclass-step", alpha=alpha, scale=scale, hint="the classes overlap too much")


MISCLASS = MethodSpec(
    "misclass",
    fit_misclass,
    ("misclass-step",),
    check=check,
    paper="sla",
    equation="(20)",
    estimator="MisclassificationMinimizer",
    driver="sla",
    sparse=True,
    stated=stated,
    exact=of_step,
)


def fit_pmm(data: Dataset, run: Run, *, scale: str = "standard") -> Steps[Fit]:
    r"""Fit the hyperplane with few misclassified samples by parametric minimisation (PMM).

    For a number d of samples that may be misclassified,

    .. math:: f(d) = \min_{w, b, r}\ \sum_i (1 - r_i) \max(0, 1 - y_i(w'x_i + b))
        \quad\text{s.t.}\quad e'r \le d,\ 0 \le r \le e

    is bilinear; the smallest d with f(d) = 0 is searched for, each f(d) minimised locally. Each
    linear program is solved by restricted programs of some samples, :func:`fsopt.drivers.column_generation`.

    Parameters
    ----------
    scale : str, default 'standard'
        Preprocessing of the features: ``standard`` (default), ``center`` or ``none``; the problem is invariant to it,
        its arithmetic is not.

    Returns
    -------
    Fit
        ``objective`` is the number of samples on the wrong side of the hyperplane or on it, an upper bound on the
        smallest one; ``optimal`` where it is 0; ``stationary`` where the search for one error less ended at the minimum
        principle, whose evidence is ``details["below"]``.

    Notes
    -----
    Mangasarian, (16) and Table 1; the algorithm is :func:`fsopt.drivers.pmm`.
    """
    started = time.perf_counter()
    work, map_ = preprocess(data, scale)
    result = yield from pmm.steps(work, run=run)
    w, b = result.point["w"], -result.point["gamma"]
    return make_fit(
        data,
        map_,
        Hyperplane(w, b, PMM.select(w)),
        result,
        started=started,
        details={"plane_errors": int(result.objective or 0), "below": result.point["below"]},
    )


def check_pmm(saved: SavedFit) -> Certificate:
    """Recompute the certificate of a fit from its saved details; raises FileError where they are damaged."""
    value = float(hyperplane_errors(saved.data, saved.w, saved.b))
    with reading("proof"):
        proof = certify_pmm(saved.data, int(saved.fit.objective or 0), _below(saved))
        errors = abs(float(saved.fit.details["plane_errors"]) - value)
    return replace(extend(proof, {"errors": errors}), objective=value)


def _below(saved: SavedFit) -> StationaryPoint | None:
    """Return the end of the search for one error less; raises KeyError, TypeError or ValueError where it is damaged."""
    below = saved.fit.details.get("below")
    if below is None or isinstance(below, StationaryPoint):
        return below
    alpha = None if below["alpha"] is None else finite_vector(below["alpha"], saved.data.n)
    w = finite_vector(below["w"], saved.data.p)
    return StationaryPoint(int(below["d"]), float(below["value"]), w, float(below["b"]), alpha)


PMM = MethodSpec(
    "pmm",
    fit_pmm,
    ("misclass-step",),
    check=check_pmm,
    paper="sla",
    equation="(16), Table 1",
    estimator="PMM",
    driver="pmm",
    exact=of_pmm,
)
SPECS = (MISCLASS, PMM)
