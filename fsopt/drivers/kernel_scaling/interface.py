"""Problem (15) of Bi as a program for the solver ``fsopt``: recognised from its arrays, solved by linear programs.

The lower bound is recomputed in numpy from the multipliers of the linear programs, see
:mod:`fsopt.certificates.kernel_scaling.bounds`.
"""

from __future__ import annotations

import time
from dataclasses import asdict

import numpy as np

from fsopt.answers.results import Point, Status
from fsopt.certificates.kernel_scaling.form import ScalingForm, recognise
from fsopt.common import clock
from fsopt.compiler import Program
from fsopt.drivers.kernel_scaling.driver import scale
from fsopt.drivers.kernel_scaling.outer_approximation import OuterApproximation
from fsopt.drivers.kernel_scaling.programs import WholeProgram
from fsopt.drivers.loop import run_loop
from fsopt.drivers.recorder import Recorder, stop_word
from fsopt.drivers.run import ENDS, NoPoint, drained
from fsopt.errors import SolverError
from fsopt.models.mop.kernel_scaling import build_kernel_scaling_step
from fsopt.solvers.base import Session
from fsopt.solvers.interface import Change, Outcome, Settings, refuse_option
from fsopt.solvers.registry import SOLVERS
from fsopt.solvers.spec import SolverSpec

MAX_PROGRAMS = 1000
"""Largest number of linear programs, as in the driver."""


class KernelScaling:
    """One problem (15); each solve starts anew.

    Attributes
    ----------
    program, settings : as given.
    form : the program as problem (15).
    """

    def __init__(self, program: Program, settings: Settings) -> None:
        self.program = program
        self.settings = settings
        self.form = recognise(program)

    def update(self, change: Change) -> str | None:
        """Read the arrays again; return the missing part of the form, if they are another problem now."""
        try:
            self.form = recognise(self.program)
        except SolverError as error:
            return error.message
        return None

    def solve(self, time_limit: float | None, mip_gap: float | None = None) -> Outcome:
        """Search until the cuts prove the incumbent optimal, within the gap of the settings."""
        with clock.limited(time_limit):
            return self._search(self.settings.mip_gap if mip_gap is None else mip_gap)

    def _search(self, gap: float) -> Outcome:
        started = time.perf_counter()
        session = _open(self.form, self.settings)
        recorder = Recorder([session])
        search = OuterApproximation(self.form.problem, WholeProgram(session, recorder))
        try:
            search.load(self.form.start)
            _, stop = drained(run_loop(scale(search, "global", gap, MAX_PROGRAMS), recorder))
        except KeyboardInterrupt:
            raise
        except ENDS as reason:
            stop = stop_word(reason)
        except NoPoint:
            # With an incumbent the problem is feasible, and the linear program is at fault.
            stop = "numerical" if np.isfinite(search.value) else "infeasible"
        return self._outcome(search, "numerical" if stop == "stalled" else stop, started)

    def _outcome(self, search: OuterApproximation, stop: str, started: float) -> Outcome:
        point = bound = ray = None
        status = Status.INFEASIBLE if stop == "infeasible" else Status.NONE
        if np.isfinite(search.value):
            point = Point(self.form.point(self.program.n, search.s))
            status, lower, _ = search.certified("global", self.settings.mip_gap)
            bound = None if lower is None else lower + self.program.c0
        elif stop == "infeasible":
            ray = _ray(self.form, search.linear.session, self.program)
        return Outcome(
            status=status,
            stop=stop,
            point=point,
            bound=bound,
            iterations=search.programs,
            seconds=time.perf_counter() - started,
            message=f"{search.programs} linear programs by {search.linear.session.spec.name}, {len(search.cuts)} cuts",
            ray=ray,
            cuts=tuple(asdict(cut) for cut in search.cuts) if point is not None else (),
        )


def _open(form: ScalingForm, settings: Settings) -> Session:
    """Return the linear program of (15), loaded in the preferred solver."""
    problem = form.problem
    model = build_kernel_scaling_step(problem.data, w=problem.w, b=problem.b, e_cap=problem.e_cap, c=form.c)
    options: dict[str, float] = {"threads": settings.threads, "seed": settings.seed}
    if settings.tolerance is not None:
        options["tolerance"] = settings.tolerance
    return Session(model, options=options, tee=settings.tee)


def _ray(form: ScalingForm, session: Session, program: Program) -> Point | None:
    """Return the proof of infeasibility of the linear program, which has the same constraints, solved once more."""
    found, m = session.solve(load=False).ray, session.model
    if found is None or found.y is None:
        return None
    y = np.zeros(program.A.shape[0])
    y[form.rows.margins] = found.y[session.rows(m.margin)]
    # The program's images may be in another order: their multipliers follow from those of the margins, A'y = 0 in g.
    y[form.rows.images] = -(program.A[form.rows.margins][:, form.columns.g].T @ y[form.rows.margins])
    y[form.rows.risk] = found.y[session.rows(m.risk)]
    y[form.rows.capacity] = found.y[session.rows(m.capacity)]
    y[form.rows.balls] = found.y[session.rows(m.ball)]
    return Point(y=y, x=np.zeros(program.n), z=np.zeros(0))


def takes(program: Program) -> bool:
    """Return whether a program is problem (15)."""
    try:
        recognise(program)
    except SolverError:
        return False
    return True


def connect(program: Program, settings: Settings) -> KernelScaling:
    """Load a program.

    Raises
    ------
    OptionError : an option of the solver itself: it has none.
    SolverError : the program is not problem (15).
    """
    for name in settings.own:
        raise refuse_option(SPEC.name, name, "it has none but tolerance, mip_gap, threads and seed")
    if not takes(program):
        raise SolverError(
            f"solver '{SPEC.name}' solves programs of one structure only, and this has another one",
            "it takes Bi's problem (15) (model kernel-scaling) as it was built; name no solver, or another one",
        )
    return KernelScaling(program, settings)


SPEC = SolverSpec(
    name="fsopt",
    connect=connect,
    # It solves linear programs by the preferred solver, which is HiGHS in the core install.
    package="highspy",
    ranks={"NLP": 0},
    takes=takes,
    proves="global",
    duals=False,
    vertex=False,
    in_place=True,
    tolerance=1e-6,
    pip="pip install highspy",
    licence="this package's own; problem (15) of Bi only (kernel-scaling)",
)


def register() -> None:
    """Enter the solver ``fsopt``, a driver that stands above the solvers, among them."""
    SOLVERS.shipped[SPEC.name] = SPEC
