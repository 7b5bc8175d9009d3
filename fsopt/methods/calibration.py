"""Probabilities from scores: a sigmoid of the scores of held-out samples, by scikit-learn's calibration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from fsopt.answers.fits import Fit
from fsopt.certificates.points import relative_gap
from fsopt.data import Dataset
from fsopt.data.splits import stratified_folds, train_and_test
from fsopt.drivers.interruption import uninterrupted
from fsopt.methods.registry import fit as fit_method
from fsopt.typing import Vector


def with_sigmoid(fit: Fit, data: Dataset, scores: Vector, how: Mapping[str, Any]) -> Fit:
    r"""Return a fit with probabilities: :meth:`fsopt.Fit.predict_proba`, also of the saved fit.

    .. math:: P(y = +1 \mid x) = \frac{1}{1 + \exp(-(s f(x) + t))}

    f is the score. Slope s and intercept t are of largest likelihood for the scores of held-out samples.

    Parameters
    ----------
    fit, data : of a registered method, and its training data.
    scores : (n,) of :func:`held_out_scores`.
    how : their ``folds``, ``seed`` and ``params``, by which ``fsopt check`` computes them again.

    Notes
    -----
    Platt, Probabilistic outputs for support vector machines (1999), by ``CalibratedClassifierCV`` of scikit-learn.
    """
    slope, intercept = sigmoid_of(scores, data.y, data.weights)
    return replace(fit, details={**fit.details, "calibration": {"slope": slope, "intercept": intercept, **how}})


def calibration_residual(fit: Fit, data: Dataset) -> float:
    """Return how far stated slope and intercept are from those of held-out scores, computed again.

    Raises
    ------
    KeyError, TypeError, ValueError, FsoptError : what is stated of the calibration is damaged.
    """
    stated = fit.details["calibration"]
    scores = held_out_scores(fit, data, stated["folds"], stated["seed"], stated["params"])
    slope, intercept = sigmoid_of(scores, data.y, data.weights)
    return max(relative_gap(float(stated["slope"]), slope), relative_gap(float(stated["intercept"]), intercept))


def held_out_scores(fit: Fit, data: Dataset, folds: int, seed: int, params: Mapping[str, Any]) -> Vector:
    """Return the score (n,) of each sample by the fit of its method to the samples of the other folds."""
    scores = np.zeros(data.n)
    for fold in stratified_folds(data, folds, seed):
        train, test = train_and_test(data, fold)
        folded = uninterrupted(fit_method(fit.method, train, **{**fit.params, **params}))
        scores[fold] = folded.decision_function(test)
    return scores


def sigmoid_of(scores: Vector, y: Vector, weights: Vector | None) -> tuple[float, float]:
    """Return slope and intercept of the sigmoid of largest likelihood, with Platt's targets."""
    from scipy.special import logit
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.frozen import FrozenEstimator

    class CalibrationScores(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
        """A classifier whose only feature is its score."""

        def fit(self, X: Any, y: Any) -> Any:
            self.classes_ = np.unique(y)
            return self

        def decision_function(self, X: Any) -> Any:
            return X[:, 0]

        def predict(self, X: Any) -> Any:
            return self.classes_[(X[:, 0] > 0).astype(int)]

    size = float(np.abs(scores).max()) or 1.0
    column = (scores / size)[:, None]
    found = CalibratedClassifierCV(FrozenEstimator(CalibrationScores().fit(column, y)), cv=2, ensemble=False)
    found.fit(column, y, sample_weight=weights)
    at = logit(np.clip(found.predict_proba(np.array([[0.0], [0.01]]))[:, 1], 1e-300, 1.0 - 1e-16))
    return float((at[1] - at[0]) / 0.01 / size), float(at[0])
