r"""Solvers of convex quadratic programs that are loaded anew at every solve: OSQP, PIQP, ProxQP, DAQP, and QOCO.

The first four are called through the library qpsolvers, QOCO, which it does not have, by its own package. They get
:math:`\min \tfrac12 x'Px + c'x,\ Ax = b,\ h - Gx \in K` in the units of :class:`fsopt.solvers.conic.ConicForm`; K is
the nonnegative orthant, and for QOCO second-order cones as well.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping
from contextlib import nullcontext, redirect_stdout
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from io import StringIO
from typing import Any

import numpy as np
import scipy.sparse as sp
from pyomo.common.tee import capture_output

from fsopt.answers.results import Status
from fsopt.compiler import Program
from fsopt.errors import said
from fsopt.solvers.conic import ConicForm
from fsopt.solvers.spec import UNKNOWN, Change, Outcome, Package, Settings, SolverSpec, set_options
from fsopt.typing import Indices, Vector

qpsolvers = Package("qpsolvers")
piqp = Package("piqp")
qoco = Package("qoco")
WORDS = {
    "SOLVED": (Status.OPTIMAL, "optimal"),
    "SOLVED_INACCURATE": (Status.FEASIBLE, "almost"),
    "PRIMAL_INFEASIBLE": (Status.INFEASIBLE, "infeasible"),
    "DUAL_INFEASIBLE": (Status.UNBOUNDED, "unbounded"),
    "MAX_ITER": (Status.FEASIBLE, "iteration-limit"),
    "MAX_ITER_REACHED": (Status.FEASIBLE, "iteration-limit"),
    "TIME_LIMIT_REACHED": (Status.FEASIBLE, "time-limit"),
    "NUMERICS": (Status.FEASIBLE, "numerical"),
    "NUMERICAL_ERROR": (Status.FEASIBLE, "numerical"),
    "SIGINT": (Status.NONE, "interrupted"),
}
"""By the solvers' words without their names; every other word, and no word of a solver that found nothing, is none."""
TOLERANCE = 1e-9
SMALLEST = 1e-15
"""Tolerance in place of 0, which OSQP and QOCO do not take."""
DENSE = ("proxqp", "daqp")
"""Solvers that get dense arrays."""
ROUNDING = 1e-15
"""Entries of a point up to this fraction of the largest, or of 1, are what the linear algebra of DAQP leaves of 0."""


@dataclass(frozen=True)
class Arrays:
    """A program; P (n, n) is whole, and K has ``linear`` nonnegative rows and cones of the sizes ``cones``."""

    P: sp.csc_matrix
    c: Vector
    A: sp.csc_matrix
    b: Vector
    G: sp.csc_matrix
    h: Vector
    linear: int
    cones: Indices


ONE, EMPTY = sp.csc_matrix([[1.0]]), np.zeros(0)
TINY = Arrays(ONE, -np.ones(1), sp.csc_matrix((0, 1)), EMPTY, ONE, np.full(1, 2.0), 1, EMPTY.astype(int))
"""``min x^2 / 2 - x, x <= 2``."""


@dataclass(frozen=True)
class Answer:
    """A solver's word, its point x (n,), the multipliers of Ax = b and of h - Gx in K, and its number of iterations."""

    word: str
    x: Vector
    y: Vector
    z: Vector
    iterations: int


def by_qpsolvers(name: str, arrays: Arrays, options: Mapping[str, Any]) -> Answer:
    """Solve a program by a solver of qpsolvers."""
    a = arrays
    dense = name in DENSE
    pairs = ((M.toarray() if dense else M, v) if len(v) else (None, None) for M, v in ((a.G, a.h), (a.A, a.b)))
    P = a.P.toarray() if dense else a.P
    if name == "daqp" and not a.P.nnz:
        options = {"eps_prox": 1e-4, **options}  # by proximal steps: else a linear objective is regularised
    problem = qpsolvers.Problem(P, a.c, *(part for pair in pairs for part in pair))
    with warnings.catch_warnings(action="ignore"):  # of dense copies, and of programs without an answer
        found = qpsolvers.solve_problem(problem, name, **options)
    info = found.extras.get("info")
    word = "SOLVED" if found.found else "" if info is None else _word(info)
    # OSQP has its proof of infeasibility beside the multipliers, inequalities before equations.
    ray = found.extras.get("prim_inf_cert") if word == "PRIMAL_INFEASIBLE" else None
    z, y = (found.z, found.y) if ray is None else np.split(np.array(ray), [len(a.h)])
    x = _vector(found.x, len(a.c))
    if name == "daqp":
        x = np.where(np.abs(x) > ROUNDING * min(1.0, np.abs(x).max(initial=0.0)), x, 0.0)
    return Answer(word, x, _vector(y, len(a.b)), _vector(z, len(a.h)), int(getattr(info, "iter", 0)))


def _word(info: Any) -> str:
    """Return the status in the report of OSQP, PIQP or ProxQP, without the solver's name."""
    status = info.status
    if isinstance(status, str):
        from osqp import SolverStatus

        status = SolverStatus(info.status_val)
    return str(status.name).partition("_")[2]


def _vector(values: Any, size: int) -> Vector:
    """Return a part of an answer as an array; not a number where there is none."""
    return np.full(size, np.nan) if values is None or len(values) != size else np.array(values, dtype=float)


