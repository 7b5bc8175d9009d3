"""fsopt's solvers as classes of Pyomo's solver interface: each status is that of a certificate, not of the solver."""

from __future__ import annotations

import datetime
import io
import math
import time
from collections.abc import Sequence
from contextlib import nullcontext
from importlib import metadata
from typing import TYPE_CHECKING, Any

from pyomo.common.collections import ComponentMap
from pyomo.common.errors import ApplicationError
from pyomo.common.tee import TeeStream, capture_output
from pyomo.common.timing import HierarchicalTimer
from pyomo.contrib.solver.common import util
from pyomo.contrib.solver.common.base import Availability, SolverBase
from pyomo.contrib.solver.common.config import SolverConfig
from pyomo.contrib.solver.common.results import Results, SolutionStatus, TerminationCondition
from pyomo.contrib.solver.common.solution_loader import SolutionLoader
from pyomo.core.staleflag import StaleFlagManager

if TYPE_CHECKING:
    import pyomo.environ as pyo

    from fsopt.answers.results import SolveResult
    from fsopt.compiler import Program
    from fsopt.solvers.base import Session

CONDITIONS = {
    "time-limit": TerminationCondition.maxTimeLimit,
    "iteration-limit": TerminationCondition.iterationLimit,
    "interrupted": TerminationCondition.interrupted,
    "infeasible": TerminationCondition.locallyInfeasible,
    "unbounded": TerminationCondition.infeasibleOrUnbounded,
    "numerical": TerminationCondition.error,
}
"""Why a solver stopped -> Pyomo's word, where no certificate holds; every other reason is ``unknown``."""
CERTIFIED = {
    "optimal": (TerminationCondition.convergenceCriteriaSatisfied, SolutionStatus.optimal),
    "stationary": (TerminationCondition.convergenceCriteriaSatisfied, SolutionStatus.feasible),
    "infeasible": (TerminationCondition.provenInfeasible, SolutionStatus.noSolution),
    "unbounded": (TerminationCondition.unbounded, SolutionStatus.noSolution),
}
"""Status of fsopt -> Pyomo's words; the other two have a condition by the reason to stop."""


class CertifiedSolver(SolverBase):  # type: ignore[misc]
    """A solver of fsopt: ``optimal`` is said where fsopt's own certificate holds, and nowhere else.

    Between two solves of the same model the solver keeps what it has; whatever was changed in the model is noticed, and
    only the difference is sent, see :class:`fsopt.Session`.

    Attributes
    ----------
    solver : registry name; None for the preferred installed solver of the model's class.

    Notes
    -----
    Beside what Pyomo says of results, ``extra_info`` has ``status`` (the word of fsopt), ``certificate`` and
    ``bound_source``, by whom ``objective_bound`` is known. A stationary point is ``feasible`` and
    ``convergenceCriteriaSatisfied``. ``solver_options`` are the options of :func:`fsopt.solve`. ``working_dir`` and
    ``symbolic_solver_labels`` have no effect: there are no files.
    """

    CONFIG = SolverConfig()
    solver: str | None = None

    def __init__(self, **keywords: Any) -> None:
        super().__init__(**keywords)
        self._session: Session | None = None
        self._given: dict[str, Any] = {}

    def available(self) -> Availability:
        """Return whether the solver's package is installed."""
        from fsopt.solvers.registry import solver_spec

        installed = self.solver is None or solver_spec(self.solver).available
        return Availability.FullLicense if installed else Availability.NotFound

    def version(self) -> tuple[int, ...]:
        """Return the version of the solver's package, an empty tuple where another program does the work."""
        from fsopt.solvers.registry import solver_spec

        package = "fsopt" if self.solver is None else solver_spec(self.solver).package
        found = [one.version for one in metadata.distributions(name=package)] if package else []
        return tuple(int(part) for version in found[:1] for part in version.split(".") if part.isdecimal())

    def solve(self, model: pyo.ConcreteModel, **keywords: Any) -> Results:
        """Solve a model, certify the answer and return Pyomo's results; ``keywords`` are options for this call.

        Raises
        ------
        ApplicationError : the solver is not installed.
        IncompatibleModelError : the solver does not take the model.
        NoOptimalSolutionError : no certificate holds, unless ``raise_exception_on_nonoptimal_result`` is False.
        NoFeasibleSolutionError : there is no point to load, unless ``load_solutions`` is False.
        """
        stamp, started = datetime.datetime.now(datetime.UTC), time.perf_counter()
        config = self.config(value=keywords, preserve_implicit=True)
        config.timer = timer = config.timer or HierarchicalTimer()
        timer.start(self.name)
        StaleFlagManager.mark_all_as_stale()
        log = io.StringIO()
        with capture_output(TeeStream(log, *config.tee), capture_fd=True) if config.tee else nullcontext():
            result = self._solved(model, config)
        results = self._results(model, result)
        results.solver_config, results.solver_log = config, log.getvalue()
        results.timing_info.start_timestamp, results.timing_info.timer = stamp, timer
        timer.stop(self.name)
        results.timing_info.wall_time = time.perf_counter() - started
        _raise_or_load(results, config)
        return results

    def _solved(self, model: pyo.ConcreteModel, config: SolverConfig) -> SolveResult | None:
        """Return the result of a solve, None where the time was over before it."""
        from fsopt.common import clock
        from fsopt.errors import OutOfTimeError, SolverError
        from fsopt.solvers.base import Session

        common = {} if config.threads is None else {"threads": config.threads}
        options = {**common, **config.solver_options.value()}
        given: dict[str, Any] = {"options": options, "tee": bool(config.tee)}
        if config.time_limit == 0:
            return None
        try:
            with clock.limited(config.time_limit):
                if self._session is None or self._session.model is not model or self._given != given:
                    self._session = None
                    self._session, self._given = Session(model, self.solver, **given), given
                return self._session.solve(time_limit=config.time_limit, load=False)
        except OutOfTimeError:
            return None
        except SolverError as error:
            self._session = None
            kind = util.IncompatibleModelError if self.available() else ApplicationError
            raise kind(str(error)) from error

    def _results(self, model: pyo.ConcreteModel, result: SolveResult | None) -> Results:
        results = Results()
        program = None if self._session is None else self._session.program
        results.solution_loader = Solution(model, program, result)
        results.solver_name, results.solver_version = self.name, self.version()
        if result is None or program is None:
            results.termination_condition = TerminationCondition.maxTimeLimit
            return results
        unproved = CONDITIONS.get(result.stop, TerminationCondition.unknown)
        status = SolutionStatus.feasible if result.status.solved else SolutionStatus.noSolution
        results.termination_condition, results.solution_status = CERTIFIED.get(result.status, (unproved, status))
        if program.objective is not None and result.objective is not None:
            bound = -math.inf * program.sign if result.bound is None else result.bound
            results.incumbent_objective = result.objective
            results.objective_bound = program.sign * min(program.sign * bound, program.sign * result.objective)
        info, certificate = results.extra_info, result.certificate
        info.status, info.certificate = str(result.status), certificate
        info.bound_source = "" if certificate is None else certificate.bound_source
        info.message, info.iteration_count = result.message or result.stop, result.iterations
        return results


