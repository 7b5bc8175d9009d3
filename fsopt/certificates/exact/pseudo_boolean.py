r"""The bound of a search over selections as a pseudo-Boolean problem, for solvers that others wrote.

A selection :math:`\sigma` that costs less than L has :math:`\sum_j h_j \sigma_j > k - L` for the constant k and the
gains h of each cut. With gains rounded up and right-hand sides rounded down to integers these constraints hold for
every such selection: where they have no solution together with :math:`R\sigma \le r`, no selection costs less than L.
"""

from __future__ import annotations

import math
from fractions import Fraction

from fsopt.certificates.exact.proofs import Part
from fsopt.errors import NotShownError
from fsopt.verifier import verify
from fsopt.verifier.rationals import MOST_WORK, Work, read
from fsopt.verifier.selections import EVIDENCE, UNIT, Selection

SCALE = 2**24
"""Units of a gain and of a constant; a solver's integers of 64 bits hold their sums."""


def opb(part: Part, threshold: Fraction) -> str:
    """Return an OPB problem whose solutions are all selections that cost less than a threshold, and perhaps others.

    Parameters
    ----------
    part : a claim on selections with its evidence, as plain data.
    threshold : L; the lower end of the claim gives a problem without a solution.

    Raises
    ------
    NotShownError : the claim is on no selections.
    """
    if "loss" not in part["program"]:
        raise NotShownError(
            "a proof of another kind than of selections has no pseudo-Boolean form", "give the file a name in .json"
        )
    Work.left = 20 * MOST_WORK
    problem = verify.problem_of(part["program"])
    assert isinstance(problem, Selection)
    evidence = read(part["evidence"], EVIDENCE, "the evidence")
    problem.prepare(evidence)
    lines = [_line([-v for v in row], -right) for row, right in zip(problem.R, problem.r, strict=True)]
    lines += [f"{'+' if inside else '-'}1 x{j + 1} >= {int(inside)} ;" for inside, j in _fixed(problem)]
    down = math.floor(threshold * UNIT)
    for name in range(len(evidence["cuts"])):
        constant, gains = problem.cut(name)
        right = (constant - down - 1) * SCALE // UNIT + 1
        lines.append(_line([-(-v * SCALE // UNIT) for v in gains], right))
    return f"* #variable= {problem.p} #constraint= {len(lines)}\n" + "".join(f"{line}\n" for line in lines)


def _fixed(problem: Selection) -> list[tuple[bool, int]]:
    return [(True, j) for j in sorted(problem.fixed[0])] + [(False, j) for j in sorted(problem.fixed[1])]


def _line(values: list[int], right: int) -> str:
    terms = " ".join(f"{v:+d} x{j + 1}" for j, v in enumerate(values) if v)
    return f"{terms or '+0 x1'} >= {right} ;"
