"""Method ``fisher``: a support vector machine on the features ranked first by the Fisher criterion."""

from __future__ import annotations

from fsopt.answers.certificate import Certificate
from fsopt.answers.results import Fit
from fsopt.data import Dataset
from fsopt.drivers.run import Run
from fsopt.methods.baselines.feature_ranking import check_filter, fit_filter
from fsopt.methods.baselines.feature_scores import fisher
from fsopt.methods.baselines.subset_svm import SvmSettings, objective
from fsopt.methods.exact.hinge import of_subset
from fsopt.methods.spec import MethodSpec, SavedFit


def fit_fisher(
    data: Dataset,
    run: Run,
    *,
    m: int | None = None,
    machine: str = "rsvm",
    c: float = 1.0,
    w_cap: float | None = None,
    scale: str = "unit-rows",
) -> Fit:
    """Fit a support vector machine on the features of largest Fisher criterion.

    Parameters, result, errors and source are those of
    :func:`fsopt.methods.baselines.pearson.fit_pearson`; the score is
    :func:`fsopt.methods.baselines.feature_scores.fisher`.
    """
    return fit_filter(data, run, SvmSettings(machine, c, w_cap), name="fisher", scale=scale, m=m, score=fisher)


def check(saved: SavedFit) -> Certificate:
    """Certify a saved fit again: scores, ranking, and the last support vector machine."""
    return check_filter(saved, fisher(saved.data))


SPEC = MethodSpec(
    "fisher",
    fit_fisher,
    objective,
    check,
    ("rsvm-dual", "rsvm-least-norm", "svm"),
    equation="Bi, 7",
    weights="samples",
    exact=of_subset,
)
