"""Methods of other packages (extra ``peers``) as methods of a study: the same data, splits, scores and tuning.

A peer is linear, gets standardised features, and comes without a model, a bound and a certificate: its fits are
``feasible``, and :func:`fsopt.fit` does not know it. It looks at no clock: the hard limit of a unit ends it.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

import numpy as np

from fsopt.answers.fits import Fit
from fsopt.answers.results import DriverResult, Status
from fsopt.common.registry import Registry
from fsopt.common.texts import counted
from fsopt.data import Dataset
from fsopt.errors import PackageError, ParameterError, SolverError, shown
from fsopt.methods.preprocessing import Hyperplane, make_fit, preprocess
from fsopt.methods.spec import PENALTY_WEIGHTS, Grid, candidates
from fsopt.models.spec import check_parameters, parameters
from fsopt.typing import Matrix, Vector

NONZERO = 1e-6
"""Smallest weight, relative to the largest one, that counts as a selected feature."""


@dataclass(frozen=True)
class Peer:
    """A method of another package.

    Attributes
    ----------
    name : in studies.
    function : of standardised samples (n, p), labels (n,) in {-1, +1} and keywords; returns w (p,) and b.
    package : the module that it needs.
    grid : as that of a method.
    """

    name: str
    function: Callable[..., tuple[Vector, float]]
    package: str
    grid: Grid = PENALTY_WEIGHTS
    paper: None = None
    driver: str = "peer"

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Name -> default of the parameters."""
        return parameters(self.function)

    @property
    def candidates(self) -> dict[str, tuple[Any, ...]]:
        """Name -> values for tuning."""
        return candidates(self.grid, self.parameters)

    def compare(self, p: int) -> Mapping[str, Any]:
        """Return the parameters in comparisons: at most p features."""
        m = self.parameters.get("m")
        return {} if m is None else {"m": min(int(m), p)}


def fit_peer(name: str, data: Dataset, **params: Any) -> Fit:
    """Fit a peer to data.

    Raises
    ------
    PackageError : its package is not installed.
    ParameterError, SolverError : unknown parameters; its package failed.
    """
    peer, started = PEERS[name], time.perf_counter()
    params = check_parameters("method", name, params, peer.parameters)
    for key, value in params.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
            raise ParameterError(f"parameter '{key}' of '{name}' is {shown(value)}", "give a number > 0")
    if params.get("m", 1) > data.p:
        raise ParameterError(f"parameter 'm' of '{name}' is {params['m']}", f"there are {counted(data.p, 'feature')}")
    try:
        import_module(peer.package)
    except ImportError as error:
        raise PackageError(
            f"'{name}' needs {peer.package}, which is not installed ({error})", "pip install fsopt[peers]"
        ) from error
    work, map_ = preprocess(data, "standard")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            w, b = peer.function(work.X, work.y, **params)
    except Exception as error:  # whatever another package raises
        raise SolverError(f"'{name}' failed ({type(error).__name__}: {error})", "choose other parameters") from error
    size = np.abs(w)
    support = tuple(np.flatnonzero((size > 0) & (size >= NONZERO * size.max(initial=0.0))).tolist())
    outcome = DriverResult(
        status=Status.FEASIBLE,
        stop="complete",
        objective=None,
        bound=None,
        iterations=1,
        point={},
        history=(),
        certificate=None,
        solver=peer.package,
        seconds={},
    )
    found = make_fit(data, map_, Hyperplane(w, b, support), outcome, started=started)
    return replace(found, method=name, params={**peer.parameters, **params}, trained=found.kept_of(data))


def _svc(X: Matrix, y: Vector, c: float) -> Any:
    from sklearn.svm import SVC

    return SVC(kernel="linear", C=c).fit(X, y)


def _on(X: Matrix, y: Vector, selected: Any, c: float) -> tuple[Vector, float]:
    """Return the SVM on some features."""
    model, w = _svc(X[:, selected], y, c), np.zeros(X.shape[1])
    w[selected] = model.coef_[0]
    return w, float(model.intercept_[0])


