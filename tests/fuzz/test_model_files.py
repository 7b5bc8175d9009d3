"""Model files of which one part is another: read as what they say then, or refused, and never as another program."""

from __future__ import annotations

import math
import re
from pathlib import Path

import highspy
import numpy as np
import pyomo.environ as pyo
import pytest
from fuzz.attack import FACTOR, attack, generator
from fuzz.grammar import BRACKET, CBF, GMS, LP, MPS, NL, QCMATRIX, Damaged, Facts, damaged, plain
from support import written

import fsopt
from fsopt.compiler import compile_model
from fsopt.errors import FsoptError
from fsopt.solvers.highs import silent

CASES = 100
EQUATION = {"eq 2": 1.0}
LOOSE = {"hi 0": 0.0, "hi 1": 0.0, "lb 0": -math.inf, "lb 1": -math.inf, "cone": 1.0}
TEMPLATES: dict[str, tuple[str, Facts]] = {
    "linear.mps": (f"{MPS}ENDATA\n", EQUATION),
    "quadratic.mps": (f"{MPS}{QCMATRIX}ENDATA\n", EQUATION),
    "linear.lp": (LP % "", EQUATION),
    "quadratic.lp": (LP % BRACKET, EQUATION),
    "products.nl": (NL, EQUATION),
    "products.gms": (GMS, EQUATION),
    "cone.cbf": (CBF, LOOSE),
}
"""Name of a file -> its template, and facts that its numbers do not state."""
POINTS = np.random.default_rng(5).uniform(-2, 3, (3, 3))
IDLE = {".nl": {0, 3, 5, 8}, ".cbf": {1}}
"""Lines of which another number states nothing: kinds and lengths in the header of an .nl file; version of .cbf."""
Table = dict[str, tuple[float, ...]]


def stated(facts: Facts) -> Table:
    """Return bounds of the variables, and objective and room below and above each constraint at three points."""

    def form(x: np.ndarray, linear: str, square: str) -> float:
        total = sum(facts.get(f"{linear} {j}", 0.0) * x[j] for j in range(3))
        return float(total + sum(facts.get(f"{square} {j} {k}", 0.0) * x[j] * x[k] for j in range(3) for k in range(3)))

    found: Table = {"objective": tuple(form(x, "c", "q") + facts.get("c0", 0.0) for x in POINTS)}
    for j in range(3):
        found[f"x{j}"] = facts.get(f"lb {j}", 0.0), facts.get(f"ub {j}", math.inf), float(j == 1)
    bodies = [[form(x, f"A {i}", f"Q {i}") + facts.get(f"b {i}", 0.0) for x in POINTS] for i in range(5)]
    for i in range(2 if "cone" in facts else 3):
        low, high = facts.get(f"lo {i}", -math.inf), facts.get(f"hi {i}", math.inf)
        low = high - abs(facts[f"span {i}"]) if f"span {i}" in facts else low
        found[f"c{i}"] = ends(bodies[i], low, low if f"eq {i}" in facts else high)
    if "cone" in facts:
        found["x2"] = 0.0, math.inf, 0.0
        squares = [-(bodies[2][k] ** 2) + bodies[3][k] ** 2 + bodies[4][k] ** 2 for k in range(3)]
        found |= {"cone 1": ends(squares, -math.inf, 0.0), "head": (0.0, math.inf)}
    return found


def ends(bodies: list[float], low: float, high: float) -> tuple[float, ...]:
    """Return the room below and above a constraint at each point, without signs of zeros."""
    return tuple(end for body in bodies for end in (body - low, high - body))


def read(model: pyo.ConcreteModel) -> Table:
    """Return the table of a model that was read."""
    compile_model(model)
    bounds = {
        name: tuple(math.copysign(math.inf, s) if b is None else b for s, b in zip((-1, 1), v.bounds, strict=True))
        for name, v in model.x.items()
    }
    bodies: dict[str, list[float]] = {name: [] for name in ("objective", *model.row)}
    for x in POINTS:
        for v, at in zip(model.x.values(), (*x, *[0.0] * len(model.x)), strict=False):
            v.set_value(at, skip_validation=True)
        for name, v in model.x.items():
            if name.startswith("(row"):  # the value of the row of a cone
                v.set_value(pyo.value(model.row[name].body) - pyo.value(model.row[name].lower), skip_validation=True)
        bodies["objective"].append(pyo.value(model.objective))
        for name, row in model.row.items():
            bodies[name].append(pyo.value(row.body))
    found: Table = {}
    for place, (name, v) in enumerate(model.x.items()):
        if not name.startswith("(row"):
            found[f"x{place}" if model.read_from_file in (".nl", ".cbf") else name] = (
                *bounds[name],
                float(v.is_integer()),
            )
        elif "head" not in found:
            found["head"] = bounds[name]
    sign = 1.0 if model.objective.sense == pyo.minimize else -1.0
    found["objective"] = tuple(sign * value for value in bodies.pop("objective"))
    for place, (name, listed) in enumerate(bodies.items()):
        if not name.startswith("(row"):
            low, high = (
                math.copysign(math.inf, s) if b is None else pyo.value(b)
                for s, b in ((-1, model.row[name].lower), (1, model.row[name].upper))
            )
            own = f"c{place}" if model.read_from_file == ".nl" else name.replace("row ", "c")
            found[own] = ends(listed, low, high)
    return found


