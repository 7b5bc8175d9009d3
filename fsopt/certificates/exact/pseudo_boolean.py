r"""The bound of a search over selections as a pseudo-Boolean problem for solvers that others wrote, and its refutation.

A selection :math:`\sigma` that costs less than L has :math:`\sum_j h_j \sigma_j > k - L` for the constant k and the
gains h of each cut. With gains rounded up and right-hand sides rounded down to integers these constraints hold for
every such selection: where they have no solution together with :math:`R\sigma \le r`, no selection costs less than L.
The tree of the search is a refutation: at a leaf, a cut, or its sum with a multiple of the main constraint, has no
solution (Lemma 8), and a node has none where its children have none.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from fsopt.certificates.exact.proofs import Part
from fsopt.errors import NotShownError
from fsopt.verifier.grammar import read
from fsopt.verifier.selections import EVIDENCE, UNIT, Node, SelectionToCheck

SCALE = 2**24
"""Units of a gain and of a constant; a solver's integers of 64 bits hold their sums."""
SHARE = Fraction(1, 10**6)
"""Distance of the threshold from a bound, relative to it: more than what rounding to units takes."""
Row = tuple[list[int], int]
"""Coefficients and right-hand side of a constraint ``sum >= right``."""


def below(bound: Fraction) -> Fraction:
    """Return the threshold of a bound, a little below it."""
    return bound - SHARE * max(Fraction(1), abs(bound))


def opb(part: Part, threshold: Fraction) -> str:
    """Return an OPB problem whose solutions are all selections that cost less than a threshold, and perhaps others.

    Parameters
    ----------
    part : a claim on selections with its evidence, as plain data.
    threshold : L; that of the lower end of the claim, by :func:`below`, gives a problem without a solution.

    Raises
    ------
    NotShownError : the claim is on no selections.
    """
    problem, _, rows = _stated(part, threshold)
    lines = [_line(values, right) for values, right in rows]
    return f"* #variable= {problem.p} #constraint= {len(lines)}\n" + "".join(f"{line}\n" for line in lines)


def pbp(part: Part, threshold: Fraction) -> str:
    """Return the proof, in VeriPB's format 3.0, that the OPB problem of a threshold has no solution.

    A leaf is a sum of two constraints, where it needs that, and one step of reverse unit propagation (RUP) with its
    hint; another node is one RUP step from its children.

    Parameters
    ----------
    part, threshold : as those of :func:`opb`.

    Raises
    ------
    NotShownError : the claim is on no selections, or its tree does not close at this threshold.
    """
    problem, evidence, rows = _stated(part, threshold)
    refutation = _Refutation(problem, evidence["main"], rows, len(rows) - len(evidence["cuts"]))
    last = refutation.derive(evidence["tree"])
    head = ["pseudo-Boolean proof version 3.0", f"f {len(rows)};"]
    foot = ["output NONE;", f"conclusion UNSAT : {last};", "end pseudo-Boolean proof;"]
    return "\n".join([*head, *refutation.lines, *foot]) + "\n"


