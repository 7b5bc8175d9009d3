"""Ipopt, through cyipopt: linear, convex and nonconvex smooth programs, with derivatives of our own."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from fsopt.answers.results import Point, Status
from fsopt.certificates.bounds import farkas
from fsopt.certificates.points import infeasibility
from fsopt.compiler import Program
from fsopt.compiler.derivatives import derivatives_of
from fsopt.errors import OptionError, SolverError, shown
from fsopt.solvers.interface import LARGEST, Change, Outcome, Settings, refuse_option
from fsopt.solvers.nlp import NonlinearForm
from fsopt.solvers.shared import elastic_program
from fsopt.solvers.spec import Package, SolverSpec
from fsopt.typing import Vector

cyipopt = Package("cyipopt")
TOLERANCE = 1e-10
NEAR = 1e-6
"""Primal residual up to which a convex program is taken to have a point."""

STATUS_MAP = {
    0: (Status.STATIONARY, "optimal"),
    1: (Status.STATIONARY, "almost"),
    2: (Status.NONE, "infeasible"),
    3: (Status.FEASIBLE, "numerical"),
    4: (Status.NONE, "unbounded"),
    5: (Status.FEASIBLE, "interrupted"),
    6: (Status.STATIONARY, "optimal"),
    -1: (Status.FEASIBLE, "iteration-limit"),
    -2: (Status.FEASIBLE, "numerical"),
    -3: (Status.FEASIBLE, "numerical"),
    -4: (Status.FEASIBLE, "time-limit"),
    -5: (Status.FEASIBLE, "time-limit"),
    -10: (Status.NONE, "numerical"),
    -13: (Status.NONE, "numerical"),
    -100: (Status.NONE, "numerical"),
    -101: (Status.NONE, "numerical"),
    -102: (Status.NONE, "numerical"),
    -199: (Status.NONE, "numerical"),
}
"""Ipopt's return codes; a local infeasibility or a diverging iterate proves nothing by itself."""
REFUSED = (-12, -11)
"""Codes for an invalid option, and for a value that names no linear solver of this Ipopt."""
FUNCTIONS = (
    "objective",
    "gradient",
    "constraints",
    "jacobian",
    "jacobianstructure",
    "hessian",
    "hessianstructure",
)
"""The functions of a form that cyipopt calls."""


@dataclass(frozen=True)
class IpoptStop:
    """Where Ipopt stopped: the primal-dual point, its code and its words."""

    point: Point
    code: int
    message: str


class Ipopt:
    """One program given to Ipopt.

    The arrays are read from the program at every solve, so that a change needs nothing but the next solve. Ipopt
    is deterministic and its linear solver has one thread here: ``seed`` and ``threads`` change nothing.

    Attributes
    ----------
    options : by Ipopt's names.
    last : (n,) the last usable point, from which the next solve starts; None before there is one.
    iterations : of the present solve, those of its proofs included.
    """

    def __init__(self, program: Program, settings: Settings) -> None:
        self.program = program
        self.options = _common_options(settings)
        derivatives_of(program)  # refuses a function without derivatives before anything is solved
        if settings.own:
            self.options |= _checked(settings.own)
        self.last: Vector | None = None
        self.iterations = 0

    def update(self, change: Change) -> str | None:
        """Take over a change: nothing to do, the next solve reads the program."""
        return None

    def solve(self, time_limit: float | None, mip_gap: float | None = None) -> Outcome:
        """Run Ipopt from the last point, or from the values of the variables where the program is not convex."""
        started = time.perf_counter()
        self.iterations = 0
        p = self.program
        deadline = np.inf if time_limit is None else started + time_limit
        found = self._run(p, self._start(), deadline)
        if found.code not in STATUS_MAP:
            raise SolverError(f"Ipopt stopped with code {found.code} ({found.message})", "try another solver")
        status, stop = STATUS_MAP[found.code]
        usable = status in (Status.STATIONARY, Status.FEASIBLE) and bool(np.all(np.isfinite(found.point.x)))
        if usable:
            self.last = found.point.x
        ray = None
        if p.convex and stop in ("infeasible", "unbounded", "numerical"):
            proved, ray = self._prove(found.point, deadline)
            if proved is not Status.NONE:
                status, stop = proved, proved.value
                usable = False
        if p.convex and status is Status.STATIONARY:
            status = Status.OPTIMAL
        point = found.point if usable else None
        return Outcome(status, stop, point, None, self.iterations, time.perf_counter() - started, found.message, ray)

    def _start(self) -> Vector:
        """Return the starting point; of a program that is not convex, it decides which local optimum is found."""
        p = self.program
        if self.last is not None and len(self.last) == p.n:
            return self.last
        start = np.zeros(p.n) if p.convex else p.values()
        return np.clip(start, p.lb, p.ub)

    def _prove(self, point: Point, deadline: float) -> tuple[Status, Point | None]:
        """Tell whether a convex program has no point, or an objective that falls for ever."""
        # The elastic program always has an optimum, so Ipopt does not diverge on it. Its multipliers are a candidate
        # for a Farkas vector; where its point is one of the program, Ipopt diverged for want of a bound. The
        # certificate decides whether either word counts.
        p = self.program
        relaxed = elastic_program(p)
        start = np.append(np.clip(np.zeros(p.n), p.lb, p.ub), np.ones(len(relaxed.c) - p.n))
        found = self._run(relaxed, start, deadline).point
        ray = Point(found.x[: p.n], found.y, found.z)
        if farkas(p, ray).ok or min(infeasibility(p, ray.x), infeasibility(p, point.x)) > NEAR:
            return Status.INFEASIBLE, ray
        return Status.UNBOUNDED, None

    def _run(self, program: Program, x: Vector, deadline: float) -> IpoptStop:
        """Solve a program from x (n,), until the deadline on the clock ``time.perf_counter``."""
        form = NonlinearForm(program)
        calls = _Callbacks(form)
        problem = cyipopt.Problem(
            n=form.size, m=len(form.low), problem_obj=calls, lb=form.lower, ub=form.upper, cl=form.low, cu=form.high
        )
        for name, value in self.options.items():
            problem.add_option(name, value)
        if deadline < np.inf:
            problem.add_option("max_wall_time", max(deadline - time.perf_counter(), 1e-6))
        v, info = problem.solve(form.start(x))
        if calls.raised is not None:
            raise calls.raised
        self.iterations += calls.iterations
        words = info["status_msg"]
        message = words.decode() if isinstance(words, bytes) else str(words)
        return IpoptStop(form.point(v, np.asarray(info["mult_g"])), int(info["status"]), message)


