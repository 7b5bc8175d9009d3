"""Linear matrix inequalities in files: the conic formats hold them, the algebraic ones refuse them by name."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pyomo.environ as pyo
import pytest
from conic_files import parse_cbf, solve_cbf, solve_sdpa
from pyomo_models import largest_eigenvalue, symmetric

import fsopt
from fsopt.compiler import compile_model, lmi
from fsopt.errors import FileError
from tools.instances import EXACT

CONIC = (".cbf", ".dat-s")
ALGEBRAIC = (".lp", ".mps", ".nl", ".gms")
CLOSE = {"rel": 1e-6, "abs": 1e-6}


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


def optimum(path: Path) -> float:
    if path.suffix == ".cbf":
        return solve_cbf(parse_cbf(path))
    return (-1 if "maximisation" in path.read_text() else 1) * solve_sdpa(path)


@pytest.mark.parametrize("suffix", CONIC)
def test_a_file_has_the_largest_eigenvalue(suffix: str, tmp_path: Path) -> None:
    for size, sense in itertools.product((1, 6), (pyo.minimize, pyo.maximize)):
        path = fsopt.export(largest_eigenvalue(symmetric(size), sense), tmp_path / f"m{suffix}")[0]
        known = 7 + 2 * np.linalg.eigvalsh(symmetric(size))[-1]
        assert optimum(path) == pytest.approx(known if sense == pyo.minimize else -known, **CLOSE), (size, sense)


@pytest.mark.parametrize("suffix", CONIC)
def test_inequalities_beside_rows_and_cones_have_our_optimum(suffix: str, tmp_path: Path) -> None:
    model = mixed()
    result = fsopt.solve(model, "clarabel", options=EXACT)
    assert result.status == "optimal"
    assert optimum(fsopt.export(model, tmp_path / f"m{suffix}")[0]) == pytest.approx(result.objective, **CLOSE)


@pytest.mark.parametrize("suffix", ALGEBRAIC)
def test_an_algebraic_format_refuses_an_inequality(suffix: str, tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"no linear matrix inequalities: 'lmi' is one.*use .cbf or .dat-s"):
        fsopt.export(largest_eigenvalue(symmetric(3)), tmp_path / f"m{suffix}")
    with pytest.raises(FileError, match=r"'mixed' to \.\w+, .*'(part.)?lmi' \(and 1 more\) is one"):
        fsopt.export(mixed(), tmp_path / f"m{suffix}")
    assert not list(tmp_path.iterdir())
    model = largest_eigenvalue(symmetric(3))
    model.lmi.deactivate()
    model.o.deactivate()
    model.cost = pyo.Objective(expr=model.t)
    assert fsopt.export(model, tmp_path / f"m{suffix}")


@pytest.mark.parametrize("suffix", CONIC)
def test_what_no_format_holds_beside_an_inequality(suffix: str, tmp_path: Path) -> None:
    m = largest_eigenvalue(symmetric(2))
    m.c = pyo.Constraint(expr=pyo.exp(m.t) <= 3)
    with pytest.raises(FileError, match=r"'c' is neither.*no format holds that beside a linear matrix"):
        fsopt.export(m, tmp_path / f"m{suffix}")
    m = largest_eigenvalue(symmetric(2))
    m.lmi.entry.deactivate()
    m.curved = lmi([[m.t**2 + m.lmi.S[0, 1]]])
    with pytest.raises(FileError, match=r"'curved.entry\[0,0\]' is neither"):
        fsopt.export(m, tmp_path / f"m{suffix}")
    assert not list(tmp_path.iterdir())


def test_integers_beside_an_inequality(tmp_path: Path) -> None:
    m = largest_eigenvalue(symmetric(3))
    m.k = pyo.Var(within=pyo.Integers)
    m.above = pyo.Constraint(expr=m.k >= m.t)
    found = parse_cbf(fsopt.export(m, tmp_path / "m.cbf")[0])
    assert found.integer == [compile_model(m).column[id(m.k)]]
    known = np.linalg.eigvalsh(symmetric(3))[-1]
    assert solve_cbf(found, {found.integer[0]: float(np.ceil(known))}) == pytest.approx(7 + 2 * known, **CLOSE)
    with pytest.raises(FileError, match="no integer variables: 'k' is one"):
        fsopt.export(m, tmp_path / "m.dat-s")
