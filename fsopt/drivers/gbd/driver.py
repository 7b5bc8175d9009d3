"""Driver ``gbd``: generalized Benders decomposition of the SVM with few features (Aytug, Table 1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyomo.environ as pyo
from numpy.typing import ArrayLike

from fsopt.answers.certificate import Kind, reason_to_stop
from fsopt.answers.results import DriverResult
from fsopt.certificates.points import of_bounds
from fsopt.common.arguments import word
from fsopt.data import Dataset
from fsopt.drivers.gbd.master import ClosedForm, Master, State, TriedSelection
from fsopt.drivers.gbd.subproblem import Subproblem, Training, cut_residuals
from fsopt.drivers.loop import Loop, run_loop
from fsopt.drivers.recorder import Recorder
from fsopt.drivers.run import DEFAULT_RUN, Run, Steps, loop
from fsopt.errors import ParameterError
from fsopt.models.blocks import number, vector, whole
from fsopt.typing import Vector

STARTS = {"all": 1.0, "zero": 0.0}
"""Word of the setting ``start`` -> sigma of each feature."""
PRESETS = ("printed", "closed-form")


@dataclass(frozen=True)
class GbdSettings:
    """Where the loop of GBD starts, how its master is solved, and when it stops.

    Attributes
    ----------
    start : selection of the first cut. ``all`` features, which starts the lower bound at F(e); ``zero``, the paper's
        feasible point; or sigma (p,) in [0, 1]. None is ``zero`` where the loop is ``printed``, else ``all``.
    preset : ``printed``, the loop of the paper, each of whose selections is the optimal one of the master. By default a
        master is solved to a tenth of the optimality gap that is still open: any bound that it proves is valid, and
        early ones need no digits. ``closed-form``, the master is the last cut alone, whose optimum without constraints
        on the selection is a closed form, :class:`fsopt.drivers.gbd.master.ClosedForm`.
    master_solver : of the master, an MILP; None for the preferred one.
    tolerance : the loop stops at ``upper - lower <= tolerance * max(1, upper)``.
    max_cuts : at least 2; the paper stops after 250.
    """

    start: str | ArrayLike | None = None
    preset: str | None = None
    master_solver: str | None = None
    tolerance: float = 1e-6
    max_cuts: int = 250

    def first(self, p: int) -> Vector:
        """Return the sigma (p,) of the first cut; raises ParameterError for a setting out of range."""
        number("gbd", "tolerance", self.tolerance)
        whole("gbd", "max_cuts", self.max_cuts)
        if self.preset is not None:
            word("'preset' of 'gbd'", self.preset, PRESETS)
        start = ("zero" if self.preset == "printed" else "all") if self.start is None else self.start
        if not isinstance(start, str):
            return vector("gbd", "start", start, p, low=0.0, high=1.0)
        if start not in STARTS:
            raise ParameterError(f"'start' of 'gbd' is {start!r}", f"one of {', '.join(STARTS)}, or sigma")
        return np.full(p, STARTS[start])


DEFAULT_SETTINGS = GbdSettings()


@loop
def gbd(
    data: Dataset,
    master: pyo.ConcreteModel,
    sub: pyo.ConcreteModel | Training,
    *,
    c: float,
    settings: GbdSettings = DEFAULT_SETTINGS,
    run: Run = DEFAULT_RUN,
) -> Steps[DriverResult]:
    r"""Minimise :math:`F(\sigma) + \lambda'\sigma` over the selections that are feasible for a master problem.

    In each iteration: solve the subproblem at sigma, make its multipliers alpha exactly dual feasible, add the cut
    :math:`\theta \ge e'\alpha - \frac12\sum_j q_j(\alpha)^2\sigma_j` to the master, and take the master's solution as
    the next sigma. The upper bound is the smallest primal value, the lower bound the largest that a master proved. The
    cut of every alpha holds for every selection, so that no solver's tolerance endangers the bounds. With groups of
    features and bounds on their weights sigma and the cuts are those of ``fsp-master``.

    Parameters
    ----------
    data : the data set behind both models.
    master, sub : models ``fsp-master`` and ``fsp-sub``, with the same bounds on the weights. Further constraints on
        ``sigma`` of the master are the user's, fixed features too, and the coefficients of sigma in its objective are
        lambda. For large data without bounds ``sub`` may be a function that trains a support vector machine, such as
        :func:`fsopt.linear.interior_point.minimise`.
    c : penalty weight of the hinge loss in ``sub``.
    settings : the first cut, the master, and stopping criteria.
    run : its solver is for the subproblem, a QP.

    Returns
    -------
    DriverResult
        ``point`` has ``sigma``, of features or groups, ``w``, ``b`` and the list ``alphas`` of the multipliers behind
        the cuts. ``optimal`` where the gap is closed and every cut was recomputed from a dual feasible alpha; else
        ``feasible`` with upper and lower bound. ``stop`` is ``optimal``, ``repeated`` (the master returned a
        selection that was tried), ``time-limit``, ``iteration-limit`` or ``interrupted``.

    Raises
    ------
    InfeasibleError : no selection satisfies the constraints.
    ParameterError : a parameter out of range, a master with another objective, or models of other data, another c or
        other bounds.
    SolverError : the master or a subproblem was not solved.

    Notes
    -----
    Aytug, Table 1; with lambda GBD-lambda, (12)-(15), whose closed form for sigma holds for one cut only: it is the
    preset ``closed-form``, whose loop ends where a selection comes back.
    """
    sigma = settings.first(len(master.rules.groups))
    problem = (ClosedForm if settings.preset == "closed-form" else Master)(data, master, settings.master_solver)
    machine = Subproblem(data, sub, c, run, problem.rules)
    recorder = Recorder([problem.session, *machine.sessions], run)
    state = State(sigma, TriedSelection(sigma, np.zeros(data.p), 0.0, np.inf), problem.lowest)
    at, stop = yield from run_loop(_table_1(problem, machine, state, settings, recorder), recorder)
    cuts, tolerance = cut_residuals(data, at.point["alphas"], c), settings.tolerance
    certificate = of_bounds(Kind.GBD, cuts, at.objective, at.bound, tolerance=tolerance, source="master problem")
    return recorder.end_certified(certificate, reason_to_stop(stop, certificate.residuals["gap"], tolerance), at.point)


def _table_1(master: Master, sub: Subproblem, state: State, settings: GbdSettings, recorder: Recorder) -> Loop:
    """Yield the incumbents, and the lower bounds of the masters with more and more cuts."""
    # Step 0: a first selection.
    feasible, stop = master.feasible(state.sigma), ""
    yield state.iterate(within=True)
    while not stop:
        # Step 1: the subproblem at sigma. A feasible selection has a value; the multipliers give a cut of the master.
        alpha, w = sub.solve(state.sigma, recorder)
        if feasible:
            state.keep(sub.evaluate(state.sigma, w, master.penalties))
        elif not state.tried and master.feasible(nothing := np.zeros(len(state.sigma))):
            state.best = sub.evaluate(nothing, 0.0 * w, master.penalties)  # for a run that has no time for a master
        state.alphas = [*state.alphas, alpha]
        master.add(alpha)
        yield state.iterate(within=True)
        # Step 2: the argmax of the master over all cuts so far, (10) or (15), is the next sigma; its value is a bound.
        exact = 0.1 * settings.tolerance
        early = exact if settings.preset == "printed" else max(0.1 * min(state.gap, 1.0), exact)
        # The second gap is for a selection that was tried and comes back by the first one.
        for gap in dict.fromkeys((early, exact)):
            bound, state.sigma, done = master.solve(recorder, gap)
            state.lower = max(state.lower, bound)
            if not done or state.stop(settings.tolerance, len(state.alphas) + 1) != "repeated":
                break
        feasible = True
        # Step 3: stop where the bounds meet, or a selection comes back; else go to step 1.
        stop = state.stop(settings.tolerance, settings.max_cuts)
        yield state.iterate(stop)
