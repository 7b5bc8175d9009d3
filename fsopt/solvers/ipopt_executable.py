"""Ipopt as a program on the search path: it reads the smooth form, a Pyomo model, from an .nl file."""

from __future__ import annotations

import re
import shutil
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from io import StringIO
from typing import Any

import numpy as np
import pyomo.environ as pyo
from pyomo.common.errors import ApplicationError
from pyomo.common.log import LoggingIntercept
from pyomo.common.tee import TeeStream, capture_output

from fsopt.answers.results import Status
from fsopt.compiler import Program
from fsopt.errors import SolverError, shown
from fsopt.solvers.interface import Settings, refuse_option
from fsopt.solvers.ipopt_common import Ipopt, Run, refused
from fsopt.solvers.nlp import NonlinearForm
from fsopt.solvers.pyomo_form import pyomo_model
from fsopt.typing import Vector

STATUS_MAP = {
    0: (Status.STATIONARY, "optimal"),
    1: (Status.STATIONARY, "almost"),
    2: (Status.STATIONARY, "optimal"),
    200: (Status.NONE, "infeasible"),
    300: (Status.NONE, "unbounded"),
    400: (Status.FEASIBLE, "iteration-limit"),
    401: (Status.FEASIBLE, "time-limit"),
    402: (Status.FEASIBLE, "time-limit"),
    403: (Status.FEASIBLE, "interrupted"),
    **dict.fromkeys((500, 501, 502, 503, *range(550, 555), 599, -1), (Status.NONE, "numerical")),
}
"""The codes in Ipopt's answer file: Pyomo's termination conditions do not distinguish 400 from 402. Pyomo reads no
point from 300 and 5xx; -1, which is ours, stands for a missing file."""
DIVERGED, NO_ANSWER = 300, -1
COUNT = re.compile(r"Number of Iterations\.*:\s*(\d+)")


class IpoptExecutable(Ipopt):
    """One program given to an ``ipopt`` executable, translated anew at every solve; own options are tried at once."""

    statuses = STATUS_MAP

    def __init__(self, program: Program, settings: Settings) -> None:
        super().__init__(program, settings)
        self.tee = settings.tee
        self.options |= {"print_level": 5 if settings.tee else 3, **settings.own}
        if settings.own:
            _try(settings.own)

    def run(self, program: Program, x: Vector, deadline: float) -> Run:
        """Solve a program from x (n,)."""
        form = NonlinearForm(program)
        start = form.start(x)
        options = dict(self.options)
        if deadline < np.inf:
            options["max_cpu_time"] = max(deadline - time.perf_counter(), 1e-6)
        m = pyomo_model(form, start)
        answer = _call(m, options, self.tee)
        count = answer.iterations
        self.iterations += count
        if answer.code == DIVERGED and count > 1:  # Pyomo reads no point then, but a limit just before gives one
            _call(m, options | {"max_iter": count - 1}, tee=False)
        v = np.array([start[j] if a.value is None else a.value for j, a in m.v.items()])
        # Ipopt writes the multipliers of a minimisation with the sign turned: that of shadow prices.
        multipliers = np.zeros(len(form.low))
        for i, row in m.rows.items():
            multipliers[i] = -m.dual.get(row, 0.0)
        return Run(form.point(v, multipliers), answer.code, answer.message)


@dataclass(frozen=True)
class _Answer:
    """The code in Ipopt's answer, its last words, and the words of the whole run."""

    code: int
    message: str
    log: str

    @property
    def iterations(self) -> int:
        """The number of iterations that Ipopt printed; 0 where it printed none."""
        found = COUNT.search(self.log)
        return int(found.group(1)) if found else 0


def _call(m: pyo.ConcreteModel, options: Mapping[str, Any], tee: bool) -> _Answer:
    """Run the executable and read its answer into the model."""
    path = shutil.which("ipopt")
    if path is None:
        raise SolverError("there is no 'ipopt' executable on the path any more", "pip install cyipopt-wheels")
    solver = pyo.SolverFactory("ipopt", executable=path)
    log = StringIO()
    streams = (log, sys.stdout) if tee else (log,)
    in_file = {f"OF_{name}": value for name, value in options.items()}  # the command line takes only some of them
    try:
        with LoggingIntercept(log, "pyomo"), capture_output(TeeStream(*streams)):
            results = solver.solve(m, options=in_file, tee=True, load_solutions=False)
            if len(results.solution):
                m.solutions.load_from(results)
    except (ApplicationError, ValueError, OSError) as error:
        words = (log.getvalue().strip() or str(error)).splitlines()
        raise SolverError(f"'{path}' failed: {' '.join(words[-5:])[:400]}", "try another solver") from error
    code = results.solver.id if isinstance(results.solver.id, int) else NO_ANSWER
    message = str(results.solver.message or "") if code != NO_ANSWER else log.getvalue().strip()[-200:]
    return _Answer(code, message.replace("\\x3a", ":"), log.getvalue())


def _try(own: Mapping[str, Any]) -> None:
    """Run Ipopt with the user's own options on ``min x^2, 0 <= x <= 1``; raises OptionError if it refuses."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(bounds=(0, 1), initialize=0.5)
    m.o = pyo.Objective(expr=m.x**2)
    try:
        answer = _call(m, own, tee=False)
    except SolverError as error:
        answer = _Answer(NO_ANSWER, error.message, "")
    if answer.code != NO_ANSWER:
        return
    names = [name for name in own if str(name) in answer.message] or list(own)
    if len(names) == 1:
        raise refuse_option("ipopt", names[0], f"unknown name or bad value {shown(own[names[0]])}")
    raise refused(names)