def by_qoco(arrays: Arrays, options: Mapping[str, Any]) -> Answer:
    """Solve a program by QOCO."""
    a = arrays
    sizes = len(a.c), len(a.h), len(a.b)
    equations, rows = ((matrix, v) if len(v) else (None, None) for matrix, v in ((a.A, a.b), (a.G, a.h)))
    solver = qoco.QOCO(algebra="builtin")
    solver.setup(*sizes, a.P, a.c, *equations, *rows, a.linear, len(a.cones), a.cones, **options)
    r = solver.solve()
    return Answer(r.status.partition("_")[2], np.array(r.x), np.array(r.y), np.array(r.z), int(r.iters))


@dataclass(frozen=True)
class Software:
    """What differs between the solvers: how they run, which options get the tolerance, and how others are checked."""

    run: Callable[[Arrays, Mapping[str, Any]], Answer]
    tolerances: tuple[str, ...]
    smallest: float = 0.0
    others: Mapping[str, Any] = field(default_factory=dict)
    limit: bool = False  # whether there is a time_limit
    names: Callable[[], Any] | None = None  # of all options; None where the solver itself refuses others


class QuadraticSolver:
    """One convex quadratic program, with second-order cones at most; the arrays are read from it at every solve."""

    def __init__(self, name: str, software: Software, program: Program, settings: Settings) -> None:
        self.name, self.software = name, software
        self.program, self.form = program, ConicForm(program)
        tolerance = TOLERANCE if settings.tolerance is None else max(settings.tolerance, software.smallest)
        self.options = {**dict.fromkeys(software.tolerances, tolerance), **software.others, "verbose": settings.tee}
        set_options(name, settings.own, self.tried, (Exception,))

    def tried(self, option: str, value: Any) -> None:
        """Take an option of the user's, and solve a tiny program: some packages check values there, and print why."""
        names = self.software.names
        if names is not None and option not in names():
            raise AttributeError("there is no such setting")
        log, options = StringIO(), {**self.options, option: value, "verbose": False}
        try:
            with capture_output(log, capture_fd=True):
                answer = self.software.run(TINY, options)
        except Exception as error:
            raise ValueError(" ".join(log.getvalue().split()) or said(error)) from error
        if WORDS.get(answer.word, UNKNOWN)[0] is Status.NONE:
            raise ValueError(answer.word)
        self.options[option] = value

    def update(self, change: Change) -> str | None:
        """Take over a change: the next solve reads the program, but its rows must have kept their places."""
        return self.form.moved(change)

    def solve(self, time_limit: float | None, mip_gap: float | None = None) -> Outcome:
        """Solve from scratch."""
        started = time.perf_counter()
        p, form = self.program, self.form
        M, b = form.matrix(), form.right_hand_side()
        e, upper = form.equalities, form.hessian()
        P = sp.csc_matrix(upper + sp.triu(upper, 1).T)
        parts = sp.csc_matrix(M[:e]), b[:e], sp.csc_matrix(M[e:]), b[e:]
        arrays = Arrays(P, form.linear(), *parts, form.inequalities, p.cones.sizes)
        limited = {"time_limit": time_limit} if self.software.limit and time_limit is not None else {}
        with nullcontext() if self.options["verbose"] else redirect_stdout(StringIO()):  # OSQP prints of its polishing
            found = self.software.run(arrays, self.options | limited)
        linear = form.inequalities
        z = np.concatenate([found.y, np.maximum(found.z[:linear], 0.0), found.z[linear:]])
        ended = WORDS.get(found.word, UNKNOWN)
        return form.outcome(ended, found.x, z, found.iterations, started, found.word or "no answer")


def _spec(name: str, software: Software, package: str, ranks: Mapping[str, int], licence: str) -> SolverSpec:
    needed = (package,) if name == "qoco" else (package, "qpsolvers")
    linear = {} if "LP" in ranks else {"LP": "it reaches its limit of iterations on linear programs"}
    return SolverSpec(
        name=name,
        connect=partial(QuadraticSolver, name, software),
        package=package,
        ranks=ranks,
        declined=linear,
        in_place=True,
        pip="pip install 'fsopt[qp]'",
        licence=licence,
        present=lambda: all(find_spec(one) is not None for one in needed),
    )


GAPS = ("eps_duality_gap_abs", "eps_duality_gap_rel")
PIQP = Software(
    partial(by_qpsolvers, "piqp"), ("eps_abs", "eps_rel", *GAPS), names=lambda: dir(piqp.SparseSolver().settings)
)
PROXQP = Software(
    partial(by_qpsolvers, "proxqp"),
    ("eps_abs", "eps_duality_gap_abs"),
    others={"eps_rel": 0.0, "eps_duality_gap_rel": 0.0, "check_duality_gap": True},
)
OSQP = Software(
    partial(by_qpsolvers, "osqp"),
    ("eps_abs", "eps_rel"),
    smallest=SMALLEST,
    others={"polishing": True, "max_iter": 100_000},
    limit=True,
)
DAQP = Software(partial(by_qpsolvers, "daqp"), ("primal_tol",), limit=True)
QOCO = Software(
    by_qoco,
    ("abstol", "reltol"),
    smallest=SMALLEST,
    names=lambda: [name for name in dir(qoco.QOCO(algebra="builtin").ext.QOCOSettings()) if not name.startswith("_")],
)
BOTH = ("LP", "QP")
SPECS = (
    _spec("piqp", PIQP, "piqp", dict.fromkeys(BOTH, 85), "BSD-2-Clause"),
    _spec("proxqp", PROXQP, "proxsuite", {"QP": 86}, "BSD-2-Clause"),
    _spec("qoco", QOCO, "qoco", dict.fromkeys((*BOTH, "SOCP"), 87), "BSD-3-Clause"),
    _spec("osqp", OSQP, "osqp", {"QP": 88}, "Apache-2.0"),
    _spec("daqp", DAQP, "daqp", dict.fromkeys(BOTH, 89), "MIT"),
)