def by_highs(path: Path) -> Table | None:
    """Return the table of a program without quadratic constraints as HiGHS reads it, None where it reads none."""
    h = silent()
    if h.readModel(str(path)) != highspy.HighsStatus.kOk:
        return None
    model = h.getModel()
    lp, Q = model.lp_, model.hessian_
    columns, squares = (
        [(j, k) for j in range(lp.num_col_) for k in range(at.start_[j], at.start_[j + 1])] if n else []
        for at, n in ((lp.a_matrix_, lp.num_col_), (Q, Q.dim_))
    )
    sign = 1.0 if lp.sense_ == highspy.ObjSense.kMinimize else -1.0
    x = np.hstack([POINTS, np.zeros((3, max(0, lp.num_col_ - 3)))])[:, : lp.num_col_]
    bodies = np.zeros((3, lp.num_row_))
    goal = x @ np.array(lp.col_cost_) + lp.offset_
    for j, k in columns:
        bodies[:, lp.a_matrix_.index_[k]] += lp.a_matrix_.value_[k] * x[:, j]
    for j, k in squares:
        i = Q.index_[k]
        goal += Q.value_[k] * x[:, i] * x[:, j] * (0.5 if i == j else 1.0)
    whole = [str(kind).endswith("kInteger") for kind in lp.integrality_] or [False] * lp.num_col_
    found: Table = {"objective": tuple(sign * goal)}
    found |= {n: v for n, *v in zip(lp.col_names_, lp.col_lower_, lp.col_upper_, map(float, whole), strict=True)}
    for i, name in enumerate(lp.row_names_):
        found[name] = ends(bodies[:, i].tolist(), lp.row_lower_[i], lp.row_upper_[i])
    return found


def same(one: Table, other: Table) -> bool:
    """Return whether two tables are equal, but for rounding."""
    return one.keys() == other.keys() and all(np.allclose(one[k], other[k], rtol=1e-9, atol=1e-9) for k in one)


def check(path: Path, case: Damaged, extra: Facts, original: Table) -> str:
    """Read a damaged file; fail where it is another program than the text says."""
    try:
        found = read(fsopt.read_model(path))
    except FsoptError:
        return "refused"
    if case.facts is not None:
        assert same(found, stated(extra | case.facts)), "read as another program"
        return "read"
    if path.suffix in (".nl", ".cbf"):
        optional = path.suffix == ".cbf" and "lost" in case.what
        part = re.search("lines|ends", case.what)
        assert optional or not part or same(found, original), "a part was lost or came twice, and it was read"
        assert part or case.idle(IDLE[path.suffix]) or not same(found, original), "a change of its text changed nothing"
    elif path.name.startswith("linear"):
        second = by_highs(path)
        assert second is None or same(found, second), "HiGHS reads another program"
    return "changed"


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_template_is_the_program_of_its_facts(name, tmp_path):
    template, extra = TEMPLATES[name]
    text, facts = plain(template)
    path = written(tmp_path, name, text)
    found = read(fsopt.read_model(path))
    assert same(found, stated(extra | facts))
    if name.startswith("linear"):
        assert same(found, by_highs(path))


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_file_of_which_a_part_is_another_is_read_as_it_says_or_refused(name, tmp_path):
    template, extra = TEMPLATES[name]
    original = stated(extra | plain(template)[1])
    ways: dict[str, int] = {}

    def run(case: Damaged) -> None:
        end = check(written(tmp_path, name, case.text), case, extra, original)
        ways[end] = ways.get(end, 0) + 1

    def cases():
        for k in range(CASES * FACTOR):
            case = damaged(template, generator(29, k))
            yield f"case {k}, {case.what}", lambda case=case: run(case)

    attack(cases())
    assert min(ways["read"], ways["refused"]) > CASES / 10, ways