def _raise_or_load(results: Results, config: SolverConfig) -> None:
    proved = results.termination_condition == TerminationCondition.convergenceCriteriaSatisfied
    if config.raise_exception_on_nonoptimal_result and not proved:
        said = results.extra_info.get("message")
        words = f": {said.value()}" if said is not None and said.value() else ""
        message = util.NoOptimalSolutionError.default_message
        raise util.NoOptimalSolutionError(f"{message} (stopped with {results.termination_condition.name}{words})")
    if config.load_solutions:
        if results.solution_status == SolutionStatus.noSolution:
            raise util.NoFeasibleSolutionError()
        results.solution_loader.load_solution()


def classes(names: Sequence[str]) -> dict[str, type[CertifiedSolver]]:
    """Return name in Pyomo's factories -> class, ``fsopt`` for the preferred solver of each class of programs."""
    made = {"fsopt": type("Fsopt", (CertifiedSolver,), {"__doc__": CertifiedSolver.__doc__})}
    for solver in names:
        short = solver.rpartition(":")[2]
        made[f"fsopt_{short}"] = type(f"Fsopt{short.capitalize()}", (CertifiedSolver,), {"solver": solver})
    return made


class Solution(SolutionLoader):  # type: ignore[misc]
    """The values of one solve; they stay those of this solve when the model is changed and solved again."""

    def __init__(self, model: pyo.ConcreteModel, program: Program | None, result: SolveResult | None) -> None:
        self._pyomo_model = model
        self._values = ComponentMap()
        self._reduced = ComponentMap()
        self._prices = ComponentMap()
        if program is not None and result is not None and result.status.solved and result.point is not None:
            from fsopt.solvers.outcome import priced_variables, valued_variables

            self._values.update(valued_variables(program, result.point))
            self._reduced.update(priced_variables(program, result.point))
            self._prices.update(result.constraint_duals)

    def get_number_of_solutions(self) -> int:
        """Return 1 where there is a point, else 0."""
        return int(bool(self._values))

    def get_vars(self, vars_to_load: Sequence[Any] | None = None) -> ComponentMap:
        """Return variable -> value, of the variables that are not fixed and occur in the program."""
        return _part(self._values, vars_to_load, util.NoSolutionError)

    def get_duals(self, cons_to_load: Sequence[Any] | None = None) -> ComponentMap:
        """Return constraint -> d objective / d right-hand side, nan for a quadratic cone at its apex."""
        return _part(self._prices, cons_to_load, util.NoDualsError)

    def get_reduced_costs(self, vars_to_load: Sequence[Any] | None = None) -> ComponentMap:
        """Return variable -> d objective / d bound."""
        return _part(self._reduced, vars_to_load, util.NoReducedCostsError)


def _part(known: ComponentMap, wanted: Sequence[Any] | None, error: type[Exception]) -> ComponentMap:
    if not known:
        raise error()
    return known if wanted is None else ComponentMap((key, known[key]) for key in wanted)
