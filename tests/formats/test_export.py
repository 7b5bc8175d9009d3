"""Exported files: the same bytes on every run, readable names, refusals, and the same optimum in other software."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path

import pyomo.environ as pyo
import pytest
from file_readers import highs, scip

import fsopt
from fsopt.compiler import compile_model
from fsopt.errors import FileError
from fsopt.formats.writers import FORMATS
from tools.instances import EXACT, build_instance


def gurobi(path: Path) -> float:
    gurobipy = pytest.importorskip("gurobipy")
    with gurobipy.Env(params={"OutputFlag": 0}) as env, gurobipy.read(str(path), env) as model:
        for name in ("BarConvTol", "BarQCPConvTol", "FeasibilityTol", "OptimalityTol"):
            model.setParam(name, 1e-9)
        model.optimize()
        assert model.Status == gurobipy.GRB.OPTIMAL
        return model.ObjVal


def xpress(path: Path) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the notice of the size-limited licence, renamed functions
        module = pytest.importorskip("xpress")
        problem = module.problem()
        tight = dict.fromkeys(("bargapstop", "barprimalstop", "bardualstop"), 1e-10)
        problem.setControl({"outputlog": 0, "feastol": 1e-9, **tight})
        problem.read(str(path))
        problem.optimize()
        assert problem.attributes.solstatus in (module.SolStatus.OPTIMAL, module.SolStatus.FEASIBLE)
        return problem.attributes.objval


READERS: dict[str, tuple[Callable[[Path], float], tuple[str, ...], set[str] | None]] = {
    "highs": (highs, (".lp", ".mps"), {"LP", "QP", "MILP"}),
    "scip": (scip, (".lp", ".mps", ".nl"), None),
    "gurobi": (gurobi, (".lp", ".mps"), None),
    "xpress": (xpress, (".lp", ".mps"), None),
}
"""Software -> how it solves a file, the formats it reads, and the classes it takes (None: whatever a file holds)."""
ALGEBRAIC = [slug for slug, spec in fsopt.MODELS.items() if spec.problem_class not in ("SDP", "MPEC")]
"""Models that the formats of these readers hold; those with matrices are in test_formats.py, others refused."""
PAIRS = [(reader, suffix) for reader, (_, suffixes, _) in READERS.items() for suffix in suffixes]


def zoo(sense: int = pyo.minimize) -> pyo.ConcreteModel:
    """Return a mixed-integer model with what the papers' models lack: a constant, ranges, a fixed variable, ..."""
    turn = 1 if sense == pyo.minimize else -1
    m = pyo.ConcreteModel(name="zoo")
    m.x = pyo.Var([0, 1], bounds=(-1.5, 2.25))
    m.pair = pyo.Var(["a b", "c^2"], within=pyo.NonNegativeReals)
    m.k = pyo.Var(within=pyo.Integers, bounds=(-3, 4))
    m.on = pyo.Var(within=pyo.Binary)
    m.below = pyo.Var(within=pyo.NonPositiveReals)
    m.still = pyo.Var(initialize=0.5)
    m.still.fix()
    m.objective = pyo.Objective(
        expr=turn * (3.25 + m.x[0] ** 2 + (m.x[0] - m.x[1]) ** 2 + 0.7 * m.k + m.on - m.below + 1e-3 * m.pair["a b"]),
        sense=sense,
    )
    m.range = pyo.Constraint(expr=(1, m.x[0] + m.x[1] + m.pair["c^2"] + m.still, 3))
    m.level = pyo.Constraint(expr=m.k + 2 * m.on >= -1.3 + 0.1 * m.x[1] - m.below)
    m.cone = pyo.Constraint(expr=m.x[1] ** 2 + 0.5 <= m.pair["a b"])
    m.ball = pyo.Constraint(expr=m.x[0] ** 2 + 2 * m.x[1] ** 2 <= 4)
    m.same = pyo.Constraint(expr=m.pair["a b"] == 1 + m.on)
    return m


@pytest.mark.slow
@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("slug", ALGEBRAIC)
def test_other_software_reads_our_files_and_finds_our_optimum(slug: str, reader: str, tmp_path: Path) -> None:
    solve, suffixes, classes = READERS[reader]
    model = build_instance(slug)
    if compile_model(model).objective_terms:  # the other formats refuse what is not quadratic
        suffixes, classes = tuple(suffix for suffix in suffixes if suffix == ".nl"), None
    if classes is not None and fsopt.classify(model) not in classes:
        with pytest.raises(AssertionError):  # HiGHS refuses quadratic constraints; it does not drop them
            solve(fsopt.export(model, tmp_path / "model.lp")[0])
        return
    ours = fsopt.solve(model, options=EXACT).objective
    # A tolerance of 1e-9 on w^2 <= s t is one of 3e-5 on w at s = t = 0, and of 2e-5 on the optimum of one instance.
    leaky = reader == "scip" and compile_model(model).cones.pairs.any()
    for suffix in suffixes:
        path = fsopt.export(model, tmp_path / f"model{suffix}")[0]
        theirs = scip(path, 1e-12) if leaky else solve(path)
        assert theirs == pytest.approx(ours, rel=1e-6, abs=1e-6), suffix


