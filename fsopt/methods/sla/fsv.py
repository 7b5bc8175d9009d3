"""Method ``fsv`` (Mangasarian, (21)): few features, by successive linearisation."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from fsopt.answers.fits import Fit
from fsopt.data import Dataset
from fsopt.drivers.penalties import Penalty, approximation, step_costs, words_of
from fsopt.drivers.run import Run, Steps
from fsopt.drivers.sla import ConcaveTerms, sla, sla_by_column_generation
from fsopt.methods.claims import of_step
from fsopt.methods.large_programs import uses_generation
from fsopt.methods.preprocessing import preprocess
from fsopt.methods.sla.concave_minimisation import (
    SlaAnswer,
    check,
    concave_hinge,
    fit_of_answer,
    objective,
    stated,
)
from fsopt.methods.spec import MethodSpec
from fsopt.methods.verdict import evidence
from fsopt.models.blocks import number
from fsopt.models.sla.fsv import build_fsv_step
from fsopt.models.sla.hyperplane import iterate_of_costs


def fit_fsv(
    data: Dataset,
    run: Run,
    *,
    lam: float = 0.05,
    alpha: float = 5.0,
    approx: str | Penalty = "exp",
    n_starts: int = 1,
    seed: int = 0,
    scale: str = "standard",
) -> Steps[Fit]:
    r"""Fit a hyperplane in few features by concave minimisation (FSV).

    .. math:: \min\ (1-\lambda)\Bigl(\tfrac1m \sum_{y_i = 1} e_i + \tfrac1k \sum_{y_i = -1} e_i\Bigr)
        + \lambda \sum_j \varphi(|w_j|), \qquad e_i = \max(0, 1 - y_i(w'x_i + b))

    Of many samples or features each step is solved by restricted programs of some of them,
    :func:`fsopt.drivers.sla.sla_by_column_generation`.

    Parameters
    ----------
    lam : float, default 0.05
        In [0, 1], weight of feature suppression.
    alpha : float, default 5.0
        > 0, steepness of the approximation of the step function; the paper's 5.
    approx : str | Penalty, default 'exp'
        The approximation phi of the step function: ``exp`` (default, the paper's 1 - exp(-alpha t)); ``log``, ``lp``
        and ``inverse-power``, with which Rinaldi & Sciandrone minimise (21), too; ``capped-l1`` or ``scad``; or an
        object with ``slope``, ``value(w)`` and ``gradient(w)``, which ``alpha`` does not change. A fit to an object
        that equals no registered penalty cannot be saved.
    n_starts : int, default 1
        >= 1, runs of SLA, of which the best is returned: the first from zero, the others from v drawn from U(0, 1).
        Runs are added where the first one ends at w = 0, with a warning.
    seed : int, default 0
        >= 0, of the random starts.
    scale : str, default 'standard'
        Preprocessing of the features: ``standard`` (default), ``center`` or ``none``; the selection depends on it. The
        paper's is ``none``.

    Returns
    -------
    Fit
        ``objective`` is (21), in preprocessed units; ``optimal`` where it is 0, else ``stationary`` where the minimum
        principle was certified, without any statement on global optimality. ``details`` as for ``misclass``.

    Raises
    ------
    ParameterError : a number outside its range, or another word for ``approx``.

    Notes
    -----
    Mangasarian, (21), section 4 and Algorithm 4.1. Rinaldi & Sciandrone, *Feature selection combining linear support
    vector machines and concave optimization*, Optimization Methods and Software 25 (2010), with 1 / alpha for epsilon.
    """
    started = time.perf_counter()
    lam = number("fsv", "lam", lam)
    alpha = number("fsv", "alpha", alpha)
    penalty = approximation(approx, alpha)
    slope = penalty.slope
    work, map_ = preprocess(data, scale)
    if uses_generation(work, run):
        problem = concave_hinge(work, alpha, lam, approx)
        result = yield from sla_by_column_generation.steps(work, problem, n_starts=n_starts, seed=seed, run=run)
        answer = SlaAnswer.generated(result)
    else:
        terms = ConcaveTerms((("v", "cost_v"),), alpha, weight=lam, approx=approx)
        model = build_fsv_step(work, lam=lam, alpha=slope)
        result = yield from sla.steps(model, terms, n_starts=n_starts, seed=seed, run=run)
        at = result.point
        # The step at v has the costs phi'(v): those of the exponential of the same slope at another iterate.
        costs = step_costs(penalty, np.maximum(at["v"], 0.0))
        params = {"lam": lam, "alpha": slope, "v": iterate_of_costs(slope, costs)}
        answer = SlaAnswer(at["w"], -at["gamma"], result, evidence("fsv-step", params, at["proof"]))
    fitted = fit_of_answer(work, map_, answer, n_starts=n_starts, started=started, hint="lower lam")
    return fitted if isinstance(approx, str) else replace(fitted, params=words_of(penalty))


SPEC = MethodSpec(
    "fsv",
    fit_fsv,
    ("fsv-step",),
    objective=objective,
    check=check,
    paper="sla",
    equation="(21)",
    estimator="FSV",
    driver="sla",
    sparse=True,
    weights="classes",
    stated=stated,
    exact=of_step,
    objects=("approx",),
    grid=(("lam", (0.01, 0.05, 0.2)),),
)
