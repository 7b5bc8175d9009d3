"""The two conic formats, read by parsers that know nothing of their writers, and by MOSEK's reader."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyomo.environ as pyo
import pytest
from conic_files import parse_cbf, solve_cbf, solve_sdpa

import fsopt
from fsopt.compiler import compile_model
from fsopt.formats.conic import pivoted_cholesky
from tools.instances import EXACT, build_instance

CONTINUOUS = {
    "rlp": "LP",
    "l1-hinge-part": "a maximum",
    "svm": "QP",
    "gmeb-dual": "cones, a maximum",
    "gmeb-primal": "rotated cones",
    "mmop-convex": "cones of rows",
    "gmeb-sdp": "SDP",
}
INTEGER = {"fsv-exact": "MILP", "fsp-m-bigm": "MIQP", "fsp-m-perspective": "MISOCP"}


# -- the Conic Benchmark Format -----------------------------------------------------------------------------


@pytest.mark.parametrize("slug", CONTINUOUS)
def test_a_file_has_our_optimum(slug: str, tmp_path: Path) -> None:
    model = build_instance(slug)
    ours = fsopt.solve(model, options=EXACT).objective
    found = parse_cbf(fsopt.export(model, tmp_path / "m.cbf")[0])
    assert solve_cbf(found) == pytest.approx(ours, rel=1e-6, abs=1e-6)
    path = fsopt.export(model, tmp_path / "m.dat-s")[0]
    maximise = compile_model(model).sign < 0
    assert ("maximisation, written as the minimisation of its negative" in path.read_text()) == maximise
    assert (-1 if maximise else 1) * solve_sdpa(path) == pytest.approx(ours, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("slug", INTEGER)
def test_a_cbf_file_with_integers_has_our_optimum_at_our_choice(slug: str, tmp_path: Path) -> None:
    model = build_instance(slug)
    ours = fsopt.solve(model).objective
    program = compile_model(model)
    found = parse_cbf(fsopt.export(model, tmp_path / "m.cbf")[0])
    assert found.integer == np.flatnonzero(program.integer).tolist()
    chosen = {j: float(round(program.variables[j].value)) for j in found.integer}
    assert solve_cbf(found, chosen) == pytest.approx(ours, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("slug", [slug for slug in (*CONTINUOUS, *INTEGER) if slug != "gmeb-sdp"])
def test_mosek_reads_a_cbf_file_as_our_parser_does(slug: str, tmp_path: Path) -> None:
    mosek = pytest.importorskip("mosek")
    model = build_instance(slug)
    program = compile_model(model)
    path = fsopt.export(model, tmp_path / "m.cbf")[0]
    curved = int(program.P.nnz > 0)
    with mosek.Env() as env, env.Task() as task:
        task.readdata(str(path))
        assert task.getnumvar() == program.n + curved
        assert task.getnumintvar() == program.integer.sum()
        # MOSEK keeps the rows of each line under CON as one affine conic constraint.
        groups = parse_cbf(path).rows
        domains = [str(task.getdomaintype(task.getaccdomain(k))).rpartition(".")[2] for k in range(task.getnumacc())]
        assert list(zip(domains, map(task.getaccn, range(len(domains))), strict=True)) == [
            (MOSEK_DOMAINS[kind], size) for kind, size in groups
        ]
        assert task.getobjsense() == (mosek.objsense.maximize if program.sign < 0 else mosek.objsense.minimize)
        assert [task.getcj(j) for j in range(program.n)] == (program.sign * program.c).tolist()
        assert task.getcfix() == program.sign * program.c0
        assert [task.getvarbound(j)[1] == 0 for j in range(program.n)] == (program.lb == 0).tolist()


MOSEK_DOMAINS = {
    "L=": "rzero",
    "L+": "rplus",
    "L-": "rminus",
    "Q": "quadratic_cone",
    "QR": "rquadratic_cone",
}


# -- shapes that the papers' models lack --------------------------------------------------------------------


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
@pytest.mark.parametrize("suffix", [".cbf", ".dat-s"])
def test_every_shape_of_cone_and_objective(name: str, suffix: str, tmp_path: Path) -> None:
    model, optimum, kinds = SHAPES[name]
    path = fsopt.export(model, tmp_path / f"m{suffix}")[0]
    if suffix == ".cbf":
        found = parse_cbf(path)
        assert tuple(kind for kind, _ in found.rows if kind.startswith("Q")) == kinds
        assert solve_cbf(found) == pytest.approx(optimum, abs=1e-6)
    else:
        turn = -1.0 if '"model' in path.read_text() and "maximisation" in path.read_text() else 1.0
        assert turn * solve_sdpa(path) == pytest.approx(optimum, abs=1e-6)


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
