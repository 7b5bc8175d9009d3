"""The settings of column generation, checked before anything is solved."""

from __future__ import annotations

from dataclasses import dataclass

from fsopt.models.blocks import number, whole


@dataclass(frozen=True)
class GenerationSettings:
    """Sizes of the restricted master problem, and stopping criteria.

    Attributes
    ----------
    rows : number of samples in the restricted master problem, at least 2; None is 1000 and 10 for each of its features.
    columns : >= 1, number of features with a cost in the first restricted master problem, and largest number added in
        an iteration.
    tolerance : the loop stops at ``f - bound <= tolerance * max(1, f)``.
    max_iterations : further stopping criterion.
    seed : of the random sample that gives the first hyperplane.
    """

    rows: int | None = None
    columns: int = 200
    tolerance: float = 1e-9
    max_iterations: int = 500
    seed: int = 0

    def check(self) -> None:
        """Raise ParameterError for a setting out of range."""
        if self.rows is not None:
            whole("column_generation", "rows", self.rows, low=2, high=10**9)
        whole("column_generation", "columns", self.columns, low=1, high=10**9)
        number("column_generation", "tolerance", self.tolerance)


DEFAULT_SETTINGS = GenerationSettings()
