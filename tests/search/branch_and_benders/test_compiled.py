"""The loops that are compiled beside their twins in numpy, as Python code, and once compiled in a whole search."""

import importlib
import json
import os
import subprocess
import sys
from contextlib import contextmanager, nullcontext

import numpy as np
import pytest
from selection_cases import drawn, problem_of, random_nodes

from fsopt.common import clock
from fsopt.data import Dataset
from fsopt.search.branch_and_benders import compiled, interior_point, newton, relaxation
from fsopt.search.branch_and_benders.interior_point import Goal, solve
from fsopt.search.branch_and_benders.nodes import NodeSolver, node_program
from fsopt.search.branch_and_benders.relaxation import warm_start

pytest.importorskip("numba")
kernels = importlib.import_module("fsopt.search.branch_and_benders.kernels")
LOSSES = "hinge", "squared-hinge", "logistic"
GOALS = Goal(1e-9), Goal(1e-4, branch=0.5, cutoff=1e3), Goal(1e-9, cutoff=0.5)


@pytest.fixture(autouse=True)
def quiet():
    """Quotients by 0 are infinite, without a warning, in compiled code."""
    with np.errstate(all="ignore"):
        yield


@pytest.fixture
def loops():
    """Return a context in which the loops stand for the functions of arrays, as Python code."""

    def context():
        patch = pytest.MonkeyPatch()
        for module in (interior_point, newton):
            for function, loop in kernels.LOOPS.items():
                if function.__module__ != relaxation.__name__:
                    patch.setattr(module, function.__name__, loop, raising=False)
        patch.setattr(compiled, "go_on", lambda: None)
        for function in (interior_point.run,):
            patch.setitem(relaxation.COMPILED, function, lambda *given, function=function: function(*given))
        return undone(patch)

    return context


@contextmanager
def undone(patch):
    try:
        yield
    finally:
        patch.undo()


STEPS = [
    ("cardinality", 0, "hinge"),
    ("budget", 0, LOSSES[1]),
    ("include", 2, LOSSES[1]),
    ("lambda", 2, "hinge"),
    ("budget", 1, LOSSES[2]),
]


@pytest.mark.parametrize(("kind", "seed", "loss"), STEPS)
def test_steps_are_those_of_numpy(kind, seed, loss, loops):
    data, c, limits = drawn(kind, seed)
    rng = np.random.default_rng(seed)
    weights = rng.choice([0.5, 1.0, 3.0], data.n) if seed == 2 else None
    problem = problem_of(Dataset(data.X, data.y, weights=weights), c, limits, loss)
    parent = NodeSolver(problem).solve(problem.root(), None, Goal(1e-3)).hyperplane
    margins = problem.scores(parent.w) + parent.b * problem.y
    compared = 0
    for at in [problem.root(), *random_nodes(problem, rng, 2)]:
        features = np.flatnonzero(at.free)
        program = node_program(problem, at, features, None)
        columns = np.concatenate([np.flatnonzero(at.inside), features])
        hyperplane, given = np.append(parent.w[columns], parent.b), (parent.sigma[features], margins)
        for alpha in (parent.alpha.astype(float), np.full(problem.n, -1.0)):
            for goal in GOALS:
                first, second = (warm_start(program, hyperplane.copy(), *given, alpha) for _ in range(2))
                expected = solve(program, goal, first)
                with loops():
                    found = solve(program, goal, second)
                assert (found is None) == (expected is None)
                if expected is not None:
                    assert found.bound == pytest.approx(expected.bound, rel=1e-6, abs=1e-9)
                    np.testing.assert_allclose(found.mu, expected.mu, rtol=1e-3, atol=1e-6)
                    compared += 1
    assert compared > 3