def _stated(part: Part, threshold: Fraction) -> tuple[SelectionToCheck, dict[str, Any], list[Row]]:
    """Return the problem of a claim, its evidence, and constraints: R, fixed features, and the cuts as the last."""
    if "loss" not in part["program"] or part["statement"]["left_out"]:
        reason = "a proof of another kind than of all selections has no pseudo-Boolean form"
        raise NotShownError(reason, "give the file a name in .json")
    problem = SelectionToCheck(part["program"])
    evidence = read(part["evidence"], EVIDENCE, "the evidence")
    problem.prepare(evidence)
    rows = [([-v for v in row], -right) for row, right in zip(problem.R, problem.r, strict=True)]
    for sign, features in zip((1, -1), problem.fixed, strict=True):
        rows += [([sign * (k == j) for k in range(problem.p)], max(sign, 0)) for j in sorted(features)]
    down = math.floor(threshold * UNIT)
    for name in range(len(evidence["cuts"])):
        constant, gains = problem.cut(name)
        right = (constant - down - 1) * SCALE // UNIT + 1
        rows.append(([-(-v * SCALE // UNIT) for v in gains], right))
    return problem, evidence, rows


def _line(values: list[int], right: int) -> str:
    terms = " ".join(f"{v:+d} x{j + 1}" for j, v in enumerate(values) if v)
    return f"{terms or '+0 x1'} >= {right} ;"


class _Refutation:
    """The lines of a proof; a constraint has a number, first those of the problem, of which ``own`` are no cuts."""

    def __init__(self, problem: SelectionToCheck, main: int | None, rows: list[Row], own: int) -> None:
        self.problem, self.main = problem, main
        self.rows, self.own = rows, own
        self.lines: list[str] = []
        self.count = len(rows)

    def derive(self, tree: list[list[Any]]) -> int:
        """Return the number of the contradiction, from the nodes in preorder.

        The features of a path are places j + 1, negative where they are outside. The clause of a node says that not
        all of its path is so; it follows from those of its children, which come before it.
        """
        decided, nodes = self.problem.decided, iter(tree)
        stack: list[tuple[tuple[int, ...], Node | None, int]] = [((), decided(self.problem.fixed, set(), set()), 0)]
        found: list[int] = []
        while stack:
            path, at, children = stack.pop()
            if children:
                found[-children:] = [self.clause(path, found[-children:])]
                continue
            mark, *rest = next(nodes)
            if mark == "branch":
                j = rest[0]
                stack += [(path, at, 2), ((*path, j + 1), decided(at, {j}, set()), 0)]
                stack.append(((*path, -j - 1), decided(at, set(), {j}), 0))
            elif mark == "peg":
                cuts, into, out = rest
                pegs = [*(j + 1 for j in into), *(-j - 1 for j in out)]
                found += [self.leaf((*path, -f), _other(at, f), cut) for f, cut in zip(pegs, cuts, strict=True)]
                stack += [(path, at, len(pegs) + 1), ((*path, *pegs), decided(at, set(into), set(out)), 0)]
            else:
                found.append(self.leaf(path, at, *rest))
        return found[0]

    def leaf(self, path: Sequence[int], at: Node | None, cut: int = 0) -> int:
        """Return the clause of a node that a cut closes, or constraints without cuts where it is empty."""
        hints = list(range(1, self.own + 1))
        if at is None:
            return self.clause(path, hints, kept=self.count)
        number, before = self.own + cut + 1, self.count
        own, share = self.multipliers(self.rows[number - 1], at)
        if share:
            assert self.main is not None
            self.add(f"pol {number}{f' {own} *' if own > 1 else ''} {self.main + 1} {share} * +")
            number = self.count
        return self.clause(path, [*hints, number], kept=before)

    def multipliers(self, cut: Row, at: Node) -> tuple[int, int]:
        """Return multipliers of a cut and of the main constraint whose sum has no solution at a node."""
        gains, right = cut
        free = [j for j in range(self.problem.p) if j not in at[0] and j not in at[1]]
        weight = [0] * self.problem.p if self.main is None else self.problem.R[self.main]
        room = limit = 0 if self.main is None else self.problem.r[self.main] - sum(weight[j] for j in at[0])
        own, share = 1, 0
        for j in sorted((k for k in free if weight[k] and gains[k] > 0), key=lambda k: -Fraction(gains[k], weight[k])):
            room -= weight[j]
            if room < 0:
                own, share = weight[j], gains[j]
                break
        most = sum(max(own * gains[j] - share * weight[j], 0) for j in free) + share * limit
        if own * (right - sum(gains[j] for j in at[0])) <= most:
            raise NotShownError(
                "the tree does not close at this threshold in the units of the file", "give it a name in .json"
            )
        return own, share

    def clause(self, path: Sequence[int], hints: Sequence[int], kept: int | None = None) -> int:
        """Add the clause of a path from hints; of its own, those after ``kept``, else all, are deleted then."""
        literals = " ".join(f"1 {'~' if f > 0 else ''}x{abs(f)}" for f in dict.fromkeys(path))
        used = " ".join(map(str, hints))
        old = hints if kept is None else range(kept + 1, self.count + 1)
        self.add(f"rup {literals} >= 1 : {used} ~")
        if old:
            self.lines.append(f"del id {' '.join(map(str, old))};")
        return self.count

    def add(self, line: str) -> None:
        """Add a line that derives a constraint."""
        self.lines.append(f"{line};")
        self.count += 1


def _other(node: Node | None, place: int) -> Node | None:
    """Return a node with the other value of a feature, None where that is decided; the place is as in a path."""
    if node is None:
        return None
    inside, outside = node[0] | {-place - 1} if place < 0 else node[0], node[1] | {place - 1} if place > 0 else node[1]
    return None if inside & outside else (inside, outside)
