"""The Conic Benchmark Format, read by a parser that knows nothing of its writer; models of the library: round trips."""

import itertools
from pathlib import Path

import numpy as np
import pyomo.environ as pyo
import pytest
from conic_files import parse_cbf, solve_cbf
from pyomo.mpec import Complementarity, complements
from pyomo_models import FREE, largest_eigenvalue, model_of, symmetric
from support import blobs

import fsopt
from fsopt.compiler import lmi
from fsopt.errors import FileError
from tools.instances import EXACT

CLOSE = {"rel": 1e-6, "abs": 1e-6}


ENDS = [FREE, FREE, (0, None), (None, 0), (-1, 0)]
SHAPES = {  # objective to be minimised (1) or maximised (-1) over x, y, s >= 0, t <= 0 and -1 <= u <= 0; rows; optimum
    "tilted": (1, lambda x, *_: x, [lambda x, y, *_: x**2 + x * y + y**2 <= 0.5], -float(np.sqrt(2 / 3)), "Q"),
    "the norm is at most minus a variable": (
        -1, lambda x, y, s, t, u: t,
        [lambda x, y, s, t, u: x**2 + y**2 <= 4 * t**2, lambda x, y, s, t, u: y == 6], -3.0, "Q",
    ),
    "both factors negative": (
        -1, lambda x, *_: x, [lambda x, y, s, t, u: t * u >= x**2, lambda x, y, s, t, u: t >= -9], 3.0, "Q",
    ),
    "a concave quadratic bounded below, and a constant": (
        1, lambda x, y, s, t, u: s + 7,
        [lambda x, y, s, t, u: s - 2 * x**2 - y >= 0, lambda x, *_: x >= 1, lambda x, y, *_: y == 0], 9.0, "Q",
    ),
    "a singular quadratic objective with cross terms": (
        1, lambda x, y, *_: 0.5 * (x + y) ** 2, [lambda x, y, *_: x + y >= 3, lambda x, y, *_: y == 1], 4.5, "QR",
    ),
    "the same as a maximisation": (
        -1, lambda x, y, *_: 1 - 0.5 * (x + y) ** 2, [lambda x, y, *_: x + y >= 3], -3.5, "QR",
    ),
}  # fmt: skip
"""The last is the kind of its cone."""


@pytest.mark.parametrize("name", SHAPES)
def test_every_shape_of_cone_and_objective(name: str, tmp_path: Path) -> None:
    sense, goal, rows, optimum, cone = SHAPES[name]
    model = model_of(goal, *rows, bounds=ENDS, sense=sense)
    found = parse_cbf(fsopt.export(model, tmp_path / "m.cbf")[0])
    assert [kind for kind, _ in found.rows if kind.startswith("Q")] == [cone]
    assert solve_cbf(found) == pytest.approx(optimum, abs=1e-6)


def mixed() -> pyo.ConcreteModel:
    """Return two inequalities, one in a block, with rows, bounds, three kinds of cones and a quadratic objective."""
    m = pyo.ConcreteModel(name="mixed")
    m.x = pyo.Var(range(3), bounds=(-2, 5))
    m.s = pyo.Var(within=pyo.NonNegativeReals)
    m.ball = pyo.Constraint(expr=m.x[0] ** 2 + m.x[1] ** 2 <= m.s**2)
    m.rotated = pyo.Constraint(expr=m.x[2] ** 2 <= m.s)
    m.plane = pyo.Constraint(expr=m.x[0] + 2 * m.x[1] - m.x[2] == 0.7)
    m.range = pyo.Constraint(expr=(-1, m.x[0] - m.x[1], 1))
    m.part = pyo.Block()
    m.part.lmi = lmi([[m.s, m.x[0] + 0.5], [0, 2.0 - m.x[1]]])
    m.lmi = lmi([[1 + m.x[2], 0.3, m.x[1]], [0, m.s, m.x[0]], [0, 0, 1 - m.x[0]]])
    m.o = pyo.Objective(expr=(m.x[0] + m.x[2] - 1) ** 2 + m.s - 3 * m.x[1])
    return m


def optimum(model: pyo.ConcreteModel, folder: Path) -> float:
    return solve_cbf(parse_cbf(fsopt.export(model, folder / "m.cbf")[0]))


def test_linear_matrix_inequalities(tmp_path: Path) -> None:
    for size, sense in itertools.product((1, 6), (pyo.minimize, pyo.maximize)):
        known = 7 + 2 * np.linalg.eigvalsh(symmetric(size))[-1]
        found = optimum(largest_eigenvalue(symmetric(size), sense), tmp_path)
        assert found == pytest.approx(known if sense == pyo.minimize else -known, **CLOSE), (size, sense)
    result = fsopt.solve(model := mixed(), "clarabel", options=EXACT)
    assert result.status == "optimal"
    assert optimum(model, tmp_path) == pytest.approx(result.objective, **CLOSE)


@pytest.mark.parametrize("suffix", [".lp", ".mps", ".nl"])
def test_another_format_refuses_an_inequality(suffix: str, tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"'mixed' to \.\w+, .*'(part.)?lmi' \(and 1 more\) is one.*use \.cbf"):
        fsopt.export(mixed(), tmp_path / f"m{suffix}")
    assert not list(tmp_path.iterdir())
    model = largest_eigenvalue(symmetric(3))
    model.lmi.deactivate()
    model.o.deactivate()
    model.cost = pyo.Objective(expr=model.t)
    assert fsopt.export(model, tmp_path / f"m{suffix}")


def complementary(path):
    """Return the bounds of the variables of an .nl file that are complementary to a row, with their end: 1 is lower."""
    lines = path.read_text(encoding="utf-8").splitlines()
    rows, columns = (lines.index(segment) + 1 for segment in "rb")
    pairs = [line.split()[1:] for line in lines[rows:columns] if line.startswith("5 ")]
    return [(kind, lines[columns + int(j) - 1]) for kind, j in pairs]


def test_complementarities_are_of_new_variables_at_the_ends_of_their_conditions(tmp_path):
    """And not of variables with bounds of their own, which would be complementary at these."""
    m = pyo.ConcreteModel()
    m.x, m.y = pyo.Var(bounds=(1, 3)), pyo.Var(bounds=(0, 5))
    m.positive = Complementarity(expr=complements(m.x >= 0, 2 - m.y >= 0))
    m.above = Complementarity(expr=complements(m.x >= 2.5, m.y - 2 <= 1))
    m.idle = Complementarity(expr=complements(m.y >= 9, m.x >= 0))
    m.idle.deactivate()
    m.o = pyo.Objective(expr=m.y + 0.1 * m.x)
    path, *_ = fsopt.export(m, tmp_path / "m.nl")
    assert complementary(path) == [("1", "2 0"), ("2", "1 1")]
    assert isinstance(m.positive, Complementarity)
    with pytest.raises(fsopt.FsoptError, match=r"Complementarity.*use \.nl"):
        fsopt.export(m, tmp_path / "m.lp")
    path, *_ = fsopt.export(fsopt.build("fsv-lpec", blobs(12, 3, seed=3, gap=0.7), lam=0.15), tmp_path / "m.nl")
    assert complementary(path) == [("1", "2 0")] * 6


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
