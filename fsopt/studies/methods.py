"""The methods of a study: those of the registry, peers of other packages, and any classifier of scikit-learn's kind.

A classifier has no model, bound or certificate: its fits are ``feasible``, ended by the hard limit of a unit alone.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any, TypeAlias

import numpy as np

from fsopt.answers.results import Status
from fsopt.data import Dataset
from fsopt.data.hyperplanes import measures
from fsopt.errors import PackageError, ParameterError, SolverError, UnknownNameError, shown, unknown
from fsopt.methods.registry import METHODS, fit
from fsopt.methods.spec import PENALTY_WEIGHTS, Grid, MethodSpec, candidates
from fsopt.models.spec import check_parameters, parameters
from fsopt.typing import Indices, Vector

NONZERO = 1e-6
"""Smallest weight, relative to the largest one, that counts as a selected feature."""


@dataclass(frozen=True)
class Classifier:
    """A classifier of scikit-learn's kind, or a pipeline that ends in one, which ``make`` returns before its fit.

    ``parameters`` are the keywords of ``make``, ``package`` is what the extra ``peers`` has it by, ``grid`` for tuning.
    """

    name: str
    make: Callable[..., Any]
    parameters: Mapping[str, Any]
    package: str = "sklearn"
    grid: Grid = ()
    paper: None = None
    solver: bool = False

    @property
    def candidates(self) -> dict[str, tuple[Any, ...]]:
        """Name -> values for tuning."""
        return candidates(self.grid, self.parameters)

    def compare(self, p: int) -> Mapping[str, Any]:
        """Return the parameters in comparisons: of a peer at most p features."""
        return {"m": min(int(self.parameters["m"]), p)} if self.grid and "m" in self.parameters else {}


Entry: TypeAlias = MethodSpec | Classifier
Method: TypeAlias = str | Entry | tuple[str, Any]
"""A name, or a classifier with the name that it has in the answer."""


@dataclass(frozen=True)
class ClassifierFit:
    """A classifier after its fit, with what studies read of a :class:`fsopt.Fit`."""

    method: str
    model: Any
    params: Mapping[str, Any]
    support: tuple[int, ...]
    features: tuple[str, ...]
    solver: str
    seconds: Mapping[str, float]
    status: Status = Status.FEASIBLE
    stop: str = "complete"
    iterations: int = 1
    warnings: tuple[str, ...] = ()

    def decision_function(self, X: Any) -> Vector:
        """Return scores (m,) whose sign is the class: of the classifier, by its probabilities, or its labels."""
        if hasattr(self.model, "decision_function"):
            return np.ravel(self.model.decision_function(X))
        if hasattr(self.model, "predict_proba"):
            return np.asarray(self.model.predict_proba(X))[:, 1] - 0.5
        return np.ravel(self.model.predict(X))

    def scores(self, data: Dataset) -> dict[str, float]:
        """Return :func:`fsopt.data.hyperplanes.measures` on data."""
        return measures(data.y, self.decision_function(data.X))


def entry_of(method: Method) -> Entry:
    """Return the entry of a name, or of a pair of a name and a classifier; raises UnknownNameError, ParameterError."""
    if isinstance(method, MethodSpec | Classifier):
        return method
    if isinstance(method, tuple | list) and len(method) == 2 and isinstance(method[0], str):
        return _named(*method)
    if not isinstance(method, str):
        raise ParameterError(f"{shown(method)} is no method", 'give a name, or ("mine", estimator)')
    if method in PEERS:
        return PEERS[method]
    try:
        return METHODS[method]
    except UnknownNameError:
        raise unknown("method", method, [*METHODS, *PEERS], "fsopt methods", METHODS.words) from None


def _named(name: str, estimator: Any) -> Classifier:
    """Return a classifier of the user's own as a method."""
    if isinstance(estimator, Classifier):
        return estimator
    if name in METHODS or name in PEERS:
        raise ParameterError(f"'{name}' is a method of fsopt, and is given a classifier", "give it another name")
    if isinstance(estimator, type) or not all(hasattr(estimator, part) for part in ("fit", "predict", "get_params")):
        raise ParameterError(f"'{name}' is {shown(estimator)}", "give a classifier with scikit-learn's interface")
    return Classifier(name, partial(_copy, estimator), estimator.get_params())


def _copy(estimator: Any, **params: Any) -> Any:
    """Return a copy before its fit, with other parameters."""
    from sklearn.base import clone

    return clone(estimator).set_params(**params)


