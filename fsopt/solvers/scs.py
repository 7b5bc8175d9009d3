"""SCS: linear, quadratic, second-order cone and semidefinite programs by a first-order method, re-solved warm."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import scipy.sparse as sp

from fsopt.answers.results import Status
from fsopt.compiler import Program
from fsopt.solvers.conic import ConicForm
from fsopt.solvers.spec import UNKNOWN, Change, Outcome, Package, Settings, SolverSpec, refuse_option, set_options
from fsopt.typing import Indices, Vector

scs = Package("scs")
STATUS_MAP = {
    "solved": (Status.OPTIMAL, "optimal"),
    "solved (inaccurate - reached max_iters)": (Status.FEASIBLE, "iteration-limit"),
    "solved (inaccurate - reached time_limit_secs)": (Status.FEASIBLE, "time-limit"),
    "infeasible": (Status.INFEASIBLE, "infeasible"),
    "infeasible (inaccurate - reached max_iters)": (Status.NONE, "iteration-limit"),
    "infeasible (inaccurate - reached time_limit_secs)": (Status.NONE, "time-limit"),
    "unbounded": (Status.UNBOUNDED, "unbounded"),
    "unbounded (inaccurate - reached max_iters)": (Status.NONE, "iteration-limit"),
    "unbounded (inaccurate - reached time_limit_secs)": (Status.NONE, "time-limit"),
    "interrupted": (Status.NONE, "interrupted"),
}
"""By SCS's own words; every other one is none."""
TOLERANCE = 1e-9
MAX_ITERS = 100_000


class Scs:
    """One program loaded into SCS: ``order`` are the rows of the conic form, ``last`` is where a solve starts."""

    def __init__(self, program: Program, settings: Settings) -> None:
        self.program = program
        self.settings = _settings(settings)
        self.form = ConicForm(program)
        self.rows = self.form.shape[0]
        first = self.form.equalities + self.form.inequalities
        self.order: Indices = np.append(np.arange(first), first + program.cones.by_lower_triangles())
        self.last: dict[str, Vector] = {}
        _try_settings(self.settings)
        self.loaded_limit = 0.0
        self.solver: Any = None

    def _load(self, limit: float) -> None:
        """Factorise; SCS takes its time limit only here."""
        form = self.form
        data = {"P": form.hessian(), "A": form.matrix()[self.order], "b": form.right_hand_side()[self.order]}
        data["c"] = form.linear()
        sizes, orders = self.program.cones.sizes, self.program.cones.orders
        cone = {"z": form.equalities, "l": form.inequalities, "q": sizes[orders == 0].tolist()}
        cone["s"] = orders[orders > 0].tolist()
        if not self.rows:  # SCS needs a row: 0'x + s = 1
            data |= {"A": sp.csc_matrix((1, self.program.n)), "b": np.ones(1)}
            cone = {"l": 1}
        self.solver = scs.SCS(data, cone, **{**self.settings, "time_limit_secs": limit})
        self.loaded_limit = limit

    def update(self, change: Change) -> str | None:
        """Take over a change by a new factorisation, which starts warm."""
        self.solver = None
        return self.form.moved(change)

    def solve(self, time_limit: float | None, mip_gap: float | None = None) -> Outcome:
        """Run SCS from the last point it found."""
        started = time.perf_counter()
        limit = float(self.settings["time_limit_secs"]) if time_limit is None else float(time_limit)
        if self.solver is None or limit != self.loaded_limit:
            self._load(limit)
        solution = self.solver.solve(warm_start=bool(self.last), **self.last)
        info = solution["info"]
        x, z = np.array(solution["x"]), np.zeros(self.rows)
        z[self.order] = solution["y"][: self.rows]
        ended = STATUS_MAP.get(info["status"], UNKNOWN)
        outcome = self.form.outcome(ended, x, z, int(info["iter"]), started, str(info["status"]))
        if outcome.point is not None:
            self.last = {k: np.array(solution[k]) for k in ("x", "y", "s")}
        return outcome


def _settings(settings: Settings) -> dict[str, Any]:
    """Return SCS's settings; QDLDL by default, because it gives the same answer on every machine."""
    tolerance = TOLERANCE if settings.tolerance is None else settings.tolerance
    common: dict[str, Any] = {
        "verbose": settings.tee,
        "eps_abs": tolerance,
        "eps_rel": tolerance,
        "max_iters": MAX_ITERS,
        "time_limit_secs": 0.0,
        "linear_solver": "qdldl",
    }
    if "verbose" in settings.own:
        raise refuse_option("scs", "verbose", "it is the common option 'tee'")
    return common | dict(settings.own)


def _try_settings(settings: dict[str, Any]) -> None:
    """Refuse an unknown option or a bad value by its name: SCS checks them one by one on a trivial program."""
    data = {"A": sp.csc_matrix(np.ones((1, 1))), "b": np.ones(1), "c": np.zeros(1)}

    def put(name: str, value: Any) -> None:
        if not name.endswith("_filename"):
            scs.SCS(data, {"l": 1}, **{"verbose": False, "linear_solver": "qdldl", name: value})
        elif not isinstance(value, str):  # a trial would write the file
            raise TypeError("not a path")

    set_options("scs", settings, put, (TypeError, ValueError, OverflowError, ImportError))


SPEC = SolverSpec(
    name="scs",
    connect=Scs,
    package="scs",
    ranks=dict.fromkeys(("LP", "QP", "SOCP", "SDP"), 30),
    in_place=True,
    tolerance=1e-4,
    pip="pip install scs",
    licence="MIT",
)
