"""Fits by another route, another solver or step by step are those of the method, whatever ends them."""

import dataclasses
import itertools
import signal

import numpy as np
import pytest
from support import blobs, sampled, without_model

import fsopt
from fsopt.answers.fits import fit_record
from fsopt.answers.results import Status
from fsopt.common import clock
from fsopt.data import gmeb_type1
from fsopt.drivers import working_set
from fsopt.drivers.run import drained
from fsopt.errors import OutOfTimeError, ParameterError, SolverError, UnknownNameError
from fsopt.linear import interior_point
from fsopt.methods import large_programs
from fsopt.methods.large_programs import first_certified
from fsopt.verification.verify import verify_record

DATA = blobs(80, 5, seed=4)


@pytest.fixture
def stalling(monkeypatch):
    """Let data of every size go to an interior point that stalls at a gap of a tenth."""
    monkeypatch.setattr(large_programs, "INTERIOR", 1)
    monkeypatch.setattr(interior_point, "GOALS", (0.1,))


@pytest.mark.parametrize("method", ["svm", "rsvm", "svm-norm", "infogain"])
def test_a_stall_is_left_for_the_model_and_the_fit_says_so(method, stalling):
    fit = fsopt.fit(method, DATA)
    expected = fsopt.fit(method, DATA, solver="clarabel")
    assert fit.objective == pytest.approx(expected.objective, rel=1e-6)
    assert fit.status == expected.status
    assert any("stalled" in warning and "clarabel" in warning for warning in fit.warnings)
    assert verify_record(fit_record(fit, data=DATA, source="drawn"), DATA, "drawn").verified


def test_a_changed_model_is_solved_as_a_model(monkeypatch):
    """What solves no model would not see the change."""

    def heavier(model):
        model.objective.expr = model.objective.expr + 0.5 * model.w[0] ** 2

    monkeypatch.setattr(large_programs, "INTERIOR", 1)
    assert fsopt.fit("svm", DATA, customise={"svm": heavier}).solver == "clarabel"


class Ended:
    objective = 1.0

    def __init__(self, status, stop="optimal", solver="one", bound=None):
        self.status, self.stop, self.solver, self.bound = Status(status), stop, solver, bound


def raising(error):
    def route():
        raise error

    return route


def outcome(answer):
    return answer


def test_the_first_answer_is_kept_where_its_time_is_over():
    late = Ended("feasible", "time-limit")
    assert drained(first_certified([lambda: late, raising(AssertionError())], outcome)) == (late, ())
    stalled = Ended("feasible", "stalled")
    found, warnings = drained(first_certified([lambda: stalled, raising(OutOfTimeError("late", "wait"))], outcome))
    assert found is stalled
    assert "stalled" in warnings[0]
    near, far = (Ended("feasible", "stalled", bound=bound) for bound in (0.9, 0.1))
    assert drained(first_certified([lambda: stalled, lambda: far, lambda: near], outcome))[0] is near


def test_the_error_of_the_first_route_is_that_of_all():
    first = SolverError("first", "hint")
    with pytest.raises(SolverError, match="first"):
        drained(first_certified([raising(first), raising(SolverError("second", "hint"))], outcome))
    good = Ended("optimal", solver="two")
    found, warnings = drained(first_certified([raising(first), lambda: good], outcome))
    assert found is good
    assert warnings == ("first: the answer is that of two",)


WIDE, LONG, FEW = blobs(30, 60, seed=2), blobs(120, 5, seed=3), blobs(16, 30, seed=2)
GENES, APART = gmeb_type1(24, 1, p=40), blobs(30, 60, seed=2, gap=1.0)
WITHOUT_MODEL = [
    *(("svm", {}, data) for data in (WIDE, LONG)),
    *(("l1-mpm", params, FEW) for params in ({"delta": 0.5}, {"scale": "none"}, {"ridge": 0.1})),
    *(
        ("gmeb", {"r_plus": r, "r_minus": 7.0, "route": route}, GENES)
        for r in (2.0, 20.0)
        for route in ("auto", "theta-cuts")
    ),
    ("l0-mpm", {"delta": 0.5}, FEW),
    ("s-mpm", {"lam": 0.9}, APART),
    ("s-mpm", {"lam": 0.25, "ridge": 0.1}, APART),
    ("s-mpm", {"lam": 0.25, "ridge": 0.1}, blobs(60, 12, seed=2, gap=1.0)),
    ("s-mpm", {"lam": 0.25}, blobs(100, 30, seed=2, gap=1.0)),
]


