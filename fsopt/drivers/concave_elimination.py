"""Driver ``concave-elimination``: SVMs and concave minimisation in turn (Rinaldi & Sciandrone), cited by Aytug."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fsopt.answers.results import DriverResult, Status
from fsopt.data import Dataset
from fsopt.drivers.loop import Iterate, Loop, run_loop
from fsopt.drivers.recorder import Recorder
from fsopt.drivers.run import DEFAULT_RUN, Run, Steps, loop
from fsopt.drivers.sla import ROUNDING, check_vertices
from fsopt.models.blocks import number
from fsopt.models.sla.fsv import build_fsv_step
from fsopt.solvers.registry import solver_spec
from fsopt.svm.rfe import SubsetSVM
from fsopt.typing import Indices, Mask, Vector

CORRECT = 1e-6
"""Margin above which a sample counts as classified correctly: of a smaller one the program has a large solution."""


@loop
def concave_elimination(
    data: Dataset,
    train: Callable[[Indices], SubsetSVM],
    *,
    alpha: float = 5.0,
    lp_solver: str | None = None,
    run: Run = DEFAULT_RUN,
) -> Steps[DriverResult]:
    r"""Reduce the features by one step of concave minimisation from the support vector machine, and train again.

    .. math:: \min_{u, d, v}\ \sum_j \alpha e^{-\alpha |w_j|} v_j \quad\text{s.t.}\quad
        y_i(u'x_i + d) \ge 1 \text{ for } y_i(w'x_i + b) > 0,\quad -v \le u \le v

    with the machine (w, b) on the features that are left: the linearisation at :math:`|w|` of
    :math:`\sum_j (1 - e^{-\alpha v_j})` over the hyperplanes that separate the samples that the machine classifies
    correctly. A multiple of (w, b) is one of them. The features of a vertex u are kept, if they are fewer.

    Parameters
    ----------
    data : the samples, preprocessed and dense.
    train : function of the features that are left, increasing, that trains and certifies a machine.
    alpha : > 0, steepness of the approximation of the step function.
    lp_solver : of the linear programs, one that returns vertices; None for the preferred one.
    run : time limit and progress; the machine of the last iteration is the answer then.

    Returns
    -------
    DriverResult
        ``point`` has ``svm``, the last answer of ``train``. ``feasible``, without a bound: the certificate is that of
        this machine on its features, nothing is claimed about their choice. ``history`` has, for each machine, its
        numbers of features and of samples that it classifies correctly, its objective, and the features removed after
        it.

    Raises
    ------
    ParameterError : alpha <= 0.
    OutOfTimeError : the time limit passed before the first machine was trained.
    SolverError : a program was not solved, or a solver that returns no vertices.

    Notes
    -----
    Rinaldi & Sciandrone, *Feature selection combining linear support vector machines and concave optimization*,
    Optimization Methods and Software 25 (2010), as Aytug describes it in section 2; one linear program in each
    iteration, and the end where it has no fewer features, are as there.
    """
    alpha = number("concave_elimination", "alpha", alpha)
    if lp_solver is not None:
        check_vertices(solver_spec(lp_solver), None)
    recorder = Recorder([], run)
    at, stop = yield from run_loop(_reduce(data, train, alpha, lp_solver, recorder), recorder)
    certificate = at.point["svm"].certificate
    return recorder.end(Status.FEASIBLE, stop, objective=at.objective, point=at.point, certificate=certificate)


def _reduce(
    data: Dataset, train: Callable[[Indices], SubsetSVM], alpha: float, lp_solver: str | None, recorder: Recorder
) -> Loop:
    """Yield the machines on fewer and fewer features."""
    left, done = np.arange(data.p), False
    # Each pass but the last removes a feature.
    while not done:
        svm = train(left)
        recorder.include(svm.outcome)
        value = svm.certificate.objective
        assert value is not None
        correct = data.y * (data.X @ svm.w + svm.b) > CORRECT
        yield Iterate(value, {"svm": svm}, within=True)
        kept = left[_sparse(data, svm.w, left, correct, alpha, lp_solver, recorder)]
        done = not 0 < len(kept) < len(left)
        removed = [] if done else np.setdiff1d(left, kept).tolist()
        record = {"n_features": len(left), "correct": int(correct.sum()), "objective": value, "removed": removed}
        yield Iterate(value, {"svm": svm}, record=record, stop="complete" if done else "")
        left = kept


def _sparse(
    data: Dataset,
    w: Vector,
    left: Indices,
    correct: Mask,
    alpha: float,
    lp_solver: str | None,
    recorder: Recorder,
) -> Indices:
    """Return the places among the features that are left of those of a vertex that separates some samples."""
    if len(np.unique(data.y[correct])) < 2:  # u = 0 separates samples of one class
        return np.arange(0)
    part = Dataset(data.X[np.ix_(correct, left)], data.y[correct])
    model = build_fsv_step(part, lam=1.0, alpha=alpha, v=np.abs(w[left]))
    model.y.fix(0.0)
    model.z.fix(0.0)
    session = Run(lp_solver).open(model)
    recorder.renew(session)
    step = recorder.solve(session, "the linear program of sparse weights", load=False, vertex=True)
    assert step.point is not None
    u = np.abs(step.point.x[session.columns(model.w)])
    return np.flatnonzero(u > ROUNDING * max(u.max(), 1.0))
