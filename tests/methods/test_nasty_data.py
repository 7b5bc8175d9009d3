"""Methods on data that are hard, sparse or weighted: one verdict, the answers of dense and of repeated samples."""

import dataclasses
import itertools
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from saved_records import as_read
from support import blobs, sampled, without_model

import fsopt
from fsopt.answers.results import Status
from fsopt.data import Dataset
from fsopt.errors import DataError, FileError, FsoptError, ParameterError
from fsopt.methods.baselines.filters import FILTERS
from fsopt.methods.registry import METHODS
from fsopt.models.registry import MODELS
from fsopt.verification.verify import verify_record

RNG = np.random.default_rng(5)
Y = np.where(np.arange(16) % 2, 1.0, -1.0)
X = RNG.standard_normal((16, 3)) + 0.8 * np.outer(Y, [1.0, 0.6, 0.0])
ALTERNATING = np.array([1.0, -1.0] * 3)


def with_cell(value):
    changed = X.copy()
    changed[7, 1] = value
    return changed


NASTY = {
    "a class of one sample": (X, np.r_[1.0, -np.ones(15)]),
    "one column constant to 10 digits": (np.column_stack([X, 5.0 + 1e-10 * X[:, :1]]), Y),
    "constant to 12 digits": (5.0 + 1e-12 * X, Y),
    "times 1e100": (X * 1e100, Y),
    "one cell 1e130": (with_cell(1e130), Y),
    "more features than samples": (RNG.standard_normal((6, 10)), ALTERNATING),
    "constant columns alone": (np.column_stack([np.full(16, 3.0), np.full(16, 0.1)]), Y),
    "duplicate columns": (np.column_stack([X, X]), Y),
    "two samples": (X[:2], Y[:2]),
    "equal samples of a class": (np.outer(ALTERNATING, [1.0, 1.0]), ALTERNATING),
    "equal samples of both classes": (np.vstack([X[:5], X[:5]]), np.repeat([1.0, -1.0], 5)),
    "times 1e-100": (X * 1e-100, Y),
    "one column times 1e-130": (X * [1.0, 1e-130, 1.0], Y),
    "one column times 1e130": (X * [1.0, 1e130, 1.0], Y),
}


KINDS = ("best-subset", "fisher", "gmeb", "mpm", "onsvm", "svm")
PAIRS = sorted(
    itertools.product(fsopt.METHODS, NASTY), key=lambda pair: (pair[0] not in KINDS, list(NASTY).index(pair[1]))
)
"""Methods of a kind of their own come first, each with the hardest data."""


@pytest.mark.parametrize(("method", "case"), sampled(PAIRS, 4 * len(KINDS)))
def test_what_fit_calls_optimal_verify_confirms(method, case):
    data = fsopt.Dataset(*NASTY[case])
    try:
        fit = fsopt.fit(method, data, time_limit=10)
    except FsoptError:  # refused in one line
        return
    found = fsopt.verify(fit, data)
    if fit.status in (Status.OPTIMAL, Status.STATIONARY):
        assert fit.certificate.ok
        assert found.verified, found.reason
    if found.verified:
        assert np.isfinite(fit.objective)


OUTSIDE = [({"X": X * 10.0**power}, "column 'x1' .* power of ten") for power in (150, -150)]
OUTSIDE += [({"X": X * [1.0, 10.0**power, 1.0]}, "column 'x2' .* power of ten") for power in (150, -150)]
OUTSIDE += [({"X": with_cell(v)}, "'x2' has a value of size .* missing") for v in (1e300, -np.finfo(float).max)]
OUTSIDE += [({"weights": w}, "weights is no vector") for w in (np.r_[1e300, np.ones(15)], np.full(16, 1e-300))]


@pytest.mark.parametrize(("given", "words"), OUTSIDE)
def test_what_has_no_squares_or_sums_and_marks_of_missing_values_are_refused_by_name(given, words):
    with pytest.raises(DataError, match=words):
        fsopt.Dataset(**{"X": X, "y": Y} | given)


