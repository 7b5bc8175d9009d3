"""Linear matrix inequalities in files: the conic formats hold them, the algebraic ones refuse them by name."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pyomo.environ as pyo
import pytest
from conic_files import parse_cbf, solve_cbf, solve_sdpa

import fsopt
from fsopt.compiler import compile_model, lmi
from fsopt.compiler.lmi import blocks as lmi_blocks
from fsopt.errors import FileError

EXACT = {"tol_gap_abs": 1e-9, "tol_gap_rel": 1e-9, "tol_feas": 1e-9}
CONIC = (".cbf", ".dat-s")
ALGEBRAIC = (".lp", ".mps", ".nl", ".gms")
CLOSE = {"rel": 1e-6, "abs": 1e-6}


def symmetric(size: int) -> np.ndarray:
    A = np.random.default_rng(size).standard_normal((size, size))
    return A + A.T


def largest_eigenvalue(size: int, sense: int = pyo.minimize) -> pyo.ConcreteModel:
    """Return min 7 + 2 t such that t I - A is semidefinite, or max of its negative."""
    A, turn = symmetric(size), 1 if sense == pyo.minimize else -1
    m = pyo.ConcreteModel(name="eigenvalue")
    m.t = pyo.Var()
    m.lmi = lmi([[(m.t if i == j else 0.0) - A[i, j] for j in range(size)] for i in range(size)])
    m.o = pyo.Objective(expr=turn * (7 + 2 * m.t), sense=sense)
    return m


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
        path = fsopt.export(largest_eigenvalue(size, sense), tmp_path / f"m{suffix}")[0]
        known = 7 + 2 * np.linalg.eigvalsh(symmetric(size))[-1]
        assert optimum(path) == pytest.approx(known if sense == pyo.minimize else -known, **CLOSE), (size, sense)


@pytest.mark.parametrize("suffix", CONIC)
def test_inequalities_beside_rows_and_cones_have_our_optimum(suffix: str, tmp_path: Path) -> None:
    model = mixed()
    result = fsopt.solve(model, "clarabel", options=EXACT)
    assert result.status == "optimal"
    assert optimum(fsopt.export(model, tmp_path / f"m{suffix}")[0]) == pytest.approx(result.objective, **CLOSE)


def test_the_text_of_a_small_inequality(tmp_path: Path) -> None:
    m = pyo.ConcreteModel(name="small")
    m.x = pyo.Var()
    m.lmi = lmi([[m.x, 2.0], [2.0, m.x]])
    m.o = pyo.Objective(expr=m.x)
    text = fsopt.export(m, tmp_path / "m.cbf")[0].read_text()
    assert "\nPSDCON\n1\n2\n" in text
    assert "\nHCOORD\n3\n0 1 0 0 1.0\n0 2 1 0 1.0\n0 3 1 1 1.0\n" in text  # the matrix itself, no roots of 2
    assert "# matrix 0: lmi\n" in text
    assert "# column 2: lmi.S[0,1]\n" in text
    lines = fsopt.export(m, tmp_path / "m.dat-s")[0].read_text().splitlines()
    assert "-6 2" in lines
    assert {"2 2 1 1 1.0", "3 2 1 2 1.0", "4 2 2 2 1.0"} <= set(lines)


@pytest.mark.parametrize("make", [partial(largest_eigenvalue, 5), mixed], ids=["one", "mixed"])
def test_mosek_reads_the_matrices(make: Callable[[], pyo.ConcreteModel], tmp_path: Path) -> None:
    """Its vectors are lower triangles column by column, off the diagonal times the root of 2."""
    mosek = pytest.importorskip("mosek")
    model = make()
    program = compile_model(model)
    path = fsopt.export(model, tmp_path / "m.cbf")[0]
    with mosek.Env() as env, env.Task() as task:
        task.readdata(str(path))
        kinds = [str(task.getdomaintype(task.getaccdomain(k))).rpartition(".")[2] for k in range(task.getnumacc())]
        starts = np.cumsum([0, *(task.getaccn(k) for k in range(task.getnumacc()))])
        x, at = np.random.default_rng(0).standard_normal(task.getnumvar()), np.zeros(starts[-1])
        for i, j, v in zip(*task.getaccftrip(), strict=True):
            at[i] += v * x[j]
    places = [k for k, kind in enumerate(kinds) if kind == "svec_psd_cone"]
    for k, block in zip(places, lmi_blocks(model), strict=True):
        order = range(block.semidefinite)
        entries = [(i, j, x[program.column[id(block.S[j, i])]]) for j in order for i in order[j:]]
        expected = [value * (1 if i == j else np.sqrt(2)) for i, j, value in entries]
        assert at[starts[k] : starts[k + 1]] == pytest.approx(expected)


@pytest.mark.parametrize("suffix", ALGEBRAIC)
def test_an_algebraic_format_refuses_an_inequality(suffix: str, tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"no linear matrix inequalities: 'lmi' is one.*use .cbf or .dat-s"):
        fsopt.export(largest_eigenvalue(3), tmp_path / f"m{suffix}")
    with pytest.raises(FileError, match=r"'mixed' to \.\w+, .*'(part.)?lmi' \(and 1 more\) is one"):
        fsopt.export(mixed(), tmp_path / f"m{suffix}")
    assert not list(tmp_path.iterdir())
    model = largest_eigenvalue(3)
    model.lmi.deactivate()
    model.o.deactivate()
    model.cost = pyo.Objective(expr=model.t)
    assert fsopt.export(model, tmp_path / f"m{suffix}")


@pytest.mark.parametrize("suffix", CONIC)
def test_what_no_format_holds_beside_an_inequality(suffix: str, tmp_path: Path) -> None:
    m = largest_eigenvalue(2)
    m.c = pyo.Constraint(expr=pyo.exp(m.t) <= 3)
    with pytest.raises(FileError, match=r"'c' is neither.*no format holds that beside a linear matrix"):
        fsopt.export(m, tmp_path / f"m{suffix}")
    m = largest_eigenvalue(2)
    m.lmi.entry.deactivate()
    m.curved = lmi([[m.t**2 + m.lmi.S[0, 1]]])
    with pytest.raises(FileError, match=r"'curved.entry\[0,0\]' is neither"):
        fsopt.export(m, tmp_path / f"m{suffix}")
    assert not list(tmp_path.iterdir())


def test_integers_beside_an_inequality(tmp_path: Path) -> None:
    m = largest_eigenvalue(3)
    m.k = pyo.Var(within=pyo.Integers)
    m.above = pyo.Constraint(expr=m.k >= m.t)
    found = parse_cbf(fsopt.export(m, tmp_path / "m.cbf")[0])
    assert found.integer == [compile_model(m).column[id(m.k)]]
    known = np.linalg.eigvalsh(symmetric(3))[-1]
    assert solve_cbf(found, {found.integer[0]: float(np.ceil(known))}) == pytest.approx(7 + 2 * known, **CLOSE)
    with pytest.raises(FileError, match="no integer variables: 'k' is one"):
        fsopt.export(m, tmp_path / "m.dat-s")