def sklearn_rfe(X: Matrix, y: Vector, *, m: int = 5, c: float = 1.0) -> tuple[Vector, float]:
    """Return the SVM after scikit-learn's recursive feature elimination by SVMs."""
    from sklearn.feature_selection import RFE
    from sklearn.svm import SVC

    selected = RFE(SVC(kernel="linear", C=c), n_features_to_select=m).fit(X, y).get_support()
    return _on(X, y, selected, c)


def sklearn_forward(X: Matrix, y: Vector, *, m: int = 5, c: float = 1.0) -> tuple[Vector, float]:
    """Return the SVM after scikit-learn's forward selection by the accuracy of SVMs in three folds."""
    from sklearn.feature_selection import SequentialFeatureSelector
    from sklearn.svm import SVC

    if m == X.shape[1]:
        return _on(X, y, np.ones(m, dtype=bool), c)
    search = SequentialFeatureSelector(SVC(kernel="linear", C=c), n_features_to_select=m, cv=3)
    return _on(X, y, search.fit(X, y).get_support(), c)


def sklearn_kbest(X: Matrix, y: Vector, *, m: int = 5, c: float = 1.0) -> tuple[Vector, float]:
    """Return the SVM on the m features of largest F statistic."""
    from sklearn.feature_selection import SelectKBest, f_classif

    return _on(X, y, SelectKBest(f_classif, k=m).fit(X, y).get_support(), c)


def sklearn_l1_svc(X: Matrix, y: Vector, *, c: float = 1.0) -> tuple[Vector, float]:
    """Return liblinear's SVM with the 1-norm and squared hinge loss; its intercept is penalised."""
    from sklearn.svm import LinearSVC

    model = LinearSVC(penalty="l1", dual=False, C=c, max_iter=10_000, random_state=0).fit(X, y)
    return model.coef_[0], float(model.intercept_[0])


def sklearn_l1_logistic(X: Matrix, y: Vector, *, c: float = 1.0) -> tuple[Vector, float]:
    """Return liblinear's logistic regression with the 1-norm; its intercept is penalised."""
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(penalty="l1", solver="liblinear", C=c, max_iter=1000, random_state=0).fit(X, y)
    return model.coef_[0], float(model.intercept_[0])


def abess_logistic(X: Matrix, y: Vector, *, m: int = 5) -> tuple[Vector, float]:
    """Return abess's best-subset logistic regression with m features."""
    from abess.linear import LogisticRegression

    model = LogisticRegression(support_size=m).fit(X, (y > 0).astype(int))
    return np.ravel(model.coef_), float(np.ravel(model.intercept_)[0])


def skglm_logistic(X: Matrix, y: Vector, *, alpha: float = 0.01) -> tuple[Vector, float]:
    """Return skglm's logistic regression with the 1-norm, weighted by alpha against the mean loss."""
    from skglm.estimators import SparseLogisticRegression

    model = SparseLogisticRegression(alpha=alpha).fit(X, y)
    return np.ravel(model.coef_), float(np.ravel(model.intercept_)[0])


SPECS = (
    Peer("sklearn-rfe", sklearn_rfe, "sklearn"),
    Peer("sklearn-forward", sklearn_forward, "sklearn"),
    Peer("sklearn-kbest", sklearn_kbest, "sklearn"),
    Peer("sklearn-l1-svc", sklearn_l1_svc, "sklearn"),
    Peer("sklearn-l1-logistic", sklearn_l1_logistic, "sklearn"),
    Peer("abess", abess_logistic, "abess"),
    Peer("skglm", skglm_logistic, "skglm", (("alpha", (0.003, 0.01, 0.03)),)),
)
PEERS = Registry(Peer, "peer", "fsopt.studies", ("peers",), listing="fsopt methods")
"""Name -> entry of every peer."""
