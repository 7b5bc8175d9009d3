"""Callbacks of SCIP, Gurobi and Xpress that note incumbent and bound of the present solve."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fsopt.solvers import watching
from fsopt.solvers.muting import heard
from fsopt.solvers.spec import Package
from fsopt.typing import Vector

pyscipopt = Package("pyscipopt")
gp = Package("gurobipy")


def watch_scip(model: Any, factor: float, variables: list[Any], scale: Vector) -> None:
    """Add an event handler to a SCIP model that notes its bounds, and give it the starting values.

    Parameters
    ----------
    factor : of the objective in the model.
    variables : those of the program in the model, with the units ``scale`` (n,).
    """
    watch, start = watching.current(), watching.start()
    if start is not None:
        _start_scip(model, variables, start / scale)
    if watch is None or getattr(model, "data", None) == "watched":
        return
    events = pyscipopt.SCIP_EVENTTYPE
    kinds = (events.BESTSOLFOUND, events.NODESOLVED)

    # SCIP drops the events itself with the transformed problem. A handler that does so crashes the process where the
    # garbage collector frees the model, for example in a cycle with the traceback of an exception.
    class Handler(pyscipopt.Eventhdlr):  # type: ignore[misc, name-defined]
        def eventinit(self) -> None:
            for kind in kinds:
                self.model.catchEvent(kind, self)

        def eventexec(self, event: Any) -> None:
            present = watching.current()
            if present is not None:
                primal = self.model.getPrimalbound() / factor
                with heard():
                    present.note(primal, self.model.getDualbound() / factor, int(self.model.getNTotalNodes()))

    model.includeEventhdlr(Handler(), "watch", "notes the bounds of the search")
    model.data = "watched"


def _start_scip(model: Any, variables: list[Any], values: Vector) -> None:
    """Give values (n,) to SCIP, which completes them where it has more variables."""
    whole = model.getNVars(transformed=False) == len(variables)
    solution = model.createOrigSol() if whole else model.createPartialSol()
    for variable, value in zip(variables, values.tolist(), strict=True):
        model.setSolVal(solution, variable, value)
    model.addSol(solution)


def gurobi_callback(unscaled: Callable[[float], float]) -> Callable[[Any, int], None] | None:
    """Return a callback for Gurobi; None where nobody watches.

    Parameters
    ----------
    unscaled : function that returns a value of the program from one of the solver.
    """
    watch = watching.current()
    if watch is None:
        return None

    def callback(model: Any, where: int) -> None:
        names = gp.GRB.Callback
        if where == names.MIP:
            best, bound = model.cbGet(names.MIP_OBJBST), model.cbGet(names.MIP_OBJBND)
            watch.note(_scaled(best, unscaled), _scaled(bound, unscaled), int(model.cbGet(names.MIP_NODCNT)))
        elif where == names.BARRIER:
            best, bound = model.cbGet(names.BARRIER_PRIMOBJ), model.cbGet(names.BARRIER_DUALOBJ)
            watch.note(_scaled(best, unscaled), _scaled(bound, unscaled), int(model.cbGet(names.BARRIER_ITRCNT)))

    return callback


def watch_xpress(problem: Any, unscaled: Callable[[float], float]) -> None:
    """Add a callback to an Xpress problem that notes incumbent and bound at each node."""
    watch = watching.current()
    if watch is None:
        return

    def callback(prob: Any, data: Any) -> int:
        a = prob.attributes
        watch.note(_scaled(a.mipbestobjval, unscaled), _scaled(a.bestbound, unscaled), int(a.nodes))
        return 0

    problem.addPrenodeCallback(callback, None, 0)


def _scaled(value: float, unscaled: Callable[[float], float]) -> float | None:
    """Return a value in the units of the program; None for a solver's infinity."""
    return None if abs(value) >= watching.HUGE else unscaled(value)
