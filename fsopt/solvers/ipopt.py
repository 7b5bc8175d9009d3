"""Ipopt, through cyipopt: linear, convex and nonconvex smooth programs, with derivatives of our own."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from io import StringIO
from typing import Any

import numpy as np
from pyomo.common.tee import capture_output

from fsopt.answers.results import Point, Status
from fsopt.compiler import Program
from fsopt.compiler.derivatives import derivatives_of
from fsopt.errors import OptionError
from fsopt.solvers.nlp import NonlinearForm
from fsopt.solvers.spec import LARGEST, UNKNOWN, Change, Outcome, Package, Settings, SolverSpec, set_options
from fsopt.typing import Vector

cyipopt = Package("cyipopt")
TOLERANCE = 1e-10

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
}
"""Ipopt's return codes, every other one is none; a local infeasibility or a diverging iterate proves nothing."""
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


class Ipopt:
    """One program given to Ipopt, whose arrays are read at every solve; the next one starts from the point ``last``.

    Ipopt is deterministic and its linear solver has one thread here: ``seed`` and ``threads`` change nothing.
    """

    def __init__(self, program: Program, settings: Settings) -> None:
        self.program = program
        self.options = _common_options(settings)
        derivatives_of(program)  # refuses a function without derivatives before anything is solved
        self.own = settings.own
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
        found, code, message = self._run(self._start(), deadline)
        status, stop = STATUS_MAP.get(code, UNKNOWN)
        usable = status in (Status.STATIONARY, Status.FEASIBLE) and bool(np.all(np.isfinite(found.x)))
        if usable:
            self.last = found.x
        if p.convex and stop in ("infeasible", "unbounded"):  # a word that counts where another solver proves it
            status, usable = Status(stop), False
        if p.convex and status is Status.STATIONARY:
            status = Status.OPTIMAL
        point = found if usable else None
        return Outcome(status, stop, point, None, self.iterations, time.perf_counter() - started, message)

    def _start(self) -> Vector:
        """Return the starting point; of a program that is not convex, it decides which local optimum is found."""
        p = self.program
        if self.last is not None and len(self.last) == p.n:
            return self.last
        start = np.zeros(p.n) if p.convex else p.values()
        return np.clip(start, p.lb, p.ub)

    def _run(self, x: Vector, deadline: float) -> tuple[Point, int, str]:
        """Solve from x (n,) until the deadline of ``time.perf_counter``; return the point, Ipopt's code and words."""
        form = NonlinearForm(self.program)
        calls = _Callbacks(form)
        problem = cyipopt.Problem(
            n=form.size, m=len(form.low), problem_obj=calls, lb=form.lower, ub=form.upper, cl=form.low, cu=form.high
        )
        for name, value in self.options.items():
            problem.add_option(name, value)
        if deadline < np.inf:
            problem.add_option("max_wall_time", max(deadline - time.perf_counter(), 1e-6))
        silent = self.own and not self.options["print_level"]  # the library prints what it refuses
        with capture_output(StringIO(), capture_fd=True) if silent else nullcontext():
            refusals = (TypeError, ValueError, AttributeError, OverflowError)
            set_options("ipopt", self.own, partial(_put, problem), refusals)
            v, info = problem.solve(form.start(x))
        if info["status"] in REFUSED:
            raise OptionError(f"solver 'ipopt' refused its options ({', '.join(self.own)})", "see the solver's manual")
        if calls.raised is not None:
            raise calls.raised
        self.iterations += calls.iterations
        words = info["status_msg"]
        message = words.decode() if isinstance(words, bytes) else str(words)
        return form.point(v, np.asarray(info["mult_g"])), int(info["status"]), message


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
            if self.raised is not None:  # a shorter step is tried before Ipopt asks whether to go on
                raise self.raised
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


def _put(problem: Any, name: str, value: Any) -> None:
    """Set an option: a whole number also stands for a real one."""
    try:
        problem.add_option(name, value)
    except TypeError:
        if type(value) is not int or abs(value) > LARGEST:
            raise
        problem.add_option(name, float(value))


SPEC = SolverSpec(
    name="ipopt",
    connect=Ipopt,
    package="cyipopt",
    ranks=dict.fromkeys(("LP", "QP", "SOCP", "NLP"), 80),
    proves="local",
    in_place=True,
    pip="pip install cyipopt-wheels",
    licence="EPL-2.0; a cyipopt of your own, with any linear solver, works too",
)
