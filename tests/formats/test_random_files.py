"""Random programs with every part of .mps and .lp: two formats, two readers, and files written again say the same."""

from __future__ import annotations

import highspy
import numpy as np
import pytest
import scipy.sparse as sp
from formats.test_reading import FILES, label, linear, short
from support import sampled, written

import fsopt
from fsopt.compiler import Program, compile_model
from fsopt.errors import FileError
from fsopt.formats.indicators import Indicator, switched
from fsopt.formats.read_arrays import ReadProgram, model_of
from fsopt.formats.read_lp import read_lp
from fsopt.formats.read_mps import read_mps

INF = np.inf
SMALL = [path for path in FILES if path.suffix in (".lp", ".mps") and path.stat().st_size < 6000]
SEEDS = sampled(range(60), 12)


class Random:
    """A random program: the arrays, and the texts of them. ``plain``: parts that HiGHS reads."""

    def __init__(self, seed: int, *, plain: bool, semi: bool) -> None:
        rng = np.random.default_rng([49, seed])
        m, n = rng.integers(2, 7), rng.integers(3, 8)
        self.A = rng.integers(-4, 5, (m, n)) * 0.5
        self.A[:, 0] = 1.0  # no empty row
        self.c = rng.integers(1, 9, n) * 0.25
        self.c0 = float(rng.integers(-3, 4))
        kinds = rng.choice(["L", "G", "E", "R"], m)
        side = rng.integers(-5, 6, m) * 0.5
        self.lo = np.where(np.isin(kinds, ["G", "E", "R"]), side, -INF)
        self.hi = np.where(kinds == "R", side + rng.integers(1, 4, m), np.where(kinds == "G", INF, side))
        self.lb, self.ub = rng.integers(-3, 2, n).astype(float), rng.integers(2, 6, n).astype(float)
        self.integer = rng.random(n) < 0.4
        self.semi = (rng.random(n) < 0.3) & semi
        self.lb[self.semi] = rng.integers(1, 3, self.semi.sum())
        self.integer &= ~self.semi | (not plain)  # HiGHS takes a semi-integer variable of .mps for a continuous one
        self.lb[-1], self.ub[-1], self.integer[-1], self.semi[-1] = 0, 1, True, False
        if rng.random() < 0.5:
            self.lb[1], self.ub[1] = -INF, INF
            self.semi[1] = False
        self.maximise = bool(rng.random() < 0.5)
        squares = [(j, j, float(rng.integers(1, 4))) for j in range(n) if rng.random() < 0.3]
        self.objective = [] if plain else [*squares, (0, 2, 1.5)]
        self.disk = [] if plain else [(0, 0, 1.0), (0, 2, -0.5)]
        self.sets = [] if plain else [(1, [0, 2], [1.0, 2.5])]
        self.indicator = None if plain or not np.isfinite([*self.lb, *self.ub]).all() else Indicator(1, n - 1, seed % 2)
        self.columns, self.rows = [f"x{j}" for j in range(n)], [f"r{i}" for i in range(m)]

    def form(self, coefs: np.ndarray) -> str:
        return " ".join(f"{v:+} {x}" for v, x in zip(coefs.tolist(), self.columns, strict=True))

    def part(self, triples: list, factor: float) -> str:
        return "[ " + " ".join(f"{factor * v:+} x{i} * x{j}" for i, j, v in triples) + " ]" if triples else ""

    def lp(self) -> str:
        half = f"+ {self.part(self.objective, 2.0)} / 2" if self.objective else ""
        lines = [f"{'max' if self.maximise else 'min'}\n cost: {self.form(self.c)} {half} {self.c0:+}\nst"]
        for i, (name, lo, hi) in enumerate(zip(self.rows, self.lo, self.hi, strict=True)):
            form = self.form(self.A[i]) + (f" + {self.part(self.disk, 1.0)}" if self.disk and i == 0 else "")
            if self.indicator is not None and self.indicator.row == i:
                form = f"{self.columns[-1]} = {self.indicator.value} -> {form}"
            ends = f"= {lo}" if lo == hi else f"<= {hi}" if np.isinf(lo) else f">= {lo}"
            if lo < hi and np.isfinite([lo, hi]).all() and self.indicator is None:
                lines += [f" {name}: {lo} <= {form} <= {hi}"]
            else:
                lines += [f" {name}: {form} {ends}"]
        lines += ["bounds", *(f" {a} <= {x} <= {b}" for a, x, b in zip(self.lb, self.columns, self.ub, strict=True))]
        for word, mask in (("general", self.integer), ("semi", self.semi)):
            lines += [word, " " + " ".join(x for x, has in zip(self.columns, mask, strict=True) if has)]
        for kind, places, weights in self.sets:
            items = " ".join(f"x{j}:{w}" for j, w in zip(places, weights, strict=True))
            lines += ["sos", f" s: S{kind}:: {items}"]
        return "\n".join([*lines, "end", ""])

    def mps(self) -> str:
        lines = [f"NAME\nOBJSENSE\n    {'MAX' if self.maximise else 'MIN'}\nROWS\n N cost"]
        kinds = ["E" if a == b else "L" if np.isfinite(b) else "G" for a, b in zip(self.lo, self.hi, strict=True)]
        lines += [f" {kind} {name}" for kind, name in zip(kinds, self.rows, strict=True)]
        lines += ["COLUMNS"]
        for j, name in enumerate(self.columns):
            marked = int(self.integer[j])
            lines += ["    M 'MARKER' 'INTORG'"] * marked + [f"    {name} cost {self.c[j]}"]
            lines += [f"    {name} {row} {v}" for row, v in zip(self.rows, self.A[:, j], strict=True) if v]
            lines += ["    M 'MARKER' 'INTEND'"] * marked
        right = [b if np.isfinite(b) else a for a, b in zip(self.lo, self.hi, strict=True)]
        lines += ["RHS", f"    S cost {-self.c0}", *(f"    S {x} {v}" for x, v in zip(self.rows, right, strict=True))]
        spread = [(x, b - a) for x, a, b in zip(self.rows, self.lo, self.hi, strict=True) if a < b < INF and a > -INF]
        lines += ["RANGES", *(f"    R {x} {v}" for x, v in spread), "BOUNDS"]
        for j, (name, a, b) in enumerate(zip(self.columns, self.lb, self.ub, strict=True)):
            lines += [f" MI B {name}" if np.isinf(a) else f" LO B {name} {a}"]
            lines += [f" PL B {name}" if np.isinf(b) else f" {'SC' if self.semi[j] else 'UP'} B {name} {b}"]
        if self.objective:
            lines += ["QUADOBJ", *(f"    x{i} x{j} {2 * v if i == j else v}" for i, j, v in self.objective)]
        if self.disk:
            both = [(i, j, v) for i, j, v in self.disk if i == j]
            both += [(*pair, v / 2) for i, j, v in self.disk if i != j for pair in ((i, j), (j, i))]
            lines += ["QCMATRIX r0", *(f"    x{i} x{j} {v}" for i, j, v in both)]
        for kind, places, weights in self.sets:
            lines += ["SOS", f" S{kind} s", *(f"    x{j} {w}" for j, w in zip(places, weights, strict=True))]
        if self.indicator is not None:
            lines += ["INDICATORS", f" IF r{self.indicator.row} {self.columns[-1]} {self.indicator.value}"]
        return "\n".join([*lines, "ENDATA", ""])


