"""Exported files: the same bytes on every run, refusals, and what the models of the papers lack."""

from __future__ import annotations

from pathlib import Path

import pyomo.environ as pyo
import pytest
from file_readers import scip

import fsopt
from fsopt.errors import FileError
from fsopt.formats.writers import FORMATS
from tools.instances import build_instance


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


@pytest.mark.parametrize("suffix", [".lp", ".mps", ".nl"])
def test_constants_ranges_and_senses_arrive(suffix: str, tmp_path: Path) -> None:
    for sense, turn in ((pyo.minimize, 1), (pyo.maximize, -1)):
        found = scip(fsopt.export(zoo(sense), tmp_path / f"zoo{suffix}")[0])
        assert turn * found == pytest.approx(ZOO, abs=2e-6)


ZOO = 3.25 - 2.1 + 1 + 2e-3
"""By hand: x = 0 and below = 0; on = 1 pays, since it lets k = -3 and makes pair[a b] = 2."""


# -- bytes and names ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", FORMATS)
def test_the_same_bytes_from_a_model_built_again_under_any_file_name(suffix: str, tmp_path: Path) -> None:
    slug = "gmeb-sdp" if suffix == ".cbf" else "rsvm"
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


REFUSED = {
    "lp-cubic": (cubic, ".lp", r"cannot export 'cubic' to \.lp.*in 'curve' the term x\*\*3.*use \.nl"),
    "mps-cubic": (cubic, ".mps", r"to \.mps.*'curve'"),
    "lp-objective": (entropic, ".lp", r"'cost' the term exp\(x\)"),
    "cbf-cubic": (cubic, ".cbf", r"'curve'.*x\*\*3"),
    "cbf-nonconvex": (saddle, ".cbf", r"'hyperbola' is neither.*not convex"),
    "cbf-concave": (lambda: curved(pyo.maximize), ".cbf", r"objective 'cost' is not convex"),
    "unknown": (cubic, ".xyz", r"unknown format '\.xyz'.*\.lp.*\.cbf"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_format_refuses_what_it_cannot_hold_and_leaves_nothing_behind(case: str, tmp_path: Path) -> None:
    make, suffix, words = REFUSED[case]
    with pytest.raises(FileError, match=words):
        fsopt.export(make(), tmp_path / f"m{suffix}")
    assert list(tmp_path.iterdir()) == []
