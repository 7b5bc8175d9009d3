"""The estimators of all methods: a fit behind the interface of scikit-learn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from fsopt.answers.certificate import Certificate
from fsopt.answers.fits import Fit
from fsopt.common.clock import whole_or_interrupted
from fsopt.common.texts import counted
from fsopt.data import Dataset
from fsopt.data.validation import refuse_masked
from fsopt.drivers.run import Progress
from fsopt.errors import DataError, ParameterError
from fsopt.methods.registry import METHODS, fit
from fsopt.typing import Mask, Matrix, Vector


class SelectingClassifier(SelectorMixin, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A method as a classifier and as a selector of features, with the keywords that all methods share.

    Parameters
    ----------
    class_weight : Mapping[Any, float] | str, optional
        ``"balanced"``, or a mapping from the classes to their weights; None for equal weights.
    solver : str, optional
        Name of the solver of the method's problems, one of ``fsopt solvers``; None for the preferred one of their
        class.
    time_limit : float, optional
        Seconds for the whole method; None for no limit.
    callback : Progress, optional
        Called with the record of each iteration of a loop; None for no calls.

    Attributes
    ----------
    fit_ : the :class:`fsopt.answers.fits.Fit`, with status, objective value, bound and history.
    certificate_ : its certificate: numbers that fsopt recomputed from the model.
    classes_ : (2,) the classes; the second one is +1.
    coef_, intercept_ : (1, p) and (1,) weights in raw units and the intercept, without a kernel.
    n_features_in_, feature_names_in_ : of the training samples.

    Notes
    -----
    ``fit`` raises ValueError for samples and parameters that the method cannot take, and the errors of
    :func:`fsopt.fit` else. The numbers are used as they are: missing values and texts are for steps before.
    """

    method: ClassVar[str]
    class_weight: Mapping[Any, float] | str | None = None
    solver: str | None = None

    def __init__(
        self,
        *,
        class_weight: Mapping[Any, float] | str | None = None,
        solver: str | None = None,
        time_limit: float | None = None,
        callback: Progress | None = None,
    ) -> None:
        self.class_weight = class_weight
        self.solver = solver
        self.time_limit = time_limit
        self.callback = callback

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = METHODS[self.method].sparse
        return tags

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Fit the method to samples X (n, p), sparse ones where it takes them, with classes y (n,)."""
        return self._fit(X, y, None)

    @whole_or_interrupted()  # it may be one fit of a search
    def _fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None) -> Self:
        _refuse_masked(X=X, y=y, sample_weight=sample_weight)
        matrix, target = validate_data(self, X, y, dtype=np.float64, accept_sparse=True)
        check_classification_targets(target)
        self.classes_: NDArray[Any] = np.unique(target)
        if len(self.classes_) != 2:
            found = counted(len(self.classes_), "class")
            raise ValueError(
                f"Only binary classification is supported: y has {found}; several classes are for "
                "sklearn.multiclass.OneVsRestClassifier"
            )
        names = getattr(self, "feature_names_in_", None)
        signs = np.where(target == self.classes_[1], 1.0, -1.0)
        parameters = {name: getattr(self, name) for name in METHODS[self.method].parameters}
        try:
            self.fit_: Fit = fit(
                self.method,
                Dataset(matrix, signs, names, labels=self._labels()),
                solver=self.solver,
                time_limit=self.time_limit,
                progress=self.callback,
                class_weight=self.class_weight,
                sample_weight=sample_weight,
                **parameters,
            )
        except (DataError, ParameterError) as error:
            raise ValueError(str(error)) from error
        self.certificate_: Certificate | None = self.fit_.certificate
        self.n_iter_ = max(self.fit_.iterations, 1)
        if self.fit_.kernel is None and not self.fit_.preprocessing.unit_rows:
            self.coef_ = self.fit_.coef[None, :]
            self.intercept_ = np.array([self.fit_.intercept])
        return self

    def _labels(self) -> tuple[str, str]:
        first, second = map(str, self.classes_.tolist())
        return (first, second) if first != second else ("-1", "+1")

    def decision_function(self, X: ArrayLike) -> Vector:
        """Return the scores (n,) of samples X (n, p); the second class has those above 0."""
        samples = self._samples(X)
        return self.fit_.decision_function(samples)

    def _samples(self, X: ArrayLike) -> Matrix:
        """Return samples to be classified as a matrix."""
        check_is_fitted(self)
        _refuse_masked(X=X)
        found: Matrix = validate_data(self, X, dtype=np.float64, accept_sparse=True, reset=False)
        return found

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the classes (n,) of samples X (n, p)."""
        scores = self.decision_function(X)
        return np.asarray(self.classes_[(scores > 0).astype(int)])

    @property
    def predict_proba(self) -> Callable[[ArrayLike], Matrix]:
        """The function of samples X (n, p) that returns the probabilities (n, 2) of the classes.

        Raises
        ------
        AttributeError : the loss is not the logistic one, whose scores alone are log-odds.
        """
        if getattr(self, "loss", None) != "logistic":
            raise AttributeError(
                f"{type(self).__name__} with this loss has no probabilities: take one with loss='logistic', or "
                "calibrate the scores with sklearn.calibration.CalibratedClassifierCV"
            )
        return self._probabilities

    def _probabilities(self, X: ArrayLike) -> Matrix:
        samples = self._samples(X)
        return self.fit_.predict_proba(samples)

    def transform(self, X: ArrayLike) -> Any:
        """Return samples X (n, p) with their selected features alone."""
        _refuse_masked(X=X)
        return super().transform(X)

    def _get_support_mask(self) -> Mask:
        check_is_fitted(self)
        if self.fit_.kernel is not None:
            raise ValueError("with a kernel the fit selects training samples, not features")
        mask = np.zeros(self.n_features_in_, dtype=bool)
        mask[list(self.fit_.support)] = True
        return mask


def _refuse_masked(**given: Any) -> None:
    """Raise ValueError for masked values, which scikit-learn would unmask."""
    try:
        for name, value in given.items():
            refuse_masked(value, name)
    except DataError as error:
        raise ValueError(str(error)) from error


class WeightedClassifier(SelectingClassifier):
    """The classifier of a method that takes weights of samples."""

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the method to samples X (n, p) with classes y (n,), of which a weight of 2 counts as two."""
        return self._fit(X, y, sample_weight)