@pytest.mark.parametrize("method", ["svm", "mpm", "best-subset", "gmeb"])
def test_answers_do_not_depend_on_the_unit(method):
    """A power of two changes no digit; standardised data are the same."""
    params = {} if method != "gmeb" else {"scale": "standard"}
    right = fsopt.fit(method, X, Y, **params)
    for power in (2.0**330, 2.0**-330):
        assert fsopt.fit(method, X * power, Y, **params).objective == pytest.approx(right.objective, rel=1e-9)


DRAWN = np.random.default_rng(5)
DENSE = np.where(DRAWN.uniform(size=(60, 12)) < 0.3, DRAWN.normal(size=(60, 12)), 0.0)
DENSE[:, 4] = 0.0
DENSE[7] = 0.0
DENSE[:, 6] *= 1e6
SCORE = DENSE[:, :3] @ [2.0, -1.5, 1.0] + 0.4 * DRAWN.normal(size=60)
SIDES = np.where(SCORE > 0.2, 1, -1)
WEIGHTS = DRAWN.uniform(0.5, 2.0, 60)
SPARSE, FULL = Dataset(sp.csc_matrix(DENSE), SIDES), Dataset(DENSE, SIDES)
TAKES = [name for name, spec in METHODS.items() if spec.sparse]
UNSHIFTED = {
    "l1-svm": {"c": 0.5},
    "misclass": {"alpha": 1.0},
    "best-subset": {"m": 4, "c": 0.1},
    "best-subset-penalised": {"lam": 0.5, "c": 0.1},
}
UNSHIFTED |= {name: {"w_cap": 2.0, "m": 3} for name in FILTERS}
"""Parameters with which an optimum is unique, not 0, and does not depend on a shift."""


@pytest.mark.parametrize("name", TAKES)
def test_the_answer_is_that_of_the_dense_data_and_a_changed_one_is_not_verified(name, tmp_path):
    params = {"scale": "standard", **UNSHIFTED.get(name, {})}
    found, known = fsopt.fit(name, SPARSE, **params), fsopt.fit(name, FULL, **params)
    assert found.objective == pytest.approx(known.objective, rel=1e-6, abs=1e-6)
    if name != "misclass":  # which does not penalise features
        assert found.support == known.support
    assert found.status == known.status
    np.testing.assert_array_equal(found.preprocessing.shift, 0.0)
    np.testing.assert_allclose(found.decision_function(sp.coo_array(DENSE)), found.decision_function(DENSE))
    assert found.trained.train == pytest.approx(found.scores(FULL), abs=1e-9)
    found.save(tmp_path / "fit.json")
    assert fsopt.verify(str(tmp_path / "fit.json"), SPARSE).numerically
    assert not fsopt.verify(dataclasses.replace(found, objective=0.99 * found.objective), SPARSE).numerically
    assert not fsopt.verify(dataclasses.replace(found, coef=-found.coef), SPARSE).numerically
    with pytest.raises(FileError, match="other data"):
        fsopt.verify(found, FULL)
    if METHODS[name].weights == "samples":
        sparse, full = (dataclasses.replace(data, weights=WEIGHTS) for data in (SPARSE, FULL))
        found, known = (fsopt.fit(name, data, **params) for data in (sparse, full))
        assert found.objective == pytest.approx(known.objective, rel=1e-6, abs=1e-6)
        assert fsopt.verify(found, sparse).numerically


def test_other_methods_say_what_they_need_and_which_do_not():
    for name in METHODS.keys() - set(TAKES):
        message = f"method '{name}' needs dense data: 60 x 12 .* take 5.8e-06 GB"
        with pytest.raises(DataError, match=message) as caught:
            fsopt.fit(name, SPARSE)
        assert "\n" not in str(caught.value)
        assert "onsvm" in caught.value.hint
        assert "Dataset(X.toarray(), y)" in caught.value.hint


