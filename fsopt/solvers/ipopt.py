"""Ipopt: linear, convex and nonconvex smooth programs through cyipopt, with derivatives of our own."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from fsopt.certificates.convex import farkas
from fsopt.certificates.residuals import primal_residual
from fsopt.compiler import Program
from fsopt.compiler.classes import convex
from fsopt.compiler.derivatives import derivatives_of
from fsopt.errors import OptionError, SolverError
from fsopt.results import Point, Status
from fsopt.solvers.interface import Change, Interface, Outcome, Settings, refuse_option
from fsopt.solvers.nlp import NonlinearForm, elastic, recession
from fsopt.typing import Vector

try:
    import cyipopt
except ImportError:
    cyipopt = None  # an executable may be there instead

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
"""Ipopt's return codes; a local infeasibility or a diverging iterate claims nothing by itself."""
REFUSED, UNKNOWN_SOLVER = -12, -11
TOLERANCE = 1e-10
FALLS = 1e-7
"""Relative decrease along a direction that counts as one."""


class Ipopt:
    """One program given to Ipopt.

    The arrays are read from the program at every solve, so that a change needs nothing but the next solve. Ipopt
    is deterministic and its linear solver has one thread here: ``seed`` and ``threads`` change nothing.
    """

    statuses = STATUS_MAP

    def __init__(self, program: Program, settings: Settings) -> None:
        self.program = program
        self.options = _options(settings)
        derivatives_of(program)  # refuses what has none, before anything is solved
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
        if np.any(p.lb > p.ub) or np.any(p.lo > p.hi):
            return Outcome(Status.INFEASIBLE, "infeasible", None, None, 0, 0.0, "a lower side lies above its upper one")
        is_convex = not p.nonconic and convex(p.P)
        deadline = np.inf if time_limit is None else started + time_limit
        point, code, message = self._run(p, self._start(is_convex), deadline)
        if code not in self.statuses:
            raise SolverError(f"Ipopt stopped with code {code} ({message})", "try another solver")
        claim, stop = self.statuses[code]
        ray = None
        usable = claim in (Status.STATIONARY, Status.FEASIBLE) and bool(np.all(np.isfinite(point.x)))
        if usable:
            self.last = point.x
        if is_convex and stop in ("infeasible", "unbounded", "numerical"):
            proved, ray = self._prove(point, deadline)
            if proved is not Status.NONE:
                claim, stop, usable = proved, proved.value, False
        if is_convex and claim is Status.STATIONARY:
            claim = Status.OPTIMAL
        seconds = time.perf_counter() - started
        return Outcome(claim, stop, point if usable else None, None, self.iterations, seconds, message, ray)

    def _start(self, is_convex: bool) -> Vector:
        p = self.program
        if self.last is not None and len(self.last) == p.n:
            return self.last
        start = np.zeros(p.n) if is_convex else p.values()
        return np.clip(start, p.lb, p.ub)

    def _run(self, program: Program, x: Vector, deadline: float) -> tuple[Point, int, str]:
        """Return the point where Ipopt stopped, its code and its words."""
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
        return form.point(v, np.asarray(info["mult_g"])), int(info["status"]), message

    def _prove(self, point: Point, deadline: float) -> tuple[Status, Point | None]:
        """Prove that a convex program has no point, or a direction without end, where one of the two holds."""
        p = self.program
        least = elastic(p)
        start = np.append(np.clip(np.zeros(p.n), p.lb, p.ub), np.ones(len(least.c) - p.n))
        found, _, _ = self._run(least, start, deadline)
        ray = Point(found.x[: p.n], found.y, found.z)
        if farkas(p, ray).ok:
            return Status.INFEASIBLE, ray
        if min(primal_residual(p, ray.x), primal_residual(p, point.x)) > 1e-6:
            return Status.NONE, None
        falling = recession(p)
        if self._falls(falling, point.x / max(np.abs(point.x / p.scaling.columns).max(), 1.0)):
            return Status.UNBOUNDED, None
        direction, _, _ = self._run(falling, np.zeros(p.n), deadline)
        return (Status.UNBOUNDED if self._falls(falling, direction.x) else Status.NONE), None

    def _falls(self, falling: Program, direction: Vector) -> bool:
        """Return whether a direction stays feasible for ever while the objective falls along it."""
        fall = -float(falling.c @ direction) / max(np.abs(falling.c * falling.scaling.columns).max(), 1e-300)
        return fall > FALLS and primal_residual(falling, direction) <= 1e-2 * FALLS


class _Callbacks:
    """The functions of a form as cyipopt asks for them; whatever one of them raises ends the solve.

    Attributes
    ----------
    raised : what a function raised, a Ctrl-C for example; None where nothing was.
    iterations : iterations so far.
    """

    def __init__(self, form: NonlinearForm) -> None:
        self.raised: BaseException | None = None
        self.iterations = 0
        for name in ("objective", "gradient", "constraints", "jacobian", "jacobianstructure", "hessian",
                     "hessianstructure"):  # fmt: skip
            setattr(self, name, self._guarded(getattr(form, name)))

    def _guarded(self, function: Callable[..., Any]) -> Callable[..., Any]:
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


def _options(settings: Settings) -> dict[str, Any]:
    """Return the options by Ipopt's names, the user's own ones checked and in the type that Ipopt wants."""
    tolerance = TOLERANCE if settings.tolerance is None else max(settings.tolerance, 1e-12)
    options: dict[str, Any] = {
        "print_level": 5 if settings.tee else 0,
        "sb": "yes",
        "tol": tolerance,
        "constr_viol_tol": tolerance,
        "compl_inf_tol": tolerance,
        "acceptable_tol": 10 * tolerance,
        "bound_relax_factor": 0.0,
        "max_iter": 1000,
    }
    if not settings.own:
        return options
    with _output_to_stderr():
        trial = cyipopt.Problem(n=1, m=0, problem_obj=_Trial(), lb=[0.0], ub=[1.0])
        for name, value in settings.own.items():
            options[name] = _taken(trial, name, value)
        trial.add_option("print_level", 0)
        _, info = trial.solve(np.full(1, 0.5))
    if info["status"] in (REFUSED, UNKNOWN_SOLVER):
        names = ", ".join(map(str, settings.own))
        raise OptionError(f"solver 'ipopt' refused its options ({names})", "see the solver's manual")
    return options


def _taken(problem: Any, name: Any, value: Any) -> Any:
    """Set an option and return its value as Ipopt took it: a whole number also stands for a real one."""
    attempts = [value, float(value)] if type(value) is int else [value]
    for attempt in attempts:
        try:
            problem.add_option(name, attempt)
        except (TypeError, ValueError, AttributeError):
            continue
        return attempt
    raise refuse_option("ipopt", name, f"unknown name or bad value {value!r}")


@contextmanager
def _output_to_stderr() -> Iterator[None]:
    """Send what the library writes to the standard output to the standard error: it explains a refusal there."""
    sys.stdout.flush()
    kept = os.dup(1)
    try:
        os.dup2(2, 1)
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)


def connect(program: Program, settings: Settings) -> Interface:
    """Give a program to Ipopt: through cyipopt where it can be imported, else to the executable on the path."""
    if cyipopt is not None:
        return Ipopt(program, settings)
    from fsopt.solvers.ipopt_executable import IpoptExecutable

    return IpoptExecutable(program, settings)
