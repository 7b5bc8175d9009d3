"""Ipopt through cyipopt, with derivatives of our own."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from fsopt.answers.results import Status
from fsopt.compiler import Program
from fsopt.errors import shown
from fsopt.solvers import watching
from fsopt.solvers.interface import LARGEST, Settings, refuse_option
from fsopt.solvers.ipopt_common import Ipopt, Run, refused
from fsopt.solvers.nlp import NonlinearForm
from fsopt.solvers.spec import Package
from fsopt.typing import Vector

cyipopt = Package("cyipopt")
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


class IpoptPackage(Ipopt):
    """One program given to Ipopt through cyipopt."""

    statuses = STATUS_MAP

    def __init__(self, program: Program, settings: Settings) -> None:
        super().__init__(program, settings)
        if settings.own:
            self.options |= _checked(settings.own)

    def run(self, program: Program, x: Vector, deadline: float) -> Run:
        """Solve a program from x (n,)."""
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
        return Run(form.point(v, np.asarray(info["mult_g"])), int(info["status"]), message)


class _Callbacks:
    """The functions of a form as cyipopt asks for them; an exception in one of them ends the solve.

    Attributes
    ----------
    raised : the exception of a function, a KeyboardInterrupt for example; None where there was none.
    iterations : iterations so far.
    """

    def __init__(self, form: NonlinearForm) -> None:
        self.watch = watching.current()
        self.constant = form.program.c0
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
        if self.watch is not None:
            self.watch.note(float(progress[2]) + self.constant, iteration=self.iterations)
        return self.raised is None


# -- options ----------------------------------------------------------------------------------------------


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
        raise refused(own)
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
