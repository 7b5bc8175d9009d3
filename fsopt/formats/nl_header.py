"""The header of an .nl file: the counts of its segments, and the groups of its variables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fsopt.errors import FileError
from fsopt.formats.nl_terms import Lines, whole
from fsopt.formats.read_arrays import countable

LEAST = (3, 2, 0, 2, 0, 2, 2, 0, 5)
"""Numbers that each line of the header, without the first, has at least; older writers leave the others out."""


@dataclass
class NlHeader:
    """The counts of a header, each a list in the order of the format; trailing ones may be left out.

    Attributes
    ----------
    size : variables, constraints, objectives, ranges, equations, logical constraints.
    nonlinear : nonlinear constraints and objectives, and kinds of complementarities.
    variables : numbers of variables that are nonlinear in constraints, in the objective (counted from the first
        variable on unless all of these are nonlinear in constraints too), and in both; the first writers left this out.
    functions : network variables, imported functions, kind of arithmetic, flags.
    discrete : numbers of binary and other integer linear variables, and of integers nonlinear in both, in constraints
        only and in the objective only.
    nonzeros : of the Jacobian and of the gradient of the objective.
    shared : kinds of shared expressions.
    """

    size: list[int]
    nonlinear: list[int]
    network: list[int]
    variables: list[int]
    functions: list[int]
    discrete: list[int]
    nonzeros: list[int]
    lengths: list[int]
    shared: list[int]

    @property
    def old(self) -> bool:
        """Whether the writer is one of before 1993, which had no integers in nonlinear terms, and no counts of them."""
        return len(self.variables) == 2

    def groups(self) -> list[tuple[int, int, int]]:
        """Return start, end and number of integers, which are the last ones, of each group of the variables.

        The groups are nonlinear in both, in constraints only and in the objective only, and linear.
        """
        last = max(self.variables[:2])
        if self.old:
            constraints = both = objective = last
            in_both = in_constraints = in_objective = 0
            binary, whole_ones = self.discrete
        else:
            constraints, objective, both = self.variables[:3]
            binary, whole_ones, in_both, in_constraints, in_objective = self.discrete[:5]
        found = [
            (0, both, in_both),
            (both, constraints, in_constraints),
            (constraints, last, in_objective),
            (last, self.size[0], binary + whole_ones),
        ]
        if not (objective == both or objective > constraints) or any(
            start + count > end for start, end, count in found
        ):
            raise ValueError("its header has other numbers of variables of a kind than of all kinds")
        return found


def read_header(lines: Lines) -> NlHeader:
    """Return the header; raises FileError for kinds of constraints and functions that are not read."""
    lines.next()
    header = NlHeader(*_counts(lines))
    if any(header.size[5:]):
        raise FileError("the .nl file has logical constraints", "state them by integers")
    if any(header.nonlinear[2:]):
        raise FileError("the .nl file has complementarities", "state them by integers")
    if header.functions[1:2] > [0]:
        raise FileError("the .nl file has imported functions", "state the model without them")
    if header.size[2] > 1:
        raise FileError(f"the .nl file has {header.size[2]} objectives", "leave one")
    if (len(header.variables) == 2) != (len(header.discrete) == 2):
        raise ValueError(
            "its header counts the integers of nonlinear terms, or the variables of both kinds, and not both"
        )
    header.groups()
    return header


def _counts(lines: Lines) -> Iterator[list[int]]:
    """Yield the numbers of each line of the header."""
    for least in LEAST:
        counts = [whole(word) for word in lines.next().split()]
        if len(counts) < least or min(counts, default=0) < 0:
            raise ValueError(f"this line of its header needs {least} counts, none negative")
        for count in counts:
            countable(count)
        yield counts