@pytest.mark.parametrize(("reader", "suffix"), [pair for pair in PAIRS if pair[0] != "highs"])
def test_constants_ranges_and_senses_arrive(reader: str, suffix: str, tmp_path: Path) -> None:
    for sense, turn in ((pyo.minimize, 1), (pyo.maximize, -1)):
        found = READERS[reader][0](fsopt.export(zoo(sense), tmp_path / f"zoo{suffix}")[0])
        assert turn * found == pytest.approx(ZOO, abs=2e-6)


ZOO = 3.25 - 2.1 + 1 + 2e-3
"""By hand: x = 0 and below = 0; on = 1 pays, since it lets k = -3 and makes pair[a b] = 2."""


# -- bytes and names ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", FORMATS)
def test_the_same_bytes_from_a_model_built_again_under_any_file_name(suffix: str, tmp_path: Path) -> None:
    slug = "gmeb-sdp" if suffix in (".cbf", ".dat-s") else "rsvm"
    a, b = (
        fsopt.export(build_instance(slug), tmp_path / f"{name}{suffix}")[0].read_bytes() for name in ("one", "another")
    )
    assert a == b


# -- refusals -----------------------------------------------------------------------------------------------


def cubic() -> pyo.ConcreteModel:
    m = pyo.ConcreteModel(name="cubic")
    m.x = pyo.Var(bounds=(0, 2))
    m.curve = pyo.Constraint(expr=m.x**3 >= 1)
    m.objective = pyo.Objective(expr=m.x)
    return m


def saddle() -> pyo.ConcreteModel:
    m = pyo.ConcreteModel(name="saddle")
    m.x = pyo.Var([0, 1], bounds=(-1, 1))
    m.hyperbola = pyo.Constraint(expr=m.x[0] * m.x[1] >= 0.25)
    m.objective = pyo.Objective(expr=m.x[0])
    return m


def curved(sense: int) -> pyo.ConcreteModel:
    m = pyo.ConcreteModel(name="curved")
    m.x = pyo.Var(bounds=(-1, 1))
    m.cost = pyo.Objective(expr=m.x**2, sense=sense)
    return m


def entropic() -> pyo.ConcreteModel:
    m = curved(pyo.minimize)
    m.cost.set_value(pyo.exp(m.x))
    return m


def ordered() -> pyo.ConcreteModel:
    m = curved(pyo.minimize)
    m.y = pyo.Var([1, 2, 3], bounds=(0, 1))
    m.atmost = pyo.SOSConstraint(var=m.y, sos=1)
    return m


REFUSED = {
    "lp-cubic": (cubic, ".lp", r"cannot export 'cubic' to \.lp.*in 'curve' the term x\*\*3.*use \.nl"),
    "mps-cubic": (cubic, ".mps", r"to \.mps.*'curve'"),
    "lp-objective": (entropic, ".lp", r"'cost' the term exp\(x\)"),
    "cbf-cubic": (cubic, ".cbf", r"'curve'.*x\*\*3"),
    "cbf-nonconvex": (saddle, ".cbf", r"'hyperbola' is neither.*not convex"),
    "sdpa-nonconvex": (saddle, ".dat-s", r"'hyperbola'"),
    "cbf-concave": (lambda: curved(pyo.maximize), ".cbf", r"objective 'cost' is not convex"),
    "cbf-sos": (ordered, ".cbf", r"SOSConstraint \('atmost'\)"),
    "sdpa-integer": (lambda: build_instance("fsp-master"), ".dat-s", r"no integer variables: 'sigma\[0\]'.*\.cbf"),
    "unknown": (cubic, ".xyz", r"unknown format '\.xyz'.*\.lp.*\.dat-s"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_format_refuses_what_it_cannot_hold_and_leaves_nothing_behind(case: str, tmp_path: Path) -> None:
    make, suffix, words = REFUSED[case]
    with pytest.raises(FileError, match=words):
        fsopt.export(make(), tmp_path / f"m{suffix}")
    assert list(tmp_path.iterdir()) == []
