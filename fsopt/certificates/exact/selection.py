r"""The tree of a search over selections of features, replayed: every leaf by its cut, without any search.

.. math:: F(\sigma) + \lambda'\sigma \ge e'\alpha - \mu'r - \sum_j h_j \sigma_j, \qquad
          h_j = \tfrac12 q_j(\alpha)^2 - \lambda_j - R_j'\mu,

for every allowed :math:`\sigma`, :math:`0 \le \alpha \le C` with :math:`y'\alpha = 0`, and :math:`\mu \ge 0`. For the
squared hinge loss :math:`\alpha` has no upper bound, and :math:`\alpha'\alpha / (4C)` is subtracted; for the logistic
loss the entropy is in the place of :math:`e'\alpha`, from below (:mod:`fsopt.certificates.exact.logarithms`). The bound
of a leaf is computed in doubles with a bound on its error. Rational numbers decide only between the leaves whose bounds
are within these errors of the smallest one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from operator import mul
from typing import Any, TypeAlias

import numpy as np

from fsopt.certificates.exact.encoding import Part, decoded
from fsopt.certificates.exact.forms import ZERO, Vector
from fsopt.certificates.exact.logarithms import entropy, logistic_loss
from fsopt.data.losses import HINGE, LOGISTIC, LOSSES, SQUARED_HINGE, DualTerm, Loss
from fsopt.errors import NotShownError
from fsopt.typing import Vector as Floats

Node: TypeAlias = tuple[frozenset[int], frozenset[int]]
"""The features inside, and those outside, of every selection below a node."""
EPS = float(np.finfo(float).eps)
LARGEST = 2**53
"""Largest multiplier of the squared hinge loss, and largest number of steps of a grid: a double holds them."""


def _sum(values: Iterable[Fraction]) -> Fraction:
    return sum(values, ZERO)


@dataclass
class Problem:
    """The problem of a part, in rational numbers, and its samples in doubles.

    Attributes
    ----------
    signed : feature -> its signed samples y_i x_ij as integers over one denominator.
    floats : (p, n) the same as doubles.
    main : the constraint without negative weights whose multiplier each bound optimises; None for none.
    fixed : features that every selection has, or has not.
    """

    y: list[int]
    c: Fraction
    loss: Loss
    signed: list[Vector]
    floats: Floats
    R: list[list[Fraction]]
    r: list[Fraction]
    lam: list[Fraction]
    main: int | None
    fixed: Node

    @classmethod
    def of(cls, held: Mapping[str, Any]) -> Problem:
        """Return the problem of plain data; raises KeyError, TypeError or ValueError where it is damaged."""
        y = [int(v) for v in held["y"]]
        columns = [[v * decoded(x) for v, x in zip(y, column, strict=True)] for column in held["columns"]]
        R, p = [[decoded(v) for v in row] for row in held["R"]], len(columns)
        lam, main = [decoded(v) for v in held["lam"]], held["main"]
        c, loss = decoded(held["c"]), held.get("loss", HINGE.name)
        fixed = (frozenset(held["inside"]), frozenset(held["outside"]))
        if not set(y) <= {-1, 1} or c <= 0 or len(lam) != p or len(held["r"]) != len(R) or any(len(k) != p for k in R):
            raise ValueError("its parts have other lengths, or the labels or the penalty weight are damaged")
        if loss not in LOSSES:
            raise ValueError(f"its loss is {loss!r}")
        if not fixed[0] | fixed[1] <= set(range(p)):
            raise ValueError("a fixed feature is none")
        if not y or not p or any(len(k) != len(y) for k in columns):
            raise ValueError("it is empty, or a feature has another length")
        if main is not None and main < 0:
            raise ValueError("there is no main constraint")
        if main is not None and any(v < 0 for v in R[main]):
            raise ValueError("the main constraint has negative weights")
        floats = np.array([[float(v) for v in column] for column in columns]).reshape(p, len(y))
        r = [decoded(v) for v in held["r"]]
        return cls(y, c, LOSSES[loss], [Vector.of(k) for k in columns], floats, R, r, lam, main, fixed)

    @property
    def p(self) -> int:
        """Number of features."""
        return len(self.signed)

    def decided(self, node: Node, into: set[int], out: set[int]) -> Node | None:
        """Return a node with further features decided, and all that one constraint alone decides; None if empty."""
        while True:
            node = (node[0] | into, node[1] | out)
            if node[0] & node[1]:
                return None
            free = [j for j in range(self.p) if j not in node[0] and j not in node[1]]
            into, out = set(), set()
            for row, right in zip(self.R, self.r, strict=True):
                left = right - _sum(row[j] for j in node[0]) - _sum(row[j] for j in free if row[j] < 0)
                if left < 0:
                    return None
                out |= {j for j in free if row[j] > left}
                into |= {j for j in free if -row[j] > left}
            if not into and not out:
                return node

    def value(self, held: Mapping[str, Any]) -> Fraction:
        """Return the objective value of a hyperplane on an allowed selection; raises NotShownError for another one."""
        selected, b = set(held["selected"]), decoded(held["b"])
        w = [decoded(v) for v in held["w"]]
        if (
            len(w) != self.p
            or not all(0 <= j < self.p for j in selected)
            or any(w[j] for j in set(range(self.p)) - selected)
        ):
            raise NotShownError("a weight outside the selection is not 0")
        allowed = all(_sum(row[j] for j in selected) <= right for row, right in zip(self.R, self.r, strict=True))
        if not allowed or not self.fixed[0] <= selected or self.fixed[1] & selected:
            raise NotShownError("the selection violates a constraint")
        loss = ZERO
        for i, label in enumerate(self.y):
            margin = label * b + _sum(w[j] * self.signed[j][i] for j in selected)
            loss += max(1 - margin, ZERO) ** self.loss.power if self.loss.power else logistic_loss(margin)
        return _sum(v * v for v in w) / 2 + self.c * loss + _sum(self.lam[j] for j in selected)


@dataclass
class Cuts:
    """The cuts of a part: in doubles with a bound on their errors, and in rational numbers where these are needed."""

    problem: Problem
    part: Part
    held: dict[int, tuple[float, Floats, float]] = field(default_factory=dict)

    def near(self, name: int) -> tuple[float, Floats, float]:
        """Return constant, gains (p,) and a bound on the sum of the errors of both; raises NotShownError for no cut."""
        if name not in self.held:
            self._check(name)
            problem, grid = self.problem, np.array(self.part["alpha"][name], dtype=float)
            c = float(problem.c)
            alpha = grid * (c / self.part["steps"])
            mu = [float(decoded(v)) for v in self.part["mu"][name]]
            R = np.array([[float(v) for v in row] for row in problem.R]).reshape(len(mu), problem.p)
            r, lam = (np.array([float(v) for v in values]) for values in (problem.r, problem.lam))
            q = problem.floats @ alpha
            # |dq_j| <= (n + 4) eps sum_i |alpha_i x_ij|: Higham, Accuracy and Stability, section 3.1
            error = (problem.floats.shape[1] + 4) * EPS * (np.abs(problem.floats) @ alpha)
            gains = 0.5 * q * q - lam - R.T @ mu
            term = DualTerm(c, 0.5 / c if problem.loss is SQUARED_HINGE else 0.0, entropy=problem.loss is LOGISTIC)
            gained, lost = term.value_and_error(alpha)
            size = float(alpha.sum() + np.abs(mu) @ np.abs(r) + 0.5 * q @ q + np.abs(lam).sum()) + abs(gained)
            size += float((np.abs(R).T @ np.abs(mu)).sum())
            total = float((np.abs(q) * error + error**2).sum()) + lost + (8 * problem.p + 32) * EPS * size
            self.held[name] = (gained - float(np.dot(mu, r)), gains, total)
        return self.held[name]

    def _check(self, name: int) -> None:
        """Raise NotShownError unless the multipliers of a cut are dual feasible, in integers."""
        grid, steps = self.part["alpha"][name], self.part["steps"]
        y = self.problem.y
        most = LARGEST if self.problem.loss is SQUARED_HINGE else steps
        whole = all(isinstance(a, int) and 0 <= a <= most for a in grid)
        if not 0 < steps < LARGEST or len(grid) != len(y) or not whole:
            raise NotShownError(f"a multiplier of cut {name} is out of bounds")
        if sum(map(mul, grid, y)):
            raise NotShownError(f"the multipliers of cut {name} do not balance")
        mu = [decoded(v) for v in self.part["mu"][name]]
        if len(mu) != len(self.problem.r) or any(v < 0 for v in mu):
            raise NotShownError(f"a multiplier of a constraint of cut {name} is negative")

    def exact(self, name: int) -> tuple[Fraction, list[Fraction]]:
        """Return constant and gains of a cut in rational numbers."""
        problem, grid = self.problem, self.part["alpha"][name]
        unit, mu = problem.c / self.part["steps"], [decoded(v) for v in self.part["mu"][name]]
        gains = []
        for j, column in enumerate(problem.signed):
            q = unit * Fraction(sum(map(mul, grid, column.numerators)), column.denominator)
            paid = _sum(m * row[j] for m, row in zip(mu, problem.R, strict=True))
            gains.append(q * q / 2 - problem.lam[j] - paid)
        if problem.loss is LOGISTIC:
            gained = problem.c * entropy(grid, self.part["steps"])
        else:  # for the squared hinge loss less a'a / (4 C), with a = grid C / steps
            curved = sum(map(mul, grid, grid)) if problem.loss is SQUARED_HINGE else 0
            gained = unit * (sum(grid) - Fraction(curved, 4 * self.part["steps"]))
        return gained - _sum(map(mul, mu, problem.r)), gains


@dataclass(frozen=True)
class Leaf:
    """A leaf: its cut, its node, and the bound in doubles less its error."""

    cut: int
    node: Node
    low: float


def proved_ends(part: Part) -> tuple[Fraction | None, Fraction | None]:
    """Return the smallest bound of the leaves and the value of the point, None where there is none."""
    problem = Problem.of(part["problem"])
    cuts = Cuts(problem, part)
    found = [
        Leaf(cut, at, _near_bound(problem, cuts.near(cut), at))
        for cut, at in _leaves(problem, part["tree"], part["claim"]["left_out"])
    ]
    lowest: Fraction | None = None
    for leaf in sorted(found, key=lambda leaf: leaf.low):
        if lowest is not None and leaf.low > lowest:
            break
        bound = _exact_bound(problem, cuts.exact(leaf.cut), leaf.node)
        lowest = bound if lowest is None else min(lowest, bound)
    return lowest, None if part["point"] is None else problem.value(part["point"])


def _leaves(problem: Problem, tree: Sequence[Any], left_out: Sequence[Any]) -> list[tuple[int, Node]]:
    """Return cut and node of all leaves of a tree in preorder, its known leaves apart: the selections left out."""
    pending = [problem.decided(problem.fixed, set(), set())]
    leaves: list[tuple[int, Node]] = []
    met: list[int] = []
    for mark, *rest in tree:
        if not pending:
            raise NotShownError("a part of the tree belongs to no node")
        node = pending.pop()
        if (node is None) != (mark == "empty"):
            raise NotShownError("a node is wrongly marked as empty")
        if node is None:
            continue
        if mark == "leaf":
            (cut,) = rest
            leaves.append((cut, node))
        elif mark == "known":
            (known,) = rest
            if frozenset(left_out[known]) != node[0] or len(node[0] | node[1]) != problem.p:
                raise NotShownError("a known selection is none of those left out")
            met.append(known)
        elif mark == "branch":
            (j,) = rest
            _refuse_decided(problem, node, [j])
            pending += [problem.decided(node, {j}, set()), problem.decided(node, set(), {j})]
        elif mark == "peg":
            cut, features = rest
            _refuse_decided(problem, node, [abs(f) - 1 for f in features])
            into, out = {f - 1 for f in features if f > 0}, {-f - 1 for f in features if f < 0}
            leaves += [(cut, (node[0], node[1] | {j})) for j in into]
            leaves += [(cut, (node[0] | {j}, node[1])) for j in out]
            pending.append(problem.decided(node, into, out))
        else:
            raise NotShownError("the tree is damaged")
    if pending or sorted(met) != list(range(len(left_out))):
        raise NotShownError("the tree ends early, or its known leaves are not the selections left out")
    return leaves


def _refuse_decided(problem: Problem, node: Node, features: Sequence[int]) -> None:
    """Raise NotShownError where a feature is decided at a node already, or stands twice."""
    free = all(0 <= j < problem.p and j not in node[0] and j not in node[1] for j in features)
    if not free or len(set(features)) < len(features):
        raise NotShownError("a feature is not free at its node")


def _near_bound(problem: Problem, cut: tuple[float, Floats, float], node: Node) -> float:
    """Return a lower bound of the bound of a cut on a node, in doubles less their error."""
    constant, gains, error = cut
    inside = list(node[0])
    free = np.ones(problem.p, dtype=bool)
    free[[*inside, *node[1]]] = False
    base = constant - float(gains[inside].sum())
    positive = np.flatnonzero(free & (gains > 0))
    if problem.main is None:
        return base - float(gains[positive].sum()) - 2.0 * error
    weight = np.array([float(v) for v in problem.R[problem.main]])
    left = float(problem.r[problem.main] - _sum(problem.R[problem.main][j] for j in inside))
    paying = positive[weight[positive] > 0]
    order = paying[np.argsort(-gains[paying] / weight[paying], kind="stable")]
    over = np.flatnonzero(np.cumsum(weight[order]) > left)
    tau = float(gains[order[over[0]]] / weight[order[over[0]]]) if len(over) else 0.0
    more = tau * (abs(left) + float(weight[positive].sum())) * (problem.p + 8) * EPS
    rest = float(np.maximum(gains[positive] - tau * weight[positive], 0.0).sum())
    # Rational numbers take the best tau of the exact gains, which differ from these by at most their errors.
    return base - tau * left - rest - 2.0 * error - more


def _exact_bound(problem: Problem, cut: tuple[Fraction, list[Fraction]], node: Node) -> Fraction:
    """Return the bound of a cut on a node; any tau >= 0 is valid, that of the last feature that fits is largest."""
    constant, gains = cut
    base = constant - _sum(gains[j] for j in node[0])
    free = [j for j in range(problem.p) if j not in node[0] and j not in node[1] and gains[j] > 0]
    if problem.main is None:
        return base - _sum(gains[j] for j in free)
    weight, tau = problem.R[problem.main], ZERO
    left = rest = problem.r[problem.main] - _sum(weight[j] for j in node[0])
    for j in sorted((j for j in free if weight[j]), key=lambda j: gains[j] / weight[j], reverse=True):
        if weight[j] > rest:
            tau = gains[j] / weight[j]
            break
        rest -= weight[j]
    return base - tau * left - _sum(max(gains[j] - tau * weight[j], ZERO) for j in free)