def same(own: ReadProgram, other: ReadProgram) -> None:
    """Compare all that two programs say; their functions at a point."""
    assert (own.columns, own.rows, own.maximise, own.c0) == (other.columns, other.rows, other.maximise, other.c0)
    for name in ("c", "lo", "hi", "lb", "ub", "integer", "semi"):
        np.testing.assert_array_equal(getattr(own, name), getattr(other, name), err_msg=name)
    assert (own.A != other.A).nnz == 0
    assert own.sets == other.sets
    x = np.sin(np.arange(len(own.columns))).tolist()
    assert own.terms.keys() == other.terms.keys()
    pairs = [(own.terms[i], other.terms[i]) for i in own.terms] + [(own.objective, other.objective)]
    for f, g in pairs:
        assert (f is None) == (g is None)
        assert f is None or g is None or float(f(x)) == pytest.approx(float(g(x)), rel=1e-14)


@pytest.mark.parametrize("seed", SEEDS)
def test_both_readers_find_the_program_that_was_written(seed: int) -> None:
    r = Random(seed, plain=False, semi=True)
    if r.indicator is not None:
        ranged = np.isfinite(r.lo) & np.isfinite(r.hi) & (r.lo < r.hi)
        r.hi[ranged] = INF  # of an .lp file, ranges are written without indicators
    lp, mps = read_lp(r.lp()), read_mps(r.mps())
    same(lp, mps)
    own = ReadProgram(
        name="",
        columns=r.columns,
        rows=r.rows,
        maximise=r.maximise,
        c=r.c,
        c0=r.c0,
        A=sp.csr_matrix(r.A),
        lo=r.lo,
        hi=r.hi,
        lb=r.lb,
        ub=r.ub,
        integer=r.integer,
        semi=r.semi,
        sets=r.sets,
        objective=lambda x: sum(v * x[i] * x[j] for i, j, v in r.objective),
        terms={0: lambda x: sum(v * x[i] * x[j] for i, j, v in r.disk)},
    )
    same(mps, own if r.indicator is None else switched(own, [r.indicator]))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("suffix", [".lp", ".mps"])
