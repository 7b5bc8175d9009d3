"""Relaxations of nodes by compiled steps where numba is installed: the extra ``compiled``.

numpy takes longer for the calls of its functions than for the arithmetic of a node of a hundred samples and fifty
features. Importing numba takes half a second, and compiling fifteen, once for an installation; so a search begins in
numpy, and goes on compiled when the searches of this process have taken :data:`IMPORT` seconds of a processor, or
:data:`COMPILE` where no earlier process has compiled the functions: at most about twice what the better way takes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from time import thread_time
from typing import TYPE_CHECKING, Any

import numpy as np

from fsopt.algorithms.branch_and_benders.cuts import BendersCut, CutBound, Grid
from fsopt.algorithms.branch_and_benders.cuts import make_cut as make_cut_in_numpy
from fsopt.algorithms.branch_and_benders.interior_point import Goal, Solved
from fsopt.algorithms.branch_and_benders.interior_point import solve as solve_in_numpy
from fsopt.algorithms.branch_and_benders.problem import GRID, Partial, SelectionProblem, largest_on_grid
from fsopt.algorithms.branch_and_benders.relaxation import Floats, InteriorPoint, NodeRelaxation, cold
from fsopt.algorithms.branch_and_benders.relaxation import warm as warm_in_numpy
from fsopt.algorithms.svm_batch import SvmBatch, solve_batch
from fsopt.common import clock
from fsopt.data.losses import DualTerm
from fsopt.data.matrices import is_sparse
from fsopt.typing import Indices, Matrix, Vector

if TYPE_CHECKING:
    from fsopt.algorithms.branch_and_benders.kernels.arrays import NodeProgram

IMPORT, COMPILE = 2.0, 10.0
"""CPU seconds of the searches of this process from which compiled functions are imported, and others are compiled."""
COMPILING = 30.0
"""Seconds that a time limit leaves where functions are compiled that no earlier process has compiled."""
Start = tuple[Matrix, Matrix, Matrix]
"""Where machines on selections (k, s) begin: hyperplanes (k, s + 1), weight 0 of a feature that comes to them, and the
margins (k, n) and multipliers (k, n) of the machines that these are of."""
LARGEST = 2**24
"""Multiplications of a step up to which it is compiled: larger ones look at the clock, and are BLAS anyway."""


_past = 0.0
_begun: ContextVar[float | None] = ContextVar("begun", default=None)


@contextmanager
def counted() -> Iterator[None]:
    """Count the CPU seconds of a block as those of a search."""
    global _past
    begun = thread_time()
    token = _begun.set(begun)
    try:
        yield
    finally:
        _begun.reset(token)
        _past += thread_time() - begun


def _spent() -> float:
    """Return the CPU seconds of the searches of this process so far."""
    begun = _begun.get()
    return _past if begun is None else _past + thread_time() - begun


@cache
def available() -> bool:
    """Return whether numba is installed, and compiles."""
    return find_spec("numba") is not None and os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0")


def go_on() -> bool:
    """Return whether a search goes on with compiled nodes, within its time limit."""
    return _ready("run")


def exchanges() -> bool:
    """Return whether a search goes on with compiled machines, within its time limit."""
    return _ready("machines")


def _ready(name: str) -> bool:
    spent = _spent()
    if spent < IMPORT or not available():
        return False
    kept = _kept(name)
    return bool(kept) or (kept is not None and spent >= COMPILE and (clock.left() or np.inf) > COMPILING)


def _kept(name: str) -> bool | None:
    """Return whether a function is compiled, in this process or a cache; None where this user has no folder for one."""
    from fsopt.algorithms.branch_and_benders.kernels import interior_point

    function: Any = getattr(interior_point, name)
    if function.signatures:
        return True
    place, code = function.stats.cache_path, function.py_func.__code__
    if place is None:
        return None
    cached = Path(place).glob(f"interior_point.{name}-{code.co_firstlineno}.*.nbi")
    written = Path(code.co_filename).stat().st_mtime  # of an earlier version of the function the cache is of no use
    return any(file.stat().st_mtime >= written for file in cached)


def suits(program: NodeRelaxation) -> bool:
    """Return whether the compiled steps take a program."""
    n, features, _, k = program.shape
    return not program.term.entropy and k <= 1 and features < n and n * (features + 1) ** 2 <= LARGEST


def solve(program: NodeRelaxation, goal: Goal, start: InteriorPoint | None = None) -> Solved | None:
    """Solve the relaxation of a node as :func:`fsopt.algorithms.branch_and_benders.interior_point.solve` does."""
    if not suits(program) or clock.expired():
        return solve_in_numpy(program, goal, start)
    from fsopt.algorithms.branch_and_benders.kernels.arrays import NodeIterate as Point
    from fsopt.algorithms.branch_and_benders.kernels.interior_point import run

    n, _, f, k = program.shape
    at = cold(program) if start is None else start
    best = np.zeros(n)
    point = Point(at.x, at.z, at.q, at.hyperplane)
    bound, mu = run(_arrays(program), point, goal.gap, goal.cutoff, goal.branch, best)
    if not bound > -np.inf:
        return None
    sigma = at.x[2 * n + f : 2 * n + 2 * f].copy()
    return Solved(best, np.full(k, mu), at.hyperplane[:-1], float(at.hyperplane[-1]), sigma, bound)


def warm(
    program: NodeRelaxation, hyperplane: Vector, sigma: Vector, margins: Vector, alpha: Floats | None
) -> InteriorPoint:
    """Return a point as :func:`fsopt.algorithms.branch_and_benders.relaxation.warm` does."""
    if not suits(program):
        return warm_in_numpy(program, hyperplane, sigma, margins, alpha)
    from fsopt.algorithms.branch_and_benders.kernels.arrays import NodeIterate as Point
    from fsopt.algorithms.branch_and_benders.kernels.interior_point import warm as kernel

    n, features, f, k = program.shape
    x, z = np.empty((2, 2 * n + 2 * f + k))
    at = InteriorPoint(x, z, np.empty(features), hyperplane)
    known = np.full(n, -1.0) if alpha is None else alpha.astype(float)
    kernel(_arrays(program), Point(at.x, at.z, at.q, at.hyperplane), sigma, margins, known)
    return at


def machines(
    rows: Matrix,
    places: Indices,
    term: DualTerm,
    goal: Goal,
    frozen: Matrix | None,
    start: Start,
) -> SvmBatch:
    """Return support vector machines as :func:`fsopt.algorithms.svm_batch.solve_batch` does, from a start.

    Parameters
    ----------
    rows : signed samples of the features, and labels, of which a machine has those at ``places`` (k, s + 1).
    frozen : (k, s + 1) products of these with the multipliers of further samples; None for no such samples.
    """
    from fsopt.algorithms.branch_and_benders.kernels.interior_point import machines as kernel

    n, (k, size) = rows.shape[1], places.shape
    if term.entropy or size > n or n * size**2 > LARGEST:
        return solve_batch(rows[places], term, goal.gap, goal.cutoff, frozen)
    caps, gamma = (_each(part, n) for part in (term.caps, term.gamma))
    hyperplane, margins, alpha = (np.array(part, dtype=float, order="C") for part in start)
    sums = np.zeros((k, size)) if frozen is None else frozen
    bound = np.empty(k)
    rows = np.ascontiguousarray(rows)  # of another layout it would be compiled once more
    kernel(rows, places, caps, gamma, sums, margins, goal.gap, goal.cutoff, (hyperplane, alpha, bound))
    return SvmBatch(alpha, hyperplane, bound, (bound > -np.inf) & (bound < goal.cutoff))


def on_grid(alpha: Vector, y: Vector, c: float | Vector) -> Grid | None:
    """Return multipliers on the grid as :func:`fsopt.algorithms.branch_and_benders.cuts.on_grid` does."""
    from fsopt.algorithms.branch_and_benders.kernels.cuts import on_grid as kernel

    caps, tops = _each(c, len(y)), _each(largest_on_grid(c), len(y))
    grid = np.empty(len(y), dtype=np.int64)
    return grid.astype(np.int32) if kernel(alpha, y, caps, tops, float(np.max(c)) / GRID, grid) else None


def make_cut(problem: SelectionProblem, name: int, grid: Grid, mu: Vector) -> BendersCut:
    """Return a cut as :func:`fsopt.algorithms.branch_and_benders.cuts.make_cut` does."""
    if problem.term.entropy or is_sparse(problem.X) or len(mu) > (problem.main is not None):
        return make_cut_in_numpy(problem, name, grid, mu)
    from fsopt.algorithms.branch_and_benders.kernels.cuts import cut as kernel

    gains = np.empty(problem.p)
    constant = kernel(problem.signed, grid, problem.unit, problem.gammas, problem.norms, problem.lam, gains)
    return BendersCut(name, constant, gains)


def bound(problem: SelectionProblem, cut: BendersCut, at: Partial) -> CutBound:
    """Return the bound of a cut on a node as :func:`fsopt.algorithms.branch_and_benders.cuts.bound` does."""
    from fsopt.algorithms.branch_and_benders.kernels.cuts import bound as kernel

    weight, right = problem.knapsack
    out = np.empty((2, problem.p))
    value = kernel(cut.constant, cut.gains, at.inside, at.outside, weight, right, out)
    return CutBound(value, out[0], out[1])


def value(problem: SelectionProblem, cut: BendersCut, at: Partial) -> float:
    """Return the value of :func:`bound` alone."""
    return bound(problem, cut, at).value


@lru_cache(maxsize=1)
def _arrays(program: NodeRelaxation) -> NodeProgram:
    """Return a program as the compiled steps take it: those of a warm start and those that follow it."""
    from fsopt.algorithms.branch_and_benders.kernels.arrays import NodeProgram

    n, _, f, k = program.shape
    caps, gamma = (_each(part, n) for part in (program.c, program.term.gamma))
    weight, left = (np.ascontiguousarray(program.R[0]), float(program.r[0])) if k else (np.zeros(f), 0.0)
    frozen = program.q, float(program.constant), float(program.balance)
    A = np.ascontiguousarray(program.Zy.T)
    return NodeProgram(A, caps, gamma, program.selected, k, weight, program.lam, left, *frozen)


def _each(part: float | Vector | Indices, n: int) -> Any:
    """Return one number for each of n samples."""
    return part if isinstance(part, np.ndarray) else np.full(n, part)
