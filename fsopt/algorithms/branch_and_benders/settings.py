"""The settings of branch and Benders, checked before anything is solved."""

from __future__ import annotations

from dataclasses import dataclass

from fsopt.models.blocks import number, whole
from fsopt.typing import Mask


@dataclass(frozen=True)
class BranchSettings:
    """When branch and Benders stops, where it starts, and how many tasks it is.

    Attributes
    ----------
    tolerance : the search stops at ``upper - lower <= tolerance * max(1, upper)``.
    max_nodes : >= 0, nodes after which it stops; None for no limit.
    initial : (p,) an allowed selection to start from; None for none.
    jobs : >= 1, subtrees that are searched at a time, in as many processes.
    thorough : whether the local search of the root tries many exchanges and restarts, for a proof that follows it;
        without them its selection is nearly as good, in half the time.
    """

    tolerance: float = 1e-6
    max_nodes: int | None = None
    initial: Mask | None = None
    jobs: int = 1
    thorough: bool = True

    def check(self) -> None:
        """Raise ParameterError for a setting out of range."""
        number("best-subset", "tolerance", self.tolerance)
        whole("best-subset", "jobs", self.jobs)
        if self.max_nodes is not None:
            whole("best-subset", "max_nodes", self.max_nodes)


DEFAULT_SETTINGS = BranchSettings()
