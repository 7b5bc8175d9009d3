"""Random programs with sets, ranges and domains with holes, written, read and written again: the same program."""

from __future__ import annotations

import hashlib

import numpy as np
import pyomo.environ as pyo
import pytest
from pyomo.core.base.range import NumericRange
from support import sampled

import fsopt
from fsopt.compiler import compile_model
from fsopt.errors import FileError
from tools.instances import build_instance

DOMAINS = (
    (pyo.Reals, 1.5),
    (pyo.NonNegativeReals, 0.5),
    (pyo.Integers, -2),
    (pyo.Binary, 1),
    ([1, 3, 5], 3),
    ([-2, 0.5, 4], 0.5),
    (pyo.RangeSet(-3, 6, 3), 6),
    (pyo.RangeSet(ranges=(NumericRange(0, 0, 0), NumericRange(2, 5, 0))), 2.5),
    (pyo.RangeSet(ranges=(NumericRange(0, 0, 0), NumericRange(2, 5, 1))), 4),
    (pyo.RangeSet(ranges=(NumericRange(-5, -2, 0), NumericRange(1, 3, 0))), -2.5),
)
"""Domains, and a value in each."""


def random_program(seed, *, sets):
    """Return a bounded program with feasible points, of numbers that are short in any format."""
    rng = np.random.default_rng(seed)
    m = pyo.ConcreteModel(name=f"random-{seed}")
    n = int(rng.integers(4, 7))
    m.x = pyo.Var(range(n), bounds=(-6, 7))
    x, start = list(m.x.values()), np.zeros(n)
    for j in range(3 if sets else 0, n):
        x[j].domain, start[j] = DOMAINS[rng.integers(len(DOMAINS))]

    def body():
        coefs = rng.integers(-4, 5, size=n) / 4
        coefs[rng.integers(n)] = 1.25
        return coefs, float(coefs @ start)

    m.row = pyo.ConstraintList()
    for kind in rng.permutation(["<=", "=", "range"]):
        coefs, value = body()
        form = sum(float(c) * v for c, v in zip(coefs, x, strict=True) if c)
        m.row.add(
            {"<=": (None, form, value + 1), "=": (value, form, value), "range": (value - 2, form, value + 3)}[kind]
        )
    coefs, _ = body()
    cost = sum(float(c) * v for c, v in zip(coefs, x, strict=True) if c) + float(rng.integers(-3, 4))
    m.o = pyo.Objective(expr=cost, sense=pyo.maximize if rng.integers(2) else pyo.minimize)
    if sets:
        members = rng.permutation(3).tolist()
        m.s = pyo.SOSConstraint(rule=lambda m: ([x[j] for j in members], [1.5, 2, 4]), sos=int(rng.integers(1, 3)))
    return m


def digest(model):
    """Return a digest of the compiled program in which neither names nor the order of rows and columns count.

    Rows and columns are colours, refined by those of their neighbours until all that differ are told apart.
    """
    p = compile_model(model)
    A = p.A.copy()
    A.eliminate_zeros()
    entries = A.tocoo()
    columns = [repr(part) for part in zip(p.lb, p.ub, p.integer, p.sign * p.c, strict=True)]
    rows = [repr(part) for part in zip(p.lo, p.hi, strict=True)]
    members = [(k, one.kind, place, int(j)) for k, one in enumerate(p.ordered) for place, j in enumerate(one.columns)]
    for _ in range(4):
        beside_row, beside_column = [[] for _ in rows], [[] for _ in columns]
        for i, j, v in zip(entries.row, entries.col, entries.data, strict=True):
            beside_row[i].append(f"{v} {columns[j]}")
            beside_column[j].append(f"{v} {rows[i]}")
        for _, kind, place, j in members:
            beside_column[j].append(f"set {kind} {place if kind == 2 else 0}")
        rows, columns = (
            [
                hashlib.sha256(repr((own, sorted(near))).encode()).hexdigest()
                for own, near in zip(kept, beside, strict=True)
            ]
            for kept, beside in ((rows, beside_row), (columns, beside_column))
        )
    return hashlib.sha256(repr((p.sign, p.sign * p.c0, sorted(rows), sorted(columns))).encode()).hexdigest()


@pytest.mark.parametrize(
    ("seed", "suffix"), sampled([(s, e) for s in range(60) for e in (".nl", ".lp", ".mps", ".cbf")], 24)
)
def test_a_program_is_the_same_when_it_is_read(seed, suffix, tmp_path):
    model = random_program(seed, sets=suffix == ".nl" and seed % 2 == 0)
    first = fsopt.read_model(fsopt.export(model, tmp_path / f"one{suffix}")[0])
    second = fsopt.read_model(fsopt.export(first, tmp_path / f"two{suffix}")[0])
    if suffix == ".nl":  # an .mps of ranges and a .cbf have other rows of the same program
        assert digest(first) == digest(model)
    assert digest(second) == digest(first)
    answers = [fsopt.solve(m, "scip" if compile_model(m).ordered else "highs") for m in (model, second)]
    assert [answer.status for answer in answers] == ["optimal", "optimal"]
    assert answers[0].objective == pytest.approx(answers[1].objective, abs=1e-6)


SUFFIXES = (".mps", ".lp", ".nl", ".gms", ".cbf", ".dat-s")
LIBRARY = ["fsv-exact", "gmeb-dual", "l0-mpm", "gmeb-sdp", "fsp-m-bigm", "svm", "mmop", "l0-mpm-exact", "rlp"]
"""MILP, SOCP, NLP, SDP, MIQP, QP, nonconvex quadratic, MISOCP, LP."""


@pytest.mark.parametrize("target", SUFFIXES)
@pytest.mark.parametrize("source", SUFFIXES)
@pytest.mark.parametrize("slug", sampled(LIBRARY, 2))
def test_a_file_of_the_library_in_another_format_has_its_optimum(slug, source, target, tmp_path):
    """A format refuses a file of which it refuses the model, by the same reason, and no other one."""
    own = build_instance(slug)
    turn, refused = (-1.0 if compile_model(own).sign < 0 and ".dat-s" in (source, target) else 1.0), ""
    try:
        first = fsopt.read_model(fsopt.export(own, tmp_path / f"one{source}")[0])
        fsopt.export(own, tmp_path / f"other{target}")
    except FileError as error:
        refused = str(error)
    if (tmp_path / f"one{source}").exists():
        try:
            second = fsopt.read_model(fsopt.export(first, tmp_path / f"two{target}")[0])
        except FileError:
            assert refused
        else:
            assert not refused
            expected = fsopt.solve(own).objective
            assert turn * fsopt.solve(second).objective == pytest.approx(expected, rel=1e-6, abs=1e-6)
