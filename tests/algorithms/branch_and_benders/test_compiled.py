"""The compiled functions of a node beside their twins in numpy, as Python code, and once compiled in a whole search."""

import importlib
import itertools
import json
import os
import subprocess
import sys
from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pytest
from selection_cases import KINDS, NOISE, allowed_values, drawn, problem_of
from support import blobs

from fsopt.algorithms.branch_and_benders import compiled, cuts, machines, relaxation
from fsopt.algorithms.branch_and_benders import interior_point as plain
from fsopt.algorithms.branch_and_benders.cuts import make_cut, on_grid, valid_grid
from fsopt.algorithms.branch_and_benders.driver import branch_and_benders
from fsopt.algorithms.branch_and_benders.interior_point import Goal
from fsopt.algorithms.branch_and_benders.machines import Machines, Neighbours
from fsopt.algorithms.branch_and_benders.node_programs import node_program
from fsopt.algorithms.branch_and_benders.nodes import NodeSolver
from fsopt.algorithms.branch_and_benders.problem import Partial
from fsopt.algorithms.branch_and_benders.search import SelectionSearch
from fsopt.common import clock
from fsopt.data import Dataset

pytest.importorskip("numba")
kernels = importlib.import_module("fsopt.algorithms.branch_and_benders.kernels.interior_point")
LOSSES = "hinge", "squared-hinge", "logistic"
GOALS = Goal(1e-9), Goal(1e-4, branch=0.5, cutoff=1e3), Goal(1e-9, cutoff=0.5)


@pytest.fixture(autouse=True)
def quiet():
    """Quotients by 0 are infinite, without a warning, in compiled code."""
    with np.errstate(all="ignore"):
        yield


def nodes_of(problem, rng, count=2):
    yield problem.root()
    for _ in range(count):
        draw = rng.uniform(size=problem.p)
        at = problem.propagated(Partial(problem.fixed.inside | (draw < 0.2), problem.fixed.outside | (draw > 0.8)))
        if at is not None and not np.any(at.inside & at.outside):
            yield at


def weighted(data, rng):
    return Dataset(data.X, data.y, weights=rng.choice([0.5, 1.0, 3.0], data.n))


STEPS = [("cardinality", 0, "hinge"), ("budget", 0, LOSSES[1]), ("include", 2, LOSSES[1]), ("lambda", 2, "hinge")]


@pytest.mark.parametrize(("kind", "seed", "loss"), STEPS)
def test_steps_and_warm_starts_are_those_of_numpy(kind, seed, loss):
    data, c, limits = drawn(kind, seed)
    rng = np.random.default_rng(seed)
    problem = problem_of(weighted(data, rng) if seed == 2 else data, c, limits, loss)
    parent = NodeSolver(problem).solve(problem.root(), None, Goal(1e-3)).hyperplane
    margins = problem.scores(parent.w) + parent.b * problem.y
    compared = 0
    for at in nodes_of(problem, rng):
        features = np.flatnonzero(at.free)
        program = node_program(problem, at, features, None)
        assert compiled.suits(program)
        columns = np.concatenate([np.flatnonzero(at.inside), features])
        given = np.append(parent.w[columns], parent.b), parent.sigma[features], margins
        for alpha in (parent.alpha, None):
            ours, numpys = compiled.warm(program, *given, alpha), relaxation.warm(program, *given, alpha)
            np.testing.assert_allclose(ours.x, numpys.x, rtol=1e-9, atol=1e-12)
            np.testing.assert_allclose(ours.z, numpys.z, rtol=1e-7, atol=1e-9)
            np.testing.assert_allclose(ours.q, numpys.q, rtol=1e-9, atol=1e-10)
            for goal in GOALS:
                starts = [relaxation.warm(program, *given, alpha) for _ in range(2)]
                found, expected = compiled.solve(program, goal, starts[0]), plain.solve(program, goal, starts[1])
                assert (found is None) == (expected is None)
                if expected is not None:
                    assert found.bound == pytest.approx(expected.bound, rel=1e-6, abs=1e-9)
                    np.testing.assert_allclose(found.mu, expected.mu, rtol=1e-3, atol=1e-6)
                    compared += 1
    assert compared > 3


@pytest.mark.parametrize("seed", range(2))
def test_cold_steps_bound_all_selections_of_a_node(seed):
    data, c, limits = drawn("cardinality", seed)
    problem = problem_of(data, c, limits)
    values = allowed_values(data, c, limits)
    found = NodeSolver(problem, compiled=True).solve(problem.root(), None, Goal(1e-9))
    expected = NodeSolver(problem).solve(problem.root(), None, Goal(1e-9))
    assert found.bound == pytest.approx(expected.bound, rel=1e-8)
    assert found.bound <= min(values.values()) * (1 + 1e-9)
    best = np.array(min(values, key=values.get), dtype=bool)
    alone = NodeSolver(problem, compiled=True).solve(Partial(best, ~best), None, Goal(1e-10))
    assert alone.bound == pytest.approx(min(values.values()), rel=1e-7)