@pytest.fixture
def spend(monkeypatch):
    """Return a function that sets the CPU seconds of the searches so far, and what of the functions is compiled."""
    monkeypatch.setattr(compiled, "available", lambda: True)
    monkeypatch.setattr(relaxation, "COMPILED", {})
    monkeypatch.setattr(compiled, "COMPILED", relaxation.COMPILED)
    monkeypatch.setattr(kernels, "compiled", lambda function: lambda *given: function(*given))

    def given(seconds, kept=False):
        monkeypatch.setattr(compiled, "_past", seconds)
        monkeypatch.setattr(compiled, "_asked", set())
        monkeypatch.setattr(compiled, "_kept", lambda *_: kept)

    return given


def on():
    """Return whether a search goes on with compiled functions."""
    compiled.go_on()
    assert len(relaxation.COMPILED) in (0, len(relaxation.ENTRIES))
    return relaxation.fast(interior_point.run) is not interior_point.run


def test_a_search_goes_on_compiled_unless_compiling_would_pass_its_time_limit(spend):
    for seconds, kept, limit, goes_on in (
        (0.99 * compiled.IMPORT, True, None, False),  # a short search has no time for an import
        (0.99 * compiled.COMPILE, False, None, False),
        (compiled.COMPILE, False, None, True),
        (compiled.COMPILE, False, 3600.0, True),
        (compiled.COMPILE, False, 0.9 * compiled.LONG, False),
        (compiled.COMPILE, True, 5.0, True),
        (compiled.COMPILE, None, None, False),  # every process would compile again
        (compiled.IMPORT, True, 5.0, True),
    ):
        spend(seconds, kept)
        with clock.limited(limit) if limit else nullcontext():
            assert on() is goes_on, (seconds, kept, limit)


SEARCH = """
import json, sys
from fsopt.search.branch_and_benders import compiled, relaxation
from fsopt.search.branch_and_benders.driver import branch_and_benders
from fsopt.search.branch_and_benders.problem import BranchSettings
from selection_cases import NOISE, problem_of
from fsopt.common import clock
assert compiled.available()
answers = []
for seconds in (float('inf'), 0.0):
    compiled.IMPORT = compiled.COMPILE = seconds
    compiled._asked.clear()
    for loss, rules in (("hinge", {}), ("squared-hinge", {}), ("logistic", {}), ("hinge", {"implies": [[0, 3]]})):
        problem = problem_of(NOISE, 1.0, {"m": 5, **rules}, loss)  # the start of several constraints is compiled alone
        result = branch_and_benders(problem, settings=BranchSettings(tolerance=1e-4))
        answers.append([result.status.value, result.objective, result.bound, result.history[-1]["solved"]])
    assert ("numba" in sys.modules) == (seconds == 0.0)  # a short search does not import it
with clock.limited(1.0):
    compiled.go_on()  # what is compiled costs no time
    found = [relaxation.fast(function) for function in relaxation.ENTRIES]
    assert all(len(function.signatures) == 1 for function in found), found
print(json.dumps(answers))
"""


def test_functions_are_kept_where_there_is_a_folder_for_them_and_compiled_anyway(monkeypatch):
    def njit(function, cache=False, **settings):
        if cache:
            raise RuntimeError("no locator available")
        return function

    monkeypatch.setattr("numba.njit", njit)
    assert kernels.compiled.__wrapped__(njit) is njit


@pytest.mark.slow
def test_a_compiled_search_has_the_optimum_and_nearly_the_tree_of_numpy():
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "0", "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    run = [sys.executable, "-c", SEARCH]
    said = subprocess.run(run, env=environment, capture_output=True, text=True, check=True, timeout=1200).stdout
    answers = json.loads(said)
    for plainly, fast in zip(answers[:4], answers[4:], strict=True):
        assert plainly[0] == fast[0] == "optimal"
        assert fast[1] == pytest.approx(plainly[1], rel=1e-9)
        assert fast[2] == pytest.approx(plainly[2], rel=1e-4)
        assert fast[3] > 10
        assert fast[3] == pytest.approx(plainly[3], rel=0.2)
