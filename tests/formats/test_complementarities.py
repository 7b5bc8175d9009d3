"""Complementarities in .nl files: a reader written here for the format's own words makes integer programs of them."""

import numpy as np
import pyomo.environ as pyo
import pytest
from pyomo.mpec import Complementarity, complements
from scipy.optimize import Bounds, LinearConstraint, milp
from support import ROOT, blobs
from truths import fewest_errors, fewest_features

import fsopt

BIG_M = 1e3


def pairs_of(path):
    """Return cost, matrix, ends of rows and variables, and the complementary (row, variable, kind) of an .nl file."""
    lines = iter(path.read_text(encoding="utf-8").splitlines()[10:])
    size = list(map(int, path.read_text(encoding="utf-8").splitlines()[1].split()))
    n, m = size[:2]
    cost, A, ends, pairs = np.zeros(n), np.zeros((m, n)), {"r": [], "b": []}, []
    for line in lines:
        kind, words = line[0], line[1:].split()
        if kind in "CO":
            assert next(lines).startswith("n0")
        elif kind in "GJ":
            target = cost if kind == "G" else A[int(words[0])]
            for _ in range(int(words[1])):
                j, value = next(lines).split()
                target[int(j)] = float(value)
        elif kind == "k":
            [next(lines) for _ in range(int(words[0]))]
        elif kind in "rb":
            for i in range(m if kind == "r" else n):
                how, *numbers = next(lines).split()
                low, high = -np.inf, np.inf
                if how == "5":
                    pairs.append((i, int(numbers[1]) - 1, int(numbers[0])))
                elif how != "3":
                    low = float(numbers[0]) if how in "024" else low
                    high = float(numbers[-1]) if how in "014" else high
                ends[kind].append((low, high))
    return cost, A, np.array(ends["r"]), np.array(ends["b"]), pairs


def minimum(path):
    """Return the minimum of a file: of body and variable of a pair one is at its end, by a binary variable and M."""
    cost, A, rows, columns, pairs = pairs_of(path)
    n, k = len(cost), len(pairs)
    wide = [LinearConstraint(np.hstack([A, np.zeros((len(A), k))]), *rows.T)]
    for place, (i, j, kind) in enumerate(pairs):
        sign = {1: 1.0, 2: -1.0}[kind]  # at its lower end and a body >= 0, or at its upper end and a body <= 0
        (body, var), end = np.zeros((2, n + k)), columns[j, kind - 1]
        body[:n], var[j] = sign * A[i], sign
        body[n + place], var[n + place] = -BIG_M, BIG_M
        assert np.isfinite(end)
        wide += [LinearConstraint(body, -np.inf, 0.0), LinearConstraint(var, -np.inf, BIG_M + sign * end)]
        wide.append(LinearConstraint(np.append(sign * A[i], np.zeros(k)), 0.0))
    low, high = np.vstack([columns, np.tile([0.0, 1.0], (k, 1))]).T
    found = milp(
        np.append(cost, np.zeros(k)), constraints=wide, bounds=Bounds(low, high), integrality=[0] * n + [1] * k
    )
    return found.fun


def test_the_files_of_the_papers_problems_have_the_minimum_of_all_subsets_and_the_fewest_errors(tmp_path):
    data = blobs(12, 3, seed=3, gap=0.7)
    path, *_ = fsopt.export(fsopt.build("fsv-lpec", data, lam=0.15), tmp_path / "m.nl")
    assert len(pairs_of(path)[-1]) == 6
    assert minimum(path) == pytest.approx(fewest_features(data.X, data.y, 0.15), abs=1e-7)
    folder = ROOT / "models" / "misclass-lpec"
    data = fsopt.load_dataset(folder / "data.csv").rows(range(16))
    assert minimum(folder / "misclass-lpec.nl") == pytest.approx(fewest_errors(data.X, data.y))


def test_a_variable_with_bounds_of_its_own_is_complementary_at_those_of_the_condition(tmp_path):
    m = pyo.ConcreteModel()
    m.x, m.y = pyo.Var(bounds=(1, 3)), pyo.Var(bounds=(0, 5))
    m.z = pyo.Var(bounds=(-1, 7))
    m.positive = Complementarity(expr=complements(m.x >= 0, 2 - m.y >= 0))  # x >= 1: so y = 2
    m.above = Complementarity(expr=complements(m.z >= 6, m.x - 2 <= 1))  # z = 6 or x = 3
    m.idle = Complementarity(expr=complements(m.y >= 9, m.x >= 0))
    m.idle.deactivate()
    m.o = pyo.Objective(expr=m.y + 0.1 * m.x + 0.01 * m.z)
    path, *_ = fsopt.export(m, tmp_path / "m.nl")
    assert minimum(path) == pytest.approx(2.0 + 0.1 + 0.06)
    assert isinstance(m.positive, Complementarity)
    with pytest.raises(fsopt.FsoptError, match=r"Complementarity.*use \.nl"):
        fsopt.export(m, tmp_path / "m.lp")


def test_a_condition_without_a_place_in_the_format_is_refused_by_name(tmp_path):
    m = pyo.ConcreteModel()
    m.x, m.y = pyo.Var(), pyo.Var()
    m.o = pyo.Objective(expr=m.x)
    wide = pyo.inequality(0, m.x, 2)
    for sides in ((wide, m.y - 1), (m.y - 1, wide), (m.x, m.y), (wide, m.y >= 0)):
        m.del_component("one")
        m.one = Complementarity(expr=complements(*sides))
        with pytest.raises(fsopt.FsoptError, match=r"of two inequalities: 'one'") as error:
            fsopt.export(m, tmp_path / "m.nl")
        assert "complements(a >= 0, b >= 0)" in error.value.hint
    assert not list(tmp_path.iterdir())
