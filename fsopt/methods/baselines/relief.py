"""Method ``relief``: a support vector machine on the features ranked first by RELIEF (Kira & Rendell)."""

from __future__ import annotations

from typing import Any

import numpy as np

from fsopt.answers.certificate import Certificate
from fsopt.answers.fits import Fit
from fsopt.common import clock
from fsopt.common.docstrings import with_keywords_of
from fsopt.data import Dataset
from fsopt.data.matrices import constant_columns
from fsopt.drivers.run import Run, Steps
from fsopt.methods.baselines.feature_ranking import check_filter, fit_filter
from fsopt.methods.baselines.subset_svm import objective
from fsopt.methods.exact.hinge import of_subset
from fsopt.methods.spec import MethodSpec, SavedFit
from fsopt.models.blocks import whole
from fsopt.typing import Indices, Matrix, Vector

BLOCK = 2**21
"""Most distances, or differences to neighbours, that are held at once."""
DIGITS = 10
"""Decimals of a distance that count: of samples at equal distances the first are neighbours, on every processor."""


@with_keywords_of(fit_filter, without=("machine", "scale"))
def fit_relief(
    data: Dataset,
    run: Run,
    *,
    neighbours: int = 10,
    turns: int = 1000,
    machine: str = "svm",
    scale: str = "standard",
    **keywords: Any,
) -> Steps[Fit]:
    """Fit a support vector machine on the features of largest RELIEF weight.

    Parameters
    ----------
    neighbours : int, default 10
        >= 1, nearest samples of each class with which a sample is compared, see
        :func:`fsopt.methods.baselines.relief.relief`: 10 (default, Kononenko's ReliefF), or 1, the print.
    turns : int, default 1000
        >= 1, samples that are compared with their neighbours, drawn with a fixed seed where there are more: the sample
        size m of Kira & Rendell. The time for all grows with the square of their number.
    machine : str, default 'svm'
        The support vector machine on the features that are kept: ``svm`` (default) or ``rsvm``, as in
        :class:`fsopt.methods.baselines.subset_svm.SvmSettings`.
    scale : str, default 'standard'
        Preprocessing: ``standard`` (default), ``unit-rows``, ``center`` or ``none``; scores are of the preprocessed
        features, and only ``unit-rows`` changes them.

    Returns
    -------
    Fit
        ``objective`` is that of the support vector machine, in preprocessed units, and the certificate proves it on the
        features that were kept; their selection is a heuristic: ``feasible``, without a bound, and with a warning where
        fewer than m features have a positive weight. ``details`` has ``scores`` (p,) and ``ranking``, all features
        from the best to the worst.

    Raises
    ------
    ParameterError : m outside 1..p, c or w_cap <= 0, another word for ``machine``, neighbours or turns < 1.

    Notes
    -----
    Kira & Rendell, *The feature selection problem: traditional methods and a new algorithm*, AAAI (1992); Kononenko,
    *Estimating attributes*, ECML (1994). Aytug cites RELIEF in section 1.
    """
    neighbours = whole("relief", "neighbours", neighbours)
    turns = whole("relief", "turns", turns)

    def score(work: Dataset) -> Vector:
        return relief(work, neighbours, turns)

    return fit_filter("relief", score, data, run, machine=machine, scale=scale, **keywords)


def relief(data: Dataset, neighbours: int = 10, turns: int = 1000) -> Vector:
    r"""Return the RELIEF weight of each feature: how much farther along it the other class is than the own one.

    .. math:: W_j = \frac1{|T|} \sum_{i \in T} \Bigl(\frac1k \sum_{l \in M_i} |z_{ij} - z_{lj}|
        - \frac1k \sum_{l \in H_i} |z_{ij} - z_{lj}|\Bigr), \qquad z_{ij} = \frac{x_{ij}}{\max_i x_{ij} - \min_i x_{ij}}

    where :math:`M_i` and :math:`H_i` are the k samples of the other class and of the own one, itself apart, that are
    nearest to sample i in the 1-norm of z; all that there are, where a class has fewer. T are all samples, or so many
    of them.

    Parameters
    ----------
    neighbours : k >= 1.
    turns : number of samples in T at most, drawn with a fixed seed.

    Returns
    -------
    (p,) array in [-1, 1]; 0 for a constant feature.
    """
    flat = constant_columns(data.X)
    span = np.ptp(data.X, axis=0)
    z = np.where(flat, 0.0, data.X / np.where(flat | (span == 0), 1.0, span))
    sides = [np.flatnonzero(data.y > 0), np.flatnonzero(data.y < 0)]
    drawn = np.random.default_rng(0).permutation(data.n)[:turns]
    total = np.zeros(data.p)
    step = max(BLOCK // max(data.n, neighbours * data.p), 1)
    for own, other in (sides, sides[::-1]):
        taking = np.intersect1d(own, drawn)
        for start in range(0, len(taking), step):
            clock.check()
            rows = taking[start : start + step]
            total += _differences(z, rows, other, neighbours, itself=False)
            if len(own) > 1:
                total -= _differences(z, rows, own, neighbours, itself=True)
    return total / len(drawn)


def _differences(z: Matrix, rows: Indices, others: Indices, neighbours: int, *, itself: bool) -> Vector:
    """Return the sums (p,) over samples of the mean |difference| to their nearest among others, not itself."""
    from scipy.spatial.distance import cdist

    distances = cdist(z[rows], z[others], "cityblock").round(DIGITS)
    if itself:
        distances[rows[:, None] == others] = np.inf
    count = min(neighbours, len(others) - itself)
    farthest = np.partition(distances, count - 1, axis=1)[:, [count - 1]]
    # Nearer samples come first, then those at the distance of the last neighbour, each in their order.
    after = (distances >= farthest).astype(np.int8) + (distances > farthest)
    nearest = np.argsort(after, axis=1, kind="stable")[:, :count]
    sums: Vector = np.abs(z[rows][:, None, :] - z[others[nearest]]).mean(axis=1).sum(axis=0)
    return sums


def check(saved: SavedFit) -> Certificate:
    """Certify a saved fit again: scores, ranking, and the last support vector machine."""
    return check_filter(saved, relief(saved.data, saved.params["neighbours"], saved.params["turns"]))


SPEC = MethodSpec(
    "relief",
    fit_relief,
    objective,
    check,
    ("svm", "rsvm-dual", "rsvm-least-norm"),
    equation="Kira & Rendell",
    estimator="ReliefFilter",
    exact=of_subset,
)
