"""The interior point: the optimum of the model in both shapes, on degenerate data, and its limits."""

import itertools

import numpy as np
import pytest
from support import blobs, sampled

import fsopt
from fsopt.answers.fits import fit_record
from fsopt.common import clock
from fsopt.data import Dataset
from fsopt.drivers.run import Run
from fsopt.errors import OutOfTimeError
from fsopt.linear import interior_point, pieces
from fsopt.linear.certificate import certify
from fsopt.linear.interior_point import minimise
from fsopt.linear.penalties import SQUARES, Euclid, Norm, Squares, capped
from fsopt.methods import large_programs
from fsopt.verification.verify import verify_record


def duplicated(n, p):
    """Integers, samples and features twice, a constant feature."""
    rng = np.random.default_rng(5)
    X = rng.integers(0, 3, size=(n, p)).astype(float)
    X = np.vstack([np.hstack([X, X[:, :1]])] * 2)
    X[:, 1] = 1.0
    return Dataset(X, np.where(rng.random(2 * n) < 0.3, 1.0, -1.0))


CASES = {
    "long": blobs(60, 5),
    "wide": blobs(20, 80),
    "square": blobs(25, 25),
    "separable": blobs(40, 3, gap=6.0),
    "degenerate": duplicated(30, 4),
    "one sample of a class": Dataset(blobs(9, 2).X, np.where(np.arange(9) == 4, 1.0, -1.0)),
}


HALF_NORM = Norm(Euclid(), 0.5)
MACHINES = {
    "svm": ("c", lambda c: (SQUARES, c), (1e-4, 1.0, 1e4)),
    "rsvm": ("w_cap", lambda w_cap: (capped(w_cap), 1.0), (1e-3, 0.3, 2.0, 1e4)),
    "svm-norm": ("c", lambda c: (HALF_NORM, c), (1e-4, 1e-2, 1.0, 1e3)),
}


@pytest.mark.parametrize(("model", "name"), sampled(itertools.product(MACHINES, CASES), 9, 0))
def test_the_optimum_is_that_of_the_model(model, name):
    data, (parameter, machine, values) = CASES[name], MACHINES[model]
    # With features that depend on each other and a multiplier near 0, one kernel of BLAS had stalled at a gap of 1e-6.
    for value in values if name in ("long", "degenerate") else values[::2]:
        given = {parameter: value}
        penalty, c = machine(value)
        found = minimise(data, penalty, c=c)
        assert (found.status, found.stop) == ("optimal", "optimal"), (given, found.certificate)
        expected = fsopt.solve(fsopt.build(model, data, **given)).objective
        assert found.objective == pytest.approx(expected, rel=1e-5, abs=1e-8 if model == "svm" else 1e-5), given
        assert found.bound * (1 - 1e-12) <= found.objective, given
        assert found.objective <= found.bound + 1e-6 * max(1.0, abs(found.objective)), given
        if model == "rsvm":
            assert found.point["w"] @ found.point["w"] <= value * (1 + 1e-9)


def test_a_limit_leaves_a_hyperplane_and_a_bound_that_hold(monkeypatch):
    data = blobs(200, 4)
    best = minimise(data).objective
    monkeypatch.setattr(interior_point, "GOALS", (0.1,))
    short = minimise(data)
    assert (short.status, short.stop, short.iterations) == ("feasible", "stalled", 1)
    assert 0.9 * best < short.bound <= best <= short.objective
    assert minimise(data, run=Run(time_limit=1e-9)).stop == "time-limit"


@pytest.mark.parametrize("units", [1e-6, 1e6, 10.0 ** np.linspace(-8, 8, 5)], ids=["small", "large", "wild"])
@pytest.mark.parametrize("penalty", [SQUARES, HALF_NORM], ids=["squares", "norm"])
def test_the_units_of_the_data_do_not_matter(penalty, units):
    data = CASES["long"]
    found = minimise(Dataset((data.X + 1e3) * units, data.y), penalty)
    assert found.status == "optimal", (found.stop, found.certificate)


def test_the_exact_interval_of_multipliers_with_an_unsquared_norm_is_narrow(monkeypatch):
    monkeypatch.setattr(large_programs, "INTERIOR", 1)
    for c in (1e-3, 1.0):
        fit = fsopt.fit("svm-norm", CASES["long"], c=c)
        checked = fsopt.verify(fit, CASES["long"], exact=True)
        assert (fit.solver, checked.word) == ("fsopt", "verified exactly")
        forged = fit_record(fit, data=CASES["long"], source="drawn")
        forged["objective"] = forged["objective"] * 0.9
        assert not verify_record(forged, CASES["long"], "drawn").verified


def test_the_bases_of_wide_data_have_the_optimum_also_in_units_over_many_orders(monkeypatch):
    rng = np.random.default_rng(0)
    wild = Dataset(rng.normal(size=(12, 40)) * 10.0 ** rng.uniform(-8, 8, 40), np.where(np.arange(12) % 3, 1.0, -1.0))
    for found in (minimise(wild, c=1e4), minimise(wild, capped(1e10))):
        assert (found.status, found.objective) == ("optimal", pytest.approx(0.0, abs=1e-9))
    for c in (1e-2, 1.0):  # of larger data the basis is of some of the samples
        expected = minimise(CASES["wide"], c=c)
        with monkeypatch.context() as context:
            context.setattr(interior_point, "PIECE", 0)
            found = minimise(CASES["wide"], c=c)
        assert found.status == "optimal"
        assert found.objective == pytest.approx(expected.objective, rel=1e-7)
        np.testing.assert_allclose(found.point["w"], expected.point["w"], atol=1e-4)


A = np.random.default_rng(0).standard_normal((90, 41))


@pytest.fixture
def small_pieces(monkeypatch):
    monkeypatch.setattr(pieces, "PIECE", 0)
    monkeypatch.setattr(pieces, "FEWEST", 7)


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("p", [1, 8, 17, 41])
def test_products_in_pieces_are_those_in_one_and_end_with_the_clock(p):
    matrix = A[:, :p].T @ A[:, :p]
    for order in "CF":
        assert np.allclose(np.tril(pieces.gram(np.array(A[:, :p], order=order))), np.tril(matrix), atol=1e-13)
    with clock.limited(0.0), pytest.raises(OutOfTimeError):
        pieces.gram(A)
    matrix[-1, -1] = -1.0
    assert pieces.cholesky(matrix) is None


def test_a_gram_matrix_has_the_certificate_of_its_samples():
    data = blobs(30, 4, gap=0.5)
    centred = Dataset(data.X - data.X.mean(axis=0), data.y)
    gram = Dataset(centred.X @ centred.X.T, data.y)
    for penalty, of_gram, c in ((SQUARES, Squares(gram.X), 2.0), (capped(0.7), capped(0.7, gram.X), 1.0)):
        at = minimise(centred, penalty, c=c).point
        beta = np.linalg.lstsq(centred.X.T, at["w"], rcond=None)[0]
        one = certify(centred, penalty, c, at["w"], at["b"], at["alpha"])
        other = certify(gram, of_gram, c, beta, at["b"], at["alpha"], gram=True)
        assert one.ok
        assert not certify(centred, penalty, c, at["w"] + 0.01, at["b"], at["alpha"]).ok
        assert not certify(centred, penalty, c, at["w"], at["b"], 0.99 * at["alpha"]).ok
        assert (other.objective, other.bound) == pytest.approx((one.objective, one.bound), rel=1e-9)