@pytest.mark.parametrize(
    ("kind", "loss", "kept"),
    [
        ("cardinality", "hinge", 10**6),
        ("budget", "hinge", 12),
        ("budget", "squared-hinge", 10**6),
        ("lambda", "squared-hinge", 12),
    ],
)
def test_machines_on_neighbours_are_those_of_numpy(kind, loss, kept, monkeypatch):
    data, c, limits = drawn(kind, 0)
    problem = problem_of(data, c, limits, loss)
    values = allowed_values(data, c, limits, loss)
    monkeypatch.setattr(machines, "NEAREST", kept)
    start = np.flatnonzero(max(values, key=lambda one: (sum(one), values[one])))
    at = Machines(problem).best(start[None, :], np.inf)
    expected = Neighbours.of(problem, at)
    monkeypatch.setattr(machines, "exchanges", lambda: True)

    def called(rows, *others, kernel=kernels.machines):
        assert rows.flags.c_contiguous  # another layout would be compiled anew
        return kernel(rows, *others)

    monkeypatch.setattr(kernels, "machines", called)
    found = Neighbours.of(problem, at, compiled=True)
    assert found.margins is not None
    assert expected.margins is None
    np.testing.assert_allclose(found.bound, expected.bound, rtol=1e-5)
    outside = np.setdiff1d(np.arange(problem.p), at.features)
    least = np.inf
    for place in range(len(start) + 1):
        for other in outside:
            ours, numpys = (one.best(np.array([place]), np.array([other]), np.inf) for one in (found, expected))
            assert ours.value == pytest.approx(numpys.value, rel=1e-5 if kept > data.n else 1e-3)
            assert list(ours.features) == list(numpys.features)
            least = min(least, numpys.value)
    # A cutoff below all of them: no machine is solved to its end, and none counts.
    places = np.zeros(len(outside), dtype=int)
    assert found.best(places, outside, 0.5 * least) is None


