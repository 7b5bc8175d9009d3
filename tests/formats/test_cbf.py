"""The Conic Benchmark Format, read by a parser that knows nothing of its writer; models of the library: round trips."""

import itertools
from pathlib import Path

import numpy as np
import pyomo.environ as pyo
import pytest
from conic_files import parse_cbf, solve_cbf
from pyomo_models import largest_eigenvalue, symmetric

import fsopt
from fsopt.compiler import lmi
from fsopt.errors import FileError
from fsopt.formats.conic import pivoted_cholesky
from tools.instances import EXACT

CLOSE = {"rel": 1e-6, "abs": 1e-6}


def shapes() -> dict[str, tuple[pyo.ConcreteModel, float, tuple[str, ...]]]:
    """Return name -> model, optimum by hand, kinds of its cones."""
    made: dict[str, tuple[pyo.ConcreteModel, float, tuple[str, ...]]] = {}

    def new(name: str, optimum: float, *kinds: str) -> pyo.ConcreteModel:
        m = pyo.ConcreteModel(name=name)
        m.x, m.y = pyo.Var(), pyo.Var()
        m.s, m.t = pyo.Var(within=pyo.NonNegativeReals), pyo.Var(within=pyo.NonPositiveReals)
        made[name] = (m, optimum, kinds)
        return m

    m = new("tilted", -float(np.sqrt(2 / 3)), "Q")  # cross terms: from the eigenvectors
    m.c = pyo.Constraint(expr=m.x**2 + m.x * m.y + m.y**2 <= 0.5)
    m.o = pyo.Objective(expr=m.x)
    m = new("negative", -3.0, "Q")  # the bound of the norm is minus a variable <= 0
    m.c = pyo.Constraint(expr=m.x**2 + m.y**2 <= 4 * m.t**2)
    m.d = pyo.Constraint(expr=m.y == 6)
    m.o = pyo.Objective(expr=m.t, sense=pyo.maximize)
    m = new("both-negative", 3.0, "QR")  # x^2 <= t u with both factors <= 0
    m.u = pyo.Var(bounds=(-1, 0))
    m.c = pyo.Constraint(expr=m.t * m.u >= m.x**2)
    m.d = pyo.Constraint(expr=m.t >= -9)
    m.o = pyo.Objective(expr=m.x, sense=pyo.maximize)
    m = new("lower-bound", 2.0 + 7.0, "QR")  # a concave quadratic that is bounded below, and a constant
    m.c = pyo.Constraint(expr=m.s - 2 * m.x**2 - m.y >= 0)
    m.d = pyo.Constraint(expr=m.x >= 1)
    m.e = pyo.Constraint(expr=m.y == 0)
    m.o = pyo.Objective(expr=m.s + 7)
    m = new("cross-cost", 4.5, "QR")  # a singular quadratic objective with cross terms
    m.o = pyo.Objective(expr=0.5 * (m.x + m.y) ** 2)
    m.c = pyo.Constraint(expr=m.x + m.y >= 3)
    m.d = pyo.Constraint(expr=m.y == 1)
    m = new("concave", -4.5 + 1, "QR")  # the same as a maximisation
    m.o = pyo.Objective(expr=1 - 0.5 * (m.x + m.y) ** 2, sense=pyo.maximize)
    m.c = pyo.Constraint(expr=m.x + m.y >= 3)
    return made


SHAPES = shapes()


@pytest.mark.parametrize("name", SHAPES)
def test_every_shape_of_cone_and_objective(name: str, tmp_path: Path) -> None:
    model, optimum, kinds = SHAPES[name]
    found = parse_cbf(fsopt.export(model, tmp_path / "m.cbf")[0])
    assert tuple(kind for kind, _ in found.rows if kind.startswith("Q")) == kinds
    assert solve_cbf(found) == pytest.approx(optimum, abs=1e-6)


def test_the_factor_of_a_quadratic_objective_in_very_different_units() -> None:
    F = np.random.default_rng(0).standard_normal((3, 5)) * [1e-6, 1e-3, 1.0, 0.0, 1e6]
    P = F.T @ F
    found = np.array(pivoted_cholesky(P))
    assert len(found) == 3
    size = np.sqrt(np.outer(P.diagonal(), P.diagonal())) + 1e-300
    assert np.abs((found.T @ found - P) / size).max() < 1e-13


def test_bounds_ranges_integers_and_a_constant(tmp_path: Path) -> None:
    m = pyo.ConcreteModel(name="bounds \n of é")
    m.x = pyo.Var(bounds=(-1.5, 2.25))
    m.k = pyo.Var(within=pyo.Integers, bounds=(-3, 4))
    m.on = pyo.Var(within=pyo.Binary)
    m.still = pyo.Var(initialize=0.5)
    m.still.fix()
    m.nought = pyo.Var(bounds=(0, 0))
    m.range = pyo.Constraint(expr=(1, m.x + m.still + m.nought, 3))
    m.level = pyo.Constraint(expr=m.k + 2 * m.on >= -1.3)
    m.o = pyo.Objective(expr=-(3.25 + 0.7 * m.k + m.on - m.x), sense=pyo.maximize)
    found = parse_cbf(fsopt.export(m, tmp_path / "m.cbf")[0])
    assert found.columns == [("F", 2), ("L+", 1), ("F", 1), ("L=", 1)]
    assert found.integer == [1, 2]
    kinds = [("L-", 1), ("L+", 2), ("L-", 1), ("L+", 1), ("L-", 1), ("L+", 1), ("L-", 1), ("L=", 1)]
    assert found.rows == kinds  # range, level with the first bound, ...
    assert solve_cbf(found, {1: -3.0, 2: 1.0}) == pytest.approx(-(3.25 - 2.1 + 1 - 2.25))
    assert solve_cbf(found, {1: -1.0, 2: 0.0}) == pytest.approx(-(3.25 - 0.7 - 2.25))


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


def test_what_no_format_holds_beside_an_inequality(tmp_path: Path) -> None:
    m = largest_eigenvalue(symmetric(2))
    m.c = pyo.Constraint(expr=pyo.exp(m.t) <= 3)
    with pytest.raises(FileError, match=r"'c' is neither.*no format holds that beside a linear matrix"):
        fsopt.export(m, tmp_path / "m.cbf")
    assert not list(tmp_path.iterdir())