def test_models_and_questions_that_need_dense_data_say_so():
    given = {"w": np.ones(12), "sigma": np.ones(12), "w_cap": 1.0, "m": 2}
    asks = [lambda: fsopt.radius_path(SPARSE)]
    for slug in MODELS.keys() - {"l1-hinge-part", "fsp-master"}:
        trial = MODELS[slug].trial.params
        params = dict(trial) or {k: v for k, v in given.items() if k in MODELS[slug].parameters}
        asks.append(partial(fsopt.build, slug, SPARSE, **params))
    for ask in asks:
        with pytest.raises(DataError, match="needs dense data"):
            ask()


DATA = blobs(24, 4, gap=0.8, seed=3)
COUNTS = np.random.default_rng(1).integers(1, 5, DATA.n)
WEIGHTED = DATA.weighted(sample_weight=COUNTS)
REPEATED = DATA.rows(np.repeat(np.arange(DATA.n), COUNTS))
CASES = {
    "gmeb": {"r_plus": 1.0, "r_minus": 2.0},
    "gmeb by cuts": {"r_plus": 1.0, "r_minus": 2.0, "route": "theta-cuts"},
    "svm": {},
    "svm without a model": {},
    "onsvm without a model": {},
    "gbd-lambda": {"lam": 2.0},
    "best-subset": {"m": 4, "c": 0.1},
    "rsvm": {"w_cap": 1.0},
    "rsvm with a kernel": {"kernel": "gaussian", "w_cap": 5.0, "width": 2.0},
    "rfe": {"m": 2},
    "infogain": {"m": 2},
}


@pytest.mark.parametrize("case", sampled(CASES, 6))
def test_whole_weights_are_repeated_samples_and_the_check_needs_them(case):
    name, params = case.split()[0], CASES[case]
    fit_of = without_model if case.endswith("without a model") else fsopt.fit
    weighted, repeated = fit_of(name, WEIGHTED, **params), fit_of(name, REPEATED, **params)
    assert weighted.objective == pytest.approx(repeated.objective, rel=1e-6)
    if weighted.kernel is None:
        assert weighted.support == repeated.support
        assert weighted.decision_function(DATA) == pytest.approx(repeated.decision_function(DATA), abs=1e-4)
    assert weighted.status == repeated.status
    if weighted.bound is not None:
        assert weighted.bound == pytest.approx(repeated.bound, rel=1e-5)
    record = as_read(weighted, WEIGHTED)
    found = verify_record(record, WEIGHTED, "fit.json")
    assert found.verified, found.certificate
    for other in (DATA, DATA.weighted(sample_weight=COUNTS[::-1])):
        with pytest.raises(fsopt.FsoptError, match="other data"):
            verify_record(record, other, "fit.json")
        try:
            found = verify_record(as_read(weighted, other), other, "fit.json").verified
        except FileError:  # cuts that are not dual feasible at these weights
            found = False
        assert not found


def test_class_weights_of_fsv_multiply_the_mean_errors_of_their_class():
    fit = fsopt.fit("fsv", DATA, class_weight={-1: 2.0, 1: 0.5}, lam=0.02)
    errors = np.maximum(1 - DATA.y * fit.decision_function(DATA.X), 0)
    loss = 0.5 * errors[DATA.y > 0].mean() + 2.0 * errors[DATA.y < 0].mean()
    w = fit.coef * DATA.X.std(axis=0)
    assert fit.objective == pytest.approx(0.98 * loss - 0.02 * np.expm1(-5.0 * np.abs(w)).sum(), rel=1e-6)
    assert fsopt.verify(fit, DATA.weighted({-1: 2.0, 1: 0.5})).verified


def test_a_method_without_weights_refuses_them():
    for name in ("mpm", "s-mpm", "misclass", "mopfs", "pmm", "gmeb-penalised"):
        with pytest.raises(ParameterError, match=f"method '{name}' has no place for weights"):
            fsopt.fit(name, DATA, class_weight="balanced")
    with pytest.raises(ParameterError, match="one weight for each class"):
        fsopt.fit("fsv", WEIGHTED)
    with pytest.raises(ParameterError, match="model 'mpm' has no place"):
        fsopt.build("mpm", WEIGHTED)