@pytest.mark.parametrize(("method", "params", "data"), sampled(WITHOUT_MODEL, 11))
def test_a_fit_without_a_model_is_that_of_the_model(method, params, data, monkeypatch, tmp_path):
    """By the interior point, or by programs that begin with few features and have some of them at the end."""
    expected = fsopt.fit(method, data, **params)
    monkeypatch.setattr(working_set, "COLUMNS", 4)
    fit = without_model(method, data, **params)
    assert (fit.status, fit.stop, fit.support) == (expected.status, expected.stop, expected.support)
    assert fit.objective == pytest.approx(expected.objective, rel=1e-6, abs=1e-9)
    assert fit.coef == pytest.approx(expected.coef, abs=1e-3 * np.abs(expected.coef).max())
    assert fit.solver == "fsopt" if method == "svm" else len(fit.details.get("columns", ())) < data.p
    fit.save(tmp_path / "fit.json")
    assert fsopt.verify(tmp_path / "fit.json", data).verified


SOLVER_FLAGS_DATA = blobs(14, 3, seed=2, gap=0.4)
PARAMS = {"l0-mpm": {"delta": 0.2}, "l1-mpm": {"delta": 0.2}, "fsv": {"lam": 0.2}, "s-mpm": {"lam": 0.1}}
METHODS = list(fsopt.METHODS)
QUICK = ["l1-svm", "rsvm", "l1-mpm", "best-subset"]
SOLVERS = [name for name, spec in fsopt.SOLVERS.items() if spec.available]


@pytest.mark.parametrize("method", sampled([*QUICK, *(name for name in METHODS if name not in QUICK)], len(QUICK)))
@pytest.mark.parametrize("solvers", [SOLVERS], ids="+".join)
def test_every_solver_gives_the_answer_of_the_default_or_is_refused(method, solvers):
    params = PARAMS.get(method, {"m": 2} if "m" in fsopt.METHODS[method].parameters else {})
    default = fsopt.fit(method, SOLVER_FLAGS_DATA, **params)
    if not fsopt.METHODS[method].solver:
        for solver in solvers:
            with pytest.raises(ParameterError, match=f"'{method}' calls no solver"):
                fsopt.fit(method, SOLVER_FLAGS_DATA, solver=solver, **params)
        return
    taken = []
    for solver in solvers:
        try:
            fit = fsopt.fit(method, SOLVER_FLAGS_DATA, solver=solver, **params)
        except SolverError as error:
            if f"solver '{solver}'" in str(error) or "licence" in str(error):
                continue
            raise
        taken.append(solver)
        assert solver in fit.solver.split("+")
        assert fit.status == default.status or (solver == "pyomo:cbc" and fit.status == "feasible"), solver
        assert fit.objective == pytest.approx(default.objective, rel=1e-6, abs=1e-6), solver
        assert (fit.certificate is None) == (default.certificate is None)
        assert fit.certificate is None or fit.certificate.kind == default.certificate.kind, solver
    assert {"highs", "clarabel"} & set(taken)


STEPPED = blobs(40, 6, seed=2, gap=0.3)
LOOPS = {"best-subset": {"m": 3}, "gbd": {"m": 2}, "vs-ssvm": {"n_partitions": 2}}
LOOPS |= {key: {} for key in ("fsv", "gmeb-penalised", "pmm", "rfe", "s-mpm", "mopfs", "l0-mpm", "misclass")}
LOOPS["gbd-lambda"] = {"lam": 1.0}
"""Methods with a loop, the last four with one that another one has."""


def plain(history):
    return [{k: v for k, v in record.items() if not k.startswith(("seconds", "elapsed"))} for record in history]


def failing(record):
    raise ZeroDivisionError("my plot")


@pytest.mark.parametrize("method", sampled(LOOPS, len(LOOPS) - 4))
def test_the_steps_are_the_history_of_the_fit(method):
    loop = fsopt.steps(method, STEPPED, **LOOPS[method])
    seen = plain(loop)
    whole = fsopt.fit(method, STEPPED, **LOOPS[method])
    assert seen == plain(whole.history)
    fit = loop.stop()
    assert (fit.status, fit.stop, fit.objective) == (whole.status, whole.stop, whole.objective)
    assert next(loop, None) is None


