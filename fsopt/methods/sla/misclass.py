"""Method ``misclass`` (Mangasarian, (20)): few misclassified samples, by successive linearisation."""

from __future__ import annotations

import time

import numpy as np

from fsopt.answers.fits import Fit
from fsopt.data import Dataset
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
from fsopt.models.sla.misclass import build_misclass_step


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
    started = time.perf_counter()
    alpha = number("misclass", "alpha", alpha)
    work, map_ = preprocess(data, scale)
    if uses_generation(work, run, features=False):
        problem = concave_hinge(work, alpha)
        result = yield from sla_by_column_generation.steps(work, problem, run=run)
        answer = SlaAnswer.generated(result)
    else:
        terms = ConcaveTerms((("y", "cost_y"), ("z", "cost_z")), alpha)
        model = build_misclass_step(work, alpha=alpha)
        result = yield from sla.steps(model, terms, run=run)
        at = result.point
        params = {"alpha": alpha, "y": np.maximum(at["y"], 0.0), "z": np.maximum(at["z"], 0.0)}
        answer = SlaAnswer(at["w"], -at["gamma"], result, evidence("misclass-step", params, at["proof"]))
    return fit_of_answer(work, map_, answer, n_starts=1, started=started, hint="the classes overlap too much")


SPEC = MethodSpec(
    "misclass",
    fit_misclass,
    ("misclass-step",),
    objective=objective,
    check=check,
    paper="sla",
    equation="(20)",
    estimator="MisclassificationMinimizer",
    driver="sla",
    sparse=True,
    stated=stated,
    exact=of_step,
)