def study_fit(
    entry: Entry,
    data: Dataset,
    *,
    solver: str | None = None,
    time_limit: float | None = None,
    **params: Any,
) -> Any:
    """Return the fit of a method; of a classifier, without solver and limit, a ClassifierFit, or SolverError."""
    if isinstance(entry, MethodSpec):
        return fit(entry.name, data, solver=solver, time_limit=time_limit, **params)
    started = time.perf_counter()
    try:
        with warnings.catch_warnings(action="ignore"):
            model = entry.make(**check_parameters("method", entry.name, params, entry.parameters))
            model.fit(data.X, data.y)
    except ImportError as error:
        reason = f"'{entry.name}' needs {entry.package}, which is not installed ({error})"
        raise PackageError(reason, "pip install fsopt[peers]") from error
    except Exception as error:  # whatever another package raises
        reason = f"'{entry.name}' failed ({type(error).__name__}: {error})".replace("\n", " ")
        raise SolverError(reason, "choose other parameters") from error
    support = tuple(selected(model, data.p).tolist())
    names, seconds = tuple(data.features[j] for j in support), {"total": time.perf_counter() - started}
    asked = {**entry.compare(data.p), **params} if entry.grid else params
    return ClassifierFit(entry.name, model, asked, support, names, entry.package, seconds)


def selected(model: Any, p: int) -> Indices:
    """Return the places of the features that a fitted classifier uses, by ``get_support`` and ``coef_``, else all."""
    from sklearn.base import OneToOneFeatureMixin

    kept = np.arange(p)
    for _, step in getattr(model, "steps", [("", model)]):
        one = getattr(step, "best_estimator_", step)
        if one is not model and hasattr(one, "steps"):
            kept = kept[selected(one, len(kept))]
        if hasattr(one, "get_support"):
            kept = kept[one.get_support()]
        elif hasattr(one, "coef_"):
            size = np.abs(np.atleast_2d(one.coef_)).max(axis=0)
            kept = kept[(size > 0) & (size >= NONZERO * size.max(initial=0.0))]
        elif hasattr(one, "transform") and not isinstance(one, OneToOneFeatureMixin):
            break
    return kept


def _made(path: str, *parts: Any, **params: Any) -> Any:
    """Return an object of another package, which is imported now."""
    module, _, name = path.rpartition(".")
    return getattr(import_module(module), name)(*parts, **params)


def _scaled(*steps: Any) -> Any:
    """Return the pipeline of standardised features and further steps."""
    return _made("sklearn.pipeline.make_pipeline", _made("sklearn.preprocessing.StandardScaler"), *steps)


def _svc(c: float) -> Any:
    return _made("sklearn.svm.SVC", kernel="linear", C=c)


def _behind(selector: str, m: int, c: float, **params: Any) -> Any:
    """Return the SVM on m features that a selector of scikit-learn takes by the same SVM."""
    made = _made(f"sklearn.feature_selection.{selector}", _svc(c), n_features_to_select=m, **params)
    return _scaled(made, _svc(c))


LIBLINEAR = {"penalty": "l1", "random_state": 0}
"""The 1-norm in liblinear, which penalises the intercept, too."""
MAKERS: Mapping[str, Callable[..., Any]] = {
    "sklearn-rfe": lambda *, m=5, c=1.0: _behind("RFE", m, c),
    "sklearn-forward": lambda *, m=5, c=1.0: _behind("SequentialFeatureSelector", m, c, cv=3),
    "sklearn-kbest": lambda *, m=5, c=1.0: _scaled(_made("sklearn.feature_selection.SelectKBest", k=m), _svc(c)),
    "sklearn-l1-svc": lambda *, c=1.0: _scaled(
        _made("sklearn.svm.LinearSVC", dual=False, C=c, max_iter=10_000, **LIBLINEAR)
    ),
    "sklearn-l1-logistic": lambda *, c=1.0: _scaled(
        _made("sklearn.linear_model.LogisticRegression", solver="liblinear", C=c, max_iter=1000, **LIBLINEAR)
    ),
    "abess": lambda *, m=5: _scaled(_made("abess.linear.LogisticRegression", support_size=m)),
    "skglm": lambda *, alpha=0.01: _scaled(_made("skglm.estimators.SparseLogisticRegression", alpha=alpha)),
}
"""Name of a peer -> pipeline at its parameters; alpha is a weight against the mean loss."""
GRID = (*PENALTY_WEIGHTS, ("alpha", (0.003, 0.01, 0.03)))
PEERS: Mapping[str, Classifier] = {
    name: Classifier(name, make, parameters(make), name.partition("-")[0], GRID) for name, make in MAKERS.items()
}
"""Name -> entry of every peer."""