def test_highs_reads_the_same_program(seed: int, suffix: str, tmp_path) -> None:
    r = Random(seed, plain=True, semi=True)
    if suffix == ".lp":
        r.hi[np.isfinite(r.lo) & np.isfinite(r.hi) & (r.lo < r.hi)] = INF  # it does not read two relations
    text = r.lp() if suffix == ".lp" else r.mps()
    read = read_lp(text) if suffix == ".lp" else read_mps(text)
    h = highspy.Highs()
    h.setOptionValue("output_flag", False)
    assert h.readModel(str(written(tmp_path, f"m{suffix}", text))) == highspy.HighsStatus.kOk
    p = h.getLp()
    assert (p.col_names_, p.row_names_, p.offset_) == (read.columns, read.rows, read.c0)
    assert (p.sense_ == highspy.ObjSense.kMaximize) == read.maximise
    pairs = [(p.col_cost_, read.c), (p.col_lower_, read.lb), (p.col_upper_, read.ub), (p.row_lower_, read.lo)]
    for theirs, ours in [*pairs, (p.row_upper_, read.hi)]:
        np.testing.assert_array_equal(theirs, ours)
    kinds = [highspy.HighsVarType.kInteger, highspy.HighsVarType.kSemiContinuous]
    for kind, mask in zip(kinds, (read.integer, read.semi), strict=True):
        assert [k == kind for k in p.integrality_] == list(mask)
    assert p.a_matrix_.format_ == highspy.MatrixFormat.kColwise
    A = sp.csc_matrix((p.a_matrix_.value_, p.a_matrix_.index_, p.a_matrix_.start_), shape=read.A.shape)
    assert (A != read.A).nnz == 0


def key(name: str, again: bool) -> str:
    """Return the letters and digits of a name; of one that was written again, without the x of ``x(name)``."""
    return "".join(c for c in name if c.isalnum())[again:]


def stated(program: Program, again: bool) -> tuple[dict[str, float], set]:
    """Return the linear objective and its constant, linear constraints and bounds, without Pyomo's constant."""
    cost = {key(label(v), again): short(c) for v, c in zip(program.variables, program.c, strict=True) if c}
    constant = program.c0 + cost.pop("NEVARCONSTANT", 0.0)
    forms = {(tuple(sorted((key(name, again), v) for name, v in form)), end) for form, end in linear(program)}
    return cost | {"": constant}, {(form, end) for form, end in forms if form[0][0] != "NEVARCONSTANT"}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("suffix", [".lp", ".mps"])
def test_a_program_that_was_read_is_written_and_read_again(seed: int, suffix: str, tmp_path) -> None:
    own = compile_model(model_of(read_mps(Random(seed, plain=False, semi=False).mps())))
    again = compile_model(fsopt.read_model(fsopt.export(own.model, tmp_path / f"m{suffix}")[0]))
    assert stated(again, True) == stated(own, False)
    assert own.sign == again.sign
    whole = [
        {key(label(v), p is again) for v, z in zip(p.variables, p.integer, strict=True) if z} for p in (own, again)
    ]
    assert whole[0] == whole[1]
    sets = [
        [(one.kind, [key(label(p.variables[j]), p is again) for j in one.columns]) for one in p.ordered]
        for p in (own, again)
    ]
    assert sets[0] == sets[1]
    at = {key(label(v), False): np.sin(j) for j, v in enumerate(own.variables)}
    x, y = ([at.get(key(label(v), p is again), 0.0) for v in p.variables] for p in (own, again))
    assert y @ (again.P @ y) == pytest.approx(x @ (own.P @ x))
    assert {len(r.terms.quadratic) for r in again.general} == {len(r.terms.quadratic) for r in own.general}


@pytest.mark.parametrize("path", sampled(SMALL, 3), ids=lambda path: path.name)
def test_a_line_that_is_there_twice_is_refused_or_changes_nothing(path) -> None:
    read = read_lp if path.suffix == ".lp" else read_mps
    lines = path.read_text().splitlines(keepends=True)
    own, refused = read("".join(lines)), 0
    for k in range(len(lines)):
        try:
            other = read("".join([*lines[: k + 1], *lines[k:]]))
        except FileError:
            refused += 1
        else:
            same(own, other)
        with pytest.raises(FileError):
            read("".join(lines[:k]))
    assert refused > len(lines) / 2