@pytest.mark.parametrize("method", sampled(LOOPS, len(LOOPS) - 4))
def test_every_loop_that_is_stopped_or_whose_progress_fails_at_its_first_step_has_an_incumbent(method):
    loop = fsopt.steps(method, STEPPED, **LOOPS[method])
    next(loop)
    fit = loop.stop()
    assert fit.status.solved
    assert fit.stop == "interrupted"
    assert fsopt.verify(fit, STEPPED).numerically
    with pytest.warns(RuntimeWarning, match=r"progress raised ZeroDivisionError \(my plot\): the loop ends"):
        fit = fsopt.fit(method, STEPPED, progress=failing, **LOOPS[method])
    assert fit.status.solved


@pytest.mark.parametrize(
    ("method", "large"), [("fsv", False), ("fsv", True), ("misclass", False), ("misclass", True), ("l0-mpm", False)]
)
def test_a_loop_that_is_stopped_between_iterates_has_the_last_one_and_is_verified(method, large, monkeypatch):
    for name in ("LONG", "LARGE") if large else ():
        monkeypatch.setattr(large_programs, name, 0)
    data = blobs(60, 5, seed=7, gap=0.2)
    for records in (1, 2, 3):
        loop = fsopt.steps(method, data)
        seen = itertools.islice(loop, records)
        least = min(step["objective"] for step in seen)
        fit = loop.stop()
        assert fit.objective == pytest.approx(least, rel=1e-6)
        assert fsopt.verify(fit, data).numerically


def test_a_loop_that_waits_leaves_limits_and_ctrl_c_to_its_user():
    """Its time limit is not that of the solves of its user, and a search that notes Ctrl-C does so within a step."""
    before = signal.getsignal(signal.SIGINT)
    loops = [fsopt.steps(method, STEPPED, time_limit=1e6, **LOOPS[method]) for method in ("best-subset", "fsv", "rfe")]
    for loop in loops:
        next(loop)
    assert clock.left() is None
    assert signal.getsignal(signal.SIGINT) is before
    for loop in loops:  # interleaved, each with the limits of its own
        assert loop.stop().stop == "interrupted"
    assert clock.left() is None


def test_a_method_of_ones_own_without_steps_takes_part(monkeypatch):
    """Its loop may be a plain call of a driver: progress has the records, and steps has the answer alone."""

    def own(data, run, *, lam: float = 0.05):
        return drained(fsopt.METHODS["fsv"].fit(data, run, lam=lam), run.progress)

    spec = dataclasses.replace(fsopt.METHODS["fsv"], name="own-fsv", fit=own)
    monkeypatch.setitem(fsopt.METHODS.own, "own-fsv", spec)
    told = []
    fit = fsopt.fit("own-fsv", STEPPED, progress=told.append)
    assert plain(told) == plain(fit.history) != []
    loop = fsopt.steps("own-fsv", STEPPED)
    assert list(loop) == []
    assert loop.stop().objective == fit.objective


@pytest.fixture
def without_incumbent(monkeypatch):
    """Return a method of one's own whose loop has a record before it has an answer."""

    def own(data, run, *, lam: float = 0.05):
        yield {"iteration": 1}

    spec = dataclasses.replace(fsopt.METHODS["fsv"], name="own-fsv", fit=own)
    monkeypatch.setitem(fsopt.METHODS.own, "own-fsv", spec)
    return "own-fsv"


def test_what_cannot_be_stopped_says_so(without_incumbent):
    with pytest.raises(SolverError, match="stopped before it had an incumbent"):
        fsopt.steps("fsv", STEPPED).stop()
    loop = fsopt.steps(without_incumbent, STEPPED)
    next(loop)
    with pytest.raises(SolverError, match="stopped before it had an incumbent"):
        loop.stop()
    with pytest.raises(ParameterError, match="takes no progress"):
        fsopt.steps("fsv", STEPPED, progress=print)
    with pytest.raises(UnknownNameError):
        next(fsopt.steps("fvs", STEPPED))
