"""The values, shadow prices and reduced costs of one solve, as Pyomo asks for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pyomo.common.collections import ComponentMap
from pyomo.contrib.solver.common.solution_loader import SolutionLoader
from pyomo.contrib.solver.common.util import NoDualsError, NoReducedCostsError, NoSolutionError

if TYPE_CHECKING:
    import pyomo.environ as pyo

    from fsopt.answers.results import SolveResult
    from fsopt.compiler import Program


class Solution(SolutionLoader):  # type: ignore[misc]
    """The values of one solve; they stay those of this solve when the model is changed and solved again.

    Parameters
    ----------
    model : Pyomo's model.
    program : its arrays at the solve; None where it was not translated.
    result : of the solve; None where there was none.
    """

    def __init__(self, model: pyo.ConcreteModel, program: Program | None, result: SolveResult | None) -> None:
        self._pyomo_model = model
        self._values: ComponentMap = ComponentMap()
        self._reduced: ComponentMap = ComponentMap()
        self._prices: ComponentMap = ComponentMap()
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
        return _chosen(self._values, vars_to_load, NoSolutionError)

    def get_duals(self, cons_to_load: Sequence[Any] | None = None) -> ComponentMap:
        """Return constraint -> d objective / d right-hand side, nan for a quadratic cone at its apex."""
        return _chosen(self._prices, cons_to_load, NoDualsError)

    def get_reduced_costs(self, vars_to_load: Sequence[Any] | None = None) -> ComponentMap:
        """Return variable -> d objective / d bound."""
        return _chosen(self._reduced, vars_to_load, NoReducedCostsError)


def _chosen(known: ComponentMap, wanted: Sequence[Any] | None, error: type[Exception]) -> ComponentMap:
    if not known:
        raise error()
    return known if wanted is None else ComponentMap((key, known[key]) for key in wanted)
