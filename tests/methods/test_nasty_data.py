"""One verdict: no method calls an answer optimal that ``verify`` then refuses, whatever the data."""

import numpy as np
import pytest
from support import sampled

import fsopt
from fsopt.answers.results import Status
from fsopt.errors import DataError, FsoptError

RNG = np.random.default_rng(5)
Y = np.where(np.arange(16) % 2, 1.0, -1.0)
X = RNG.standard_normal((16, 3)) + 0.8 * np.outer(Y, [1.0, 0.6, 0.0])
NEAR = 5.0 + 1e-12 * X[:, :1]
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
    "the other class of one sample": (X, np.r_[-1.0, np.ones(15)]),
    "constant to 10 digits": (5.0 + 1e-10 * X, Y),
    "one column constant to 12 digits": (np.column_stack([X, NEAR]), Y),
    "one constant column": (np.column_stack([X, np.full(16, 3.0)]), Y),
    "constant columns alone": (np.column_stack([np.full(16, 3.0), np.full(16, 0.1)]), Y),
    "duplicate columns": (np.column_stack([X, X]), Y),
    "two samples": (X[:2], Y[:2]),
    "one feature": (X[:, :1], Y),
    "equal samples of a class": (np.outer(ALTERNATING, [1.0, 1.0]), ALTERNATING),
    "equal samples of both classes": (np.vstack([X[:5], X[:5]]), np.repeat([1.0, -1.0], 5)),
    "times 1e-100": (X * 1e-100, Y),
    "one column times 1e-130": (X * [1.0, 1e-130, 1.0], Y),
    "one column times 1e130": (X * [1.0, 1e130, 1.0], Y),
}


@pytest.mark.parametrize("case", sampled(list(NASTY), 2))
@pytest.mark.parametrize("method", list(fsopt.METHODS))
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
OUTSIDE += [({"weights": w}, "weights has values from") for w in (np.r_[1e300, np.ones(15)], np.full(16, 1e-300))]


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


@pytest.mark.parametrize("method", sampled(["svm", "pearson", "gbd"], 2))
def test_a_class_that_weighs_nothing_beside_the_other_is_no_error(method):
    fit = fsopt.fit(method, fsopt.Dataset(X, Y, weights=np.where(Y > 0, 1e100, 1.0)), time_limit=10)
    assert np.isfinite(fit.objective)


def test_scores_that_overflow_are_refused():
    fit = fsopt.fit("svm", X * 1e-100, Y)
    with pytest.raises(DataError, match="the score of row 8 overflows"):
        fit.predict(with_cell(1e300) * 1e-50)


def test_a_classifier_that_rounding_spoils_is_called_feasible_with_its_own_value():
    """Weights of 1e10 and a feature of 5 leave 1e-6 of a score, at which samples on the margin change their side."""
    X10 = np.column_stack([X, 5.0 + 1e-10 * X[:, :1]])
    fit = fsopt.fit("l1-mpm", X10, Y)
    found = fsopt.verify(fit, fsopt.Dataset(X10, Y))
    assert (fit.status == "optimal") == found.verified
    if fit.status == "feasible":
        assert "as it is stated for raw features" in fit.warnings[-1]
        assert fit.bound is None


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("svm", {"c": np.float32(1.5)}),
        ("gmeb", {"r_plus": np.inf}),
        ("best-subset", {"m": np.int64(2), "include": np.array([1])}),
        ("gbd", {"costs": np.array([1, 2, 3]), "budget": np.float32(3.0)}),
    ],
)
def test_parameters_of_numpy_are_no_reason_to_refuse_an_answer(method, params):
    fit = fsopt.fit(method, X, Y, **params)
    assert fit.status == "optimal"
    assert fsopt.verify(fit, fsopt.Dataset(X, Y)).verified
