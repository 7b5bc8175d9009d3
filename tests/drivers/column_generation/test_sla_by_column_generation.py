"""SLA by column generation: the hyperplanes of whole programs, and a minimum principle that can be refused."""

import dataclasses
import json

import numpy as np
import pytest
from scipy.optimize import linprog
from support import blobs, reference

import fsopt
from fsopt.answers.fits import fit_record
from fsopt.answers.results import Status
from fsopt.drivers.column_generation.driver import column_generation
from fsopt.drivers.column_generation.settings import GenerationSettings
from fsopt.drivers.sla import RESTARTS
from fsopt.errors import FileError, ParameterError
from fsopt.methods import large_programs
from fsopt.models.sla.step_function import step_costs
from fsopt.solvers.base import Session
from fsopt.verification.checking import check_record

ALPHA = 5.0
DATA = blobs(40, 3, seed=2)


def costs_at(data, fit, lam):
    """Return the costs of samples and features of the linearisation at a fit on unscaled data, and its value there."""
    errors = np.maximum(1 - data.y * (data.X @ fit.coef + fit.intercept), 0)
    if lam is None:
        d, c = step_costs(ALPHA, errors), np.zeros(data.p)
    else:
        d = (1 - lam) / np.where(data.y > 0, np.sum(data.y > 0), np.sum(data.y < 0))
        c = lam * step_costs(ALPHA, np.abs(fit.coef))
    return d, c, float(d @ errors + c @ np.abs(fit.coef))


def least(data, d, c):
    """Return the optimum of the linearised program by scipy."""
    yX = data.X * data.y[:, None]
    rows = np.hstack([-yX, yX, -data.y[:, None], data.y[:, None], -np.eye(data.n)])
    return linprog(np.r_[c, c, 0, 0, d], rows, -np.ones(data.n)).fun


@pytest.mark.parametrize(
    ("data", "method", "lam"),
    [(DATA, "misclass", None), (DATA, "fsv", 0.3), (reference("sla_g2"), "fsv", 0.05)],
    ids=["misclass", "fsv", "fsv, golden"],
)
def test_the_answer_satisfies_the_minimum_principle(data, method, lam):
    params = {"scale": "none"} | ({} if lam is None else {"lam": lam})
    ours = fsopt.fit(method, data, generate=True, **params)
    assert ours.status is Status.STATIONARY
    if lam != 0.3:  # There the first programs have ties, and lead to different answers.
        assert ours.objective == pytest.approx(fsopt.fit(method, data, generate=False, **params).objective, rel=1e-7)
    d, c, here = costs_at(data, ours, lam)
    assert least(data, d, c) >= here - 1e-6 * (1 + here)
    assert (ours.details["alpha"] >= 0).all()
    values = [h["objective"] for h in ours.history]
    if len(ours.details["starts"]) == 1:
        assert np.all(np.diff(values[:-1]) < 0)


@pytest.mark.parametrize("method", ["misclass", "fsv"])
def test_restarts_keep_the_best_and_are_reproducible(method):
    data = blobs(60, 4, seed=7)
    three, again = (fsopt.fit(method, data, n_starts=3, seed=3, generate=True) for _ in range(2))
    values = three.details["starts"]
    assert len(values) == 3
    assert three.objective == min(values)
    assert values[0] == fsopt.fit(method, data, generate=True).objective
    assert values == again.details["starts"]
    assert len(set(values)) > 1


def test_a_start_that_ends_at_zero_is_told_and_tried_again():
    fit = fsopt.fit("fsv", DATA, lam=0.9, generate=True)
    assert any("w = 0" in warning and str(RESTARTS) in warning for warning in fit.warnings)
    assert len(fit.details["starts"]) == 1 + RESTARTS


def test_a_later_start_that_ends_at_zero_is_not_tried_again():
    """There all samples are of the larger class."""
    rng = np.random.default_rng(14)
    y = np.where(np.arange(24) < 9, -1.0, 1.0)
    data = fsopt.Dataset(rng.standard_normal((24, 2)) + 0.5 * y[:, None], y)
    fit = fsopt.fit("misclass", data, scale="none", n_starts=2, seed=1, generate=True)
    better, at_zero = fit.details["starts"]
    assert better < at_zero == pytest.approx(9.0 * (1.0 - np.exp(-2.0 * ALPHA)))


def test_auto_takes_it_for_large_data_only_and_another_word_is_refused(monkeypatch):
    assert "alpha" not in fsopt.fit("fsv", DATA).details
    monkeypatch.setattr(large_programs, "LONG", 50)
    monkeypatch.setattr(large_programs, "LARGE", 500)
    wide = blobs(40, 60)
    # Columns without a cost are all kept: nothing is gained where there are many.
    assert "alpha" not in fsopt.fit("misclass", wide).details
    assert "alpha" in fsopt.fit("fsv", wide).details
    assert "alpha" in fsopt.fit("onsvm", wide).details
    with pytest.raises(ParameterError, match="generate is 'yes'"):
        fsopt.fit("misclass", DATA, generate="yes")


def test_the_time_limit_leaves_a_point_that_claims_nothing():
    fit = fsopt.fit("misclass", DATA, generate=True, time_limit=1e-9)
    assert (fit.status, fit.stop) == (Status.FEASIBLE, "time-limit")
    assert fit.iterations == 1
    assert np.isfinite(fit.objective)


@pytest.mark.parametrize("method", ["misclass", "fsv"])
def test_a_corrupted_saved_answer_is_not_verified(method):
    # At alpha = 5 most errors of this hyperplane cost nothing, and no multipliers are needed.
    record = fit_record(fsopt.fit(method, DATA, alpha=0.5, generate=True), data=DATA, source="blobs")
    record = json.loads(json.dumps(record))
    assert check_record(record, DATA, "file").verified
    details, params, coef = record["details"], record["params"], record["coef"]
    changes = {
        "objective": {"objective": 0.999 * record["objective"]},
        "coef": {"coef": [coef[0], 1.001 * coef[1], coef[2]]},
        "multipliers": {"details": {**details, "alpha": [0.9 * v for v in details["alpha"]]}},
        "alpha": {"params": {**params, "alpha": 0.6}},
    }
    for name, change in changes.items():
        assert not check_record({**record, **change}, DATA, "file").verified, name
    other = {**record, "params": {**params, "lam": 0.07}}
    if method == "misclass":
        with pytest.raises(FileError, match="lam"):  # not one of its parameters
            check_record(other, DATA, "file")
    else:
        assert not check_record(other, DATA, "file").verified


def test_a_restricted_answer_that_is_not_quite_feasible_is_as_good_as_any(monkeypatch):
    """Everything is proved on the whole data: HiGHS left 1.2e-6 in a row, above what counts as feasible."""
    solve = Session.solve
    monkeypatch.setattr(
        Session, "solve", lambda self, **given: dataclasses.replace(solve(self, **given), status=Status.NONE)
    )
    data = blobs(60, 5, seed=3)
    result = column_generation(data, np.ones(60), np.ones(5), settings=GenerationSettings(rows=6, columns=2))
    monkeypatch.undo()
    assert result.status is Status.OPTIMAL
    assert result.objective == pytest.approx(fsopt.solve(fsopt.build("onsvm", data)).objective, rel=1e-8)