class _Callbacks:
    """The functions of a form as cyipopt asks for them; an exception in one of them (``raised``) ends the solve."""

    def __init__(self, form: NonlinearForm) -> None:
        self.raised: BaseException | None = None
        self.iterations = 0
        for name in FUNCTIONS:
            setattr(self, name, self._guarded(getattr(form, name)))

    def _guarded(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that keeps its exception: cyipopt drops it, and Ipopt goes on with other steps."""

        def call(*arguments: Any) -> Any:
            try:
                return function(*arguments)
            except BaseException as error:
                self.raised = error
                raise

        return call

    def intermediate(self, *progress: Any) -> bool:
        """Take the iteration count and tell Ipopt whether to go on."""
        self.iterations = int(progress[1])
        return self.raised is None


def _common_options(settings: Settings) -> dict[str, Any]:
    """Return the options that mean the same for every solver, by Ipopt's names."""
    tolerance = TOLERANCE if settings.tolerance is None else max(settings.tolerance, 1e-12)
    return {
        "print_level": 5 if settings.tee else 0,
        "sb": "yes",
        "tol": tolerance,
        "constr_viol_tol": tolerance,
        "compl_inf_tol": tolerance,
        "acceptable_tol": 10 * tolerance,
        "bound_relax_factor": 0.0,  # by default Ipopt moves bounds outwards, and its answer violates them
        "max_iter": 1000,
    }


class _Trial:
    """A problem with one variable, to try options on."""

    def objective(self, v: Vector) -> float:
        """Return the square."""
        return float(v[0] ** 2)

    def gradient(self, v: Vector) -> Vector:
        """Return its gradient."""
        return 2 * v

    def hessianstructure(self) -> tuple[list[int], list[int]]:
        """Return the one position."""
        return [0], [0]

    def hessian(self, v: Vector, multipliers: Vector, factor: float) -> Vector:
        """Return the second derivative."""
        return np.array([2.0 * factor])


def _checked(own: Mapping[str, Any]) -> dict[str, Any]:
    """Return the user's own options in the types that Ipopt takes; raises OptionError for one that it refuses."""
    with _output_to_stderr():
        trial = cyipopt.Problem(n=1, m=0, problem_obj=_Trial(), lb=[0.0], ub=[1.0])
        options = {name: _set(trial, name, value) for name, value in own.items()}
        trial.add_option("print_level", 0)
        _, info = trial.solve(np.full(1, 0.5))
    if info["status"] in REFUSED:
        raise OptionError(f"solver 'ipopt' refused its options ({', '.join(map(str, own))})", "see the solver's manual")
    return options


def _set(problem: Any, name: Any, value: Any) -> Any:
    """Set an option and return its value as Ipopt took it: a whole number also stands for a real one."""
    attempts = [value, float(value)] if type(value) is int and abs(value) <= LARGEST else [value]
    for attempt in attempts:
        try:
            problem.add_option(name, attempt)
        except (TypeError, ValueError, AttributeError, OverflowError):
            continue
        return attempt
    raise refuse_option("ipopt", name, f"unknown name or bad value {shown(value)}")


@contextmanager
def _output_to_stderr() -> Iterator[None]:
    """Send the library's standard output to the standard error: it explains a refusal there."""
    sys.stdout.flush()
    kept = os.dup(1)
    try:
        os.dup2(2, 1)
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)


SPEC = SolverSpec(
    name="ipopt",
    connect=Ipopt,
    package="cyipopt",
    ranks=dict.fromkeys(("LP", "QP", "SOCP", "NLP"), 80),
    proves="local",
    duals=True,
    vertex=False,
    in_place=True,
    tolerance=1e-6,
    pip="pip install cyipopt-wheels",
    licence="EPL-2.0; a cyipopt of your own, with any linear solver, works too",
)