def test_programs_of_other_kinds_are_left_to_numpy():
    data = blobs(30, 6, seed=1)
    several = problem_of(data, 1.0, {"m": 3, "conflicts": [[0, 1], [1, 2]]})
    logistic = problem_of(data, 1.0, {"m": 3}, "logistic")
    wide = problem_of(blobs(6, 10, seed=1), 1.0, {"m": 3})
    for problem in (several, logistic, wide):
        at = problem.root()
        program = node_program(problem, at, np.flatnonzero(at.free), None)
        assert not compiled.suits(program)
        assert compiled.solve(program, Goal(1e-9)).bound == plain.solve(program, Goal(1e-9)).bound


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kind", KINDS)
def test_cuts_and_their_bounds_are_those_of_numpy(kind, loss):
    data, c, limits = drawn(kind, 0)
    rng = np.random.default_rng(0)
    problem = problem_of(weighted(data, rng), c, limits, loss)
    alpha = rng.uniform(-0.2, 1.2, problem.n) * np.max(problem.caps) * rng.uniform(0.0, 1.0)
    grid, mu = on_grid(alpha, problem.y, problem.caps), rng.exponential(1.0, len(problem.r))
    ours, cut = compiled.make_cut(problem, 7, grid, mu), make_cut(problem, 7, grid, mu)
    assert ours.name == cut.name == 7
    assert ours.constant == pytest.approx(cut.constant, rel=1e-12, abs=1e-12)
    np.testing.assert_allclose(ours.gains, cut.gains, rtol=1e-11, atol=1e-11)
    for at in nodes_of(problem, rng, 6):
        ours, numpys = compiled.bound(problem, cut, at), cuts.bound(problem, cut, at)
        assert ours.value == pytest.approx(numpys.value, rel=1e-12, abs=1e-12)
        free = at.free
        np.testing.assert_allclose(ours.if_selected[free], numpys.if_selected[free], rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(ours.if_not[free], numpys.if_not[free], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_multipliers_on_the_grid_are_feasible_and_those_of_numpy(seed):
    rng = np.random.default_rng(seed)
    data = blobs(int(rng.integers(4, 60)), 3, seed=seed)
    problem = problem_of(weighted(data, rng) if seed % 2 else data, float(rng.choice([0.3, 1.0, 32.0])), {"m": 2})
    alpha = rng.uniform(-0.5, 1.5, problem.n) * problem.c
    ours, numpys = compiled.on_grid(alpha, problem.y, problem.caps), on_grid(alpha, problem.y, problem.caps)
    assert (ours is None) == (numpys is None)
    if ours is not None:
        assert valid_grid(ours, problem.y, problem.tops)
        assert np.abs(ours.astype(int) - numpys).max() <= 1
    none = np.where(problem.y > 0, problem.c, 0.0)  # one class alone: nothing takes the difference but the class itself
    assert valid_grid(compiled.on_grid(none, problem.y, problem.caps), problem.y, problem.tops)


@pytest.fixture
def spend(monkeypatch):
    """Return a function that sets the CPU seconds of the searches so far, and what of the modules is compiled."""
    monkeypatch.setattr(compiled, "available", lambda: True)

    def given(seconds, kept=False):
        monkeypatch.setattr(compiled, "_past", seconds)
        monkeypatch.setattr(compiled, "_kept", kept if callable(kept) else lambda *_: kept)

    return given


def test_a_search_goes_on_compiled_unless_compiling_would_pass_its_time_limit(spend):
    for seconds, kept, limit, goes_on in (
        (0.99 * compiled.COMPILE, False, None, False),
        (compiled.COMPILE, False, None, True),
        (compiled.COMPILE, False, 3600.0, True),
        (compiled.COMPILE, False, 5.0, False),
        (compiled.COMPILE, True, 5.0, True),
        (compiled.IMPORT, True, 5.0, True),
        (0.99 * compiled.IMPORT, True, None, False),  # a short search has no time for an import
        (compiled.COMPILE, None, None, False),  # every process would compile again
    ):
        spend(seconds, kept)
        with clock.limited(limit) if limit else nullcontext():
            assert compiled.go_on() is goes_on, (seconds, kept, limit)


def test_exchanges_compile_nothing_within_a_short_limit_though_the_nodes_are_compiled(spend):
    spend(compiled.COMPILE, lambda name: name == "run")
    assert compiled.exchanges()
    with clock.limited(5.0):
        assert compiled.go_on()
        assert not compiled.exchanges()
    spend(compiled.IMPORT, lambda name: name == "run")
    assert not compiled.exchanges()
    spend(compiled.IMPORT, kept=True)
    assert compiled.exchanges()


def test_searches_count_together(monkeypatch, spend):
    ticks = itertools.count()
    monkeypatch.setattr(compiled, "thread_time", lambda: float(next(ticks)))
    monkeypatch.setattr(compiled, "COMPILE", 7.0)
    spend(0.0)
    for answers in ([False, False, False], [False, False, True]):
        with compiled.counted():
            assert [compiled.go_on() for _ in range(3)] == answers
    assert compiled.go_on()


def test_a_search_changes_over_when_its_seconds_have_passed_and_has_the_same_answer(monkeypatch, spend):
    """A second passes between two looks at the clock."""
    problem = problem_of(NOISE, 1.0, {"m": 3})
    visit, visits, answers, ticks = SelectionSearch._branch, [], [], itertools.count()
    monkeypatch.setattr(compiled, "thread_time", lambda: float(next(ticks)))
    monkeypatch.setattr(
        SelectionSearch, "_branch", lambda self, node: visits.append(self.solver.compiled) or visit(self, node)
    )
    for seconds in (np.inf, 8.0):
        visits.clear()
        monkeypatch.setattr(compiled, "COMPILE", seconds)
        spend(0.0)
        answers.append(branch_and_benders(problem))
        assert visits == sorted(visits)
        assert set(visits) == {False, seconds < np.inf}
    assert answers[0].status == answers[1].status
    assert answers[0].objective == pytest.approx(answers[1].objective, rel=1e-9)


SEARCH = """
import json, sys
from fsopt.algorithms.branch_and_benders import compiled
from fsopt.algorithms.branch_and_benders.driver import branch_and_benders
from fsopt.algorithms.branch_and_benders.problem import BranchSettings
from selection_cases import NOISE, problem_of
from fsopt.common import clock
assert compiled.available()
answers = []
for seconds in (float('inf'), 0.0):
    compiled.IMPORT = compiled.COMPILE = seconds
    for loss in ("hinge", "squared-hinge"):
        problem = problem_of(NOISE, 1.0, {"m": 5}, loss)
        result = branch_and_benders(problem, settings=BranchSettings(tolerance=1e-4))
        answers.append([result.status.value, result.objective, result.bound, result.history[-1]["solved"]])
    assert ("numba" in sys.modules) == (seconds == 0.0)  # a short search does not import it
with clock.limited(1.0):
    assert compiled.go_on()  # what is compiled costs no time
print(json.dumps(answers))
"""


@pytest.mark.parametrize("mine", [True, False])
def test_functions_are_kept_only_in_a_folder_of_this_user_alone(mine, tmp_path, monkeypatch):
    from fsopt.algorithms.branch_and_benders.kernels import arrays

    asked = []

    def njit(function, cache=False, **settings):
        asked.append(cache)
        return SimpleNamespace(stats=SimpleNamespace(cache_path=str(tmp_path)))

    monkeypatch.setattr(arrays.numba, "njit", njit)
    tmp_path.chmod(0o700 if mine else 0o777)
    arrays.kernel(njit)
    assert asked == ([True] if mine else [True, False])


@pytest.mark.slow
def test_a_compiled_search_has_the_optimum_and_nearly_the_tree_of_numpy():
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "0", "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    run = [sys.executable, "-c", SEARCH]
    said = subprocess.run(run, env=environment, capture_output=True, text=True, check=True, timeout=1200).stdout
    *plain, hinge, squared = json.loads(said)
    for plainly, fast in zip(plain, (hinge, squared), strict=True):
        assert plainly[0] == fast[0] == "optimal"
        assert fast[1] == pytest.approx(plainly[1], rel=1e-9)
        assert fast[2] == pytest.approx(plainly[2], rel=1e-4)
        assert fast[3] > 20
        assert fast[3] == pytest.approx(plainly[3], rel=0.2)
