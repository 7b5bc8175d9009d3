"""Method ``concave-svm``: SVMs and concave minimisation in turn (Rinaldi & Sciandrone), a rival that Aytug cites."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from fsopt.answers.certificate import Certificate
from fsopt.answers.fits import Fit
from fsopt.common.customising import changes_in_force
from fsopt.data import Dataset
from fsopt.data.hyperplanes import svm_value
from fsopt.drivers.concave_elimination import concave_elimination
from fsopt.drivers.run import Run, Steps, drained
from fsopt.methods.assembly import make_fit
from fsopt.methods.baselines.rfe import features_left
from fsopt.methods.baselines.subset_svm import SvmSettings, check_subset_svm, train_on_subset
from fsopt.methods.exact.hinge import of_subset
from fsopt.methods.preprocessing import Hyperplane, preprocess
from fsopt.methods.spec import MethodSpec, SavedFit, Value
from fsopt.models.blocks import number
from fsopt.typing import Vector


def fit_concave_svm(
    data: Dataset,
    run: Run,
    *,
    c: float = 1.0,
    alpha: float = 5.0,
    lp_solver: str | None = None,
    scale: str = "standard",
) -> Steps[Fit]:
    r"""Fit support vector machines on ever fewer features, each chosen by a step of concave minimisation.

    .. math:: \min_{u, d, v}\ \sum_j \alpha e^{-\alpha |w_j|} v_j \quad\text{s.t.}\quad
        y_i(u'x_i + d) \ge 1 \text{ for } y_i(w'x_i + b) > 0,\quad -v \le u \le v

    with the support vector machine (w, b) on the features that are left. A vertex u has few features; they are kept if
    they are fewer, and the next machine is trained on them.

    Parameters
    ----------
    c : float, default 1.0
        > 0, penalty weight of the hinge loss.
    alpha : float, default 5.0
        > 0, steepness of the approximation of the step function.
    lp_solver : str, optional
        Solver of the linear programs, one that returns vertices; None for the preferred one. ``solver`` is that of the
        machines, quadratic programs.
    scale : str, default 'standard'
        Preprocessing of the features: ``standard`` (default), ``center`` or ``none``; the selection depends on it.

    Returns
    -------
    Fit
        ``objective`` is F(sigma) of Aytug, that of the last SVM on its features, in preprocessed units. The certificate
        proves it for these features; their selection is a heuristic: ``feasible``, without a bound.

    Raises
    ------
    ParameterError : c <= 0 or alpha <= 0.
    SolverError : a solver of the linear programs that returns no vertices.

    Notes
    -----
    Rinaldi & Sciandrone, *Feature selection combining linear support vector machines and concave optimization*,
    Optimization Methods and Software 25 (2010), from Aytug's description in section 2;
    :func:`fsopt.drivers.concave_elimination.concave_elimination`. Method ``fsv`` has their penalties.
    """
    started = time.perf_counter()
    c, alpha = number("concave-svm", "c", c), number("concave-svm", "alpha", alpha)
    work, map_ = preprocess(data, scale)
    own = run.solver is None and not changes_in_force()
    settings, unlimited = SvmSettings("svm", c, None, own or None), replace(run, time_limit=None)
    result = yield from concave_elimination.steps(
        work,
        lambda left: drained(train_on_subset(work, left, unlimited, settings)),
        alpha=alpha,
        lp_solver=lp_solver,
        run=run,
    )
    found = result.point["svm"]
    hyperplane = Hyperplane(found.w, found.b, SPEC.select(found.w))
    return make_fit(data, map_, hyperplane, result, started=started, warnings=found.warnings, details=found.details)


def objective(data: Dataset, w: Vector, b: float, at: Mapping[str, Any]) -> Value:
    """Return F(sigma) at a hyperplane."""
    return svm_value(data, w, b, at["c"]), 0.0


def check(saved: SavedFit) -> Certificate:
    """Certify the last support vector machine again; the choice of its features has no certificate."""
    return check_subset_svm(saved, features_left(saved))


SPEC = MethodSpec(
    "concave-svm",
    fit_concave_svm,
    objective,
    check,
    ("fsv-step", "fsp-sub", "svm"),
    equation="Rinaldi & Sciandrone",
    estimator="ConcaveSVM",
    driver="concave-elimination",
    weights="samples",
    exact=of_subset,
)
