"""Method ``ks``: a support vector machine on the features ranked first by the Kolmogorov-Smirnov distance."""

from __future__ import annotations

from fsopt.certificates.certificate import Certificate
from fsopt.data import Dataset
from fsopt.drivers.run import Run
from fsopt.methods.baselines.feature_ranking import check_filter, fit_filter
from fsopt.methods.baselines.subset_svm import LastSvm, objective
from fsopt.methods.baselines.feature_scores import ks
from fsopt.methods.spec import MethodSpec, SavedFit
from fsopt.results import Fit


def fit_ks(
    data: Dataset,
    run: Run,
    *,
    m: int | None = None,
    machine: str = "rsvm",
    c: float = 1.0,
    w_cap: float | None = None,
    scale: str = "unit-rows",
) -> Fit:
    """Fit a machine on the features whose distributions in the two classes differ most (Kolmogorov-Smirnov).

    Parameters, result, errors and source are those of :func:`fit_pearson`; the score is
    :func:`fsopt.methods.baselines.feature_scores.ks`.
    """
    return fit_filter(data, run, LastSvm(machine, c, w_cap), name="ks", scale=scale, m=m, score=ks)


def check(saved: SavedFit) -> Certificate:
    """Recompute the scores of a saved fit, the ranking that they give, and the evidence of the last SVM."""
    return check_filter(saved, ks(saved.data))


SPEC = MethodSpec("ks", fit_ks, objective, check, ("rsvm-dual", "rsvm-least-norm", "svm"), equation="Bi, 7")
