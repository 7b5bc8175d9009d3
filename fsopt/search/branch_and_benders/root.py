r"""The root of a search in stages: its first incumbent, its relaxation, and the heuristics for better incumbents.

A first-order oracle of the Boolean relaxation needs products with the samples alone.

With Z = YX, penalty weights :math:`\lambda`, one constraint :math:`R\sigma \le r` and the loss :math:`\ell` of the
margins, whose conjugate gives the term :math:`\psi` of the multipliers, the relaxation is the saddle point problem

.. math:: \min_{w, b}\ \max_{0 \le \alpha \le \bar\alpha}\ \Omega(w) - \alpha'(Zw + yb) + \psi(\alpha), \qquad
          \Omega(w) = \min_{0 \le \sigma \le 1,\ R\sigma \le r}\ \sum_j \Big(\frac{w_j^2}{2\sigma_j}
          + \lambda_j \sigma_j\Big),

for a cardinality alone half the squared k-support norm (Argyriou, Foygel and Srebro, 2012). A proximal step of w at z,
with lengths :math:`\tau_j`, is

.. math:: w_j = \frac{\sigma_j z_j}{\sigma_j + \tau_j}, \qquad
          \sigma_j = \Pi_{[0, 1]}\Big(\frac{|z_j|}{\sqrt{2(\lambda_j + \mu R_j)}} - \tau_j\Big),

with the smallest :math:`\mu \ge 0` at which :math:`R\sigma \le r`, found by bisection; at :math:`\tau = 0` the same
:math:`\sigma` is that of :math:`\Omega(w)`. The steps are those of :mod:`fsopt.linear.first_order`, in the
inverse of the sums :math:`\sum_i |Z_{ij}|` and :math:`\sum_j |Z_{ij}|`.

What is proved does not depend on these numbers: the search rounds alpha to its grid and bounds by integers.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from fsopt.common import clock
from fsopt.data.matrices import is_sparse
from fsopt.data.weights import loss_weights
from fsopt.errors import OutOfTimeError
from fsopt.linear.first_order import PrimalDual, Saddle
from fsopt.search.branch_and_benders.cuts import Pool, value
from fsopt.search.branch_and_benders.incumbents import Incumbents
from fsopt.search.branch_and_benders.nodes import WHOLE, NodeHyperplane, NodeSolution, NodeSolver
from fsopt.search.branch_and_benders.problem import Partial, SelectionProblem
from fsopt.search.branch_and_benders.search import CLOSE, SelectionNode, SelectionSearch
from fsopt.search.branch_and_benders.tree import SelectionTree
from fsopt.typing import Mask, Vector

SHARE = 0.5
"""Largest share of the time that is left for the steps: the search needs the rest."""
STEPS, MOST_STEPS = 25, 20_000
"""Steps between two looks at the gap, and of all sweeps."""
TINY = 1e-30
"""Smallest charge of a feature: one without any has the share 1."""
NEAR, EXACT = 1.01, 1e-9
"""Ratio of the ends of the first interval of a bisection, and of the last one, less 1."""
BLOCK = 256
"""Features of which the absolute values are held at a time."""


class RootSteps:
    """Primal-dual steps of the relaxation of a root, from w = 0.

    Attributes
    ----------
    steps : of the whole relaxation.
    best, lower, upper : the pair of the best lower bound, that bound, and the smallest value.
    end : time at which the steps end, after half of what was left.
    """

    def __init__(self, problem: SelectionProblem, at: Partial) -> None:
        self.problem, self.root = problem, at
        self.end = time.perf_counter() + SHARE * (clock.end_of(clock.left()) - time.perf_counter())
        kept, main = ~at.outside, problem.main
        Z = problem.signed if kept.all() else problem.signed[np.flatnonzero(kept)]
        p, n = Z.shape
        weights = np.zeros(problem.p) if main is None else problem.R[main]
        free, term = at.free[kept], problem.term
        self.budget = math.inf
        if main is not None:
            self.budget = float(problem.r[main] + problem.tolerances[main] - weights[at.inside].sum())
        self.constant, self.power = float(problem.lam[at.inside].sum()), problem.loss.power
        by_feature, by_sample = _absolute_sums(Z)
        self.Z, self.y = Z, problem.y
        self.costs, self.weights = problem.lam[kept] * free, weights[kept] * free
        self.caps, self.gamma, self.penalties = (
            np.array(np.broadcast_to(part, n), dtype=float)
            for part in (term.caps, term.gamma, loss_weights(problem.c, problem.weights))
        )
        self._mu = 1.0
        start = Saddle(np.zeros(p), 0.0, self._beginning(p))
        units = (1.0 / np.maximum(by_feature, TINY), 1.0 / n, 1.0 / (1.0 + by_sample))
        self.steps = PrimalDual(
            Z, self.y, self.caps, self._proximal, self.ends, start, gamma=self.gamma, units=units, period=STEPS
        )
        self.best = start
        self.lower, self.upper = -math.inf, math.inf

    @property
    def late(self) -> bool:
        """Whether the time of the steps, or their number, is used up."""
        return self.steps.total >= MOST_STEPS or time.perf_counter() > self.end

    def run(self, gap: float, cutoff: float = math.inf, known: float = -math.inf) -> None:
        """Take steps up to a relative gap, a bound at the cutoff or a value no better than a known bound, or until it
        is late; a later call goes on.
        """
        while not (
            self.steps.total and (self._closed(gap) or self.lower >= cutoff or self.upper <= known or self.late)
        ):
            for low, high, pair in self.steps.sweep():
                self.upper = min(self.upper, high)
                if low > self.lower:
                    self.best, self.lower = pair, low

    def solution(self) -> NodeSolution:
        """Return the best pair as the relaxation of the root."""
        kept, pair = ~self.root.outside, self.best
        w, sigma = np.zeros(self.problem.p), np.zeros(self.problem.p)
        w[kept], sigma[kept] = pair.w, self.shares(pair.w, 0.0)
        alpha = self.balanced(pair.alpha)
        hyperplane = NodeHyperplane(w, pair.b, sigma, alpha.astype(np.float32))
        return NodeSolution(alpha, np.zeros(len(self.problem.r)), hyperplane, self.lower)

    def _closed(self, gap: float) -> bool:
        return self.upper - self.lower <= gap * abs(self.upper)

    def ends(self, pair: Saddle) -> tuple[float, float]:
        """Return the lower bound by the multipliers of a pair, and the value of the relaxation at its hyperplane."""
        alpha = self.balanced(pair.alpha)
        q = self.Z @ alpha
        gains = 0.5 * q * q - self.costs
        mu = self._multiplier(lambda mu: float(np.sum(np.where(gains > mu * self.weights, self.weights, 0.0 * gains))))
        lower = float(np.sum(alpha - 0.5 * self.gamma * alpha * alpha)) - (mu * self.budget if mu else 0.0)
        lower -= float(np.sum(np.maximum(gains - mu * self.weights, 0.0)))
        sigma = self.shares(pair.w, 0.0)
        slacks = np.maximum(1.0 - pair.w @ self.Z - pair.b * self.y, 0.0)
        upper = 0.5 * float(np.sum(pair.w * pair.w / (sigma + TINY))) + float(self.costs @ sigma)
        upper += float(self.penalties @ (slacks if self.power == 1 else slacks * slacks))
        return self.constant + lower, self.constant + upper

    def shares(self, z: Vector, tau: Vector | float) -> Vector:
        """Return sigma (p,) of a proximal step with the lengths tau (p,) at z; with 0 that of Omega at z."""
        size = np.abs(z)

        def at(mu: float) -> Vector:
            charges = self.costs + mu * self.weights
            return np.clip(size / np.sqrt(2.0 * (charges + TINY)) - tau, 0.0, 1.0)

        return at(self._multiplier(lambda mu: float(self.weights @ at(mu))))

    def balanced(self, alpha: Vector) -> Vector:
        """Return multipliers with y'alpha = 0, those of the heavier class scaled down."""
        plus, minus = 0.5 * (1.0 + self.y), 0.5 * (1.0 - self.y)
        up, down = float(plus @ alpha), float(minus @ alpha)
        least = min(up, down)
        return alpha * (plus * (least / max(up, TINY)) + minus * (least / max(down, TINY)))

    def _proximal(self, z: Vector, tau: Vector) -> Vector:
        sigma = self.shares(z, tau)
        return sigma * z / (sigma + tau)

    def _multiplier(self, used: Callable[[float], float]) -> float:
        """Return the smallest mu >= 0 at which a falling function is within the constraint, from above."""
        if used(0.0) <= self.budget:
            return 0.0
        low = high = self._mu
        factor = NEAR
        while used(high) > self.budget:
            low, high = high, factor * high
            factor *= factor
        while low == high or used(low) <= self.budget:
            if low < TINY * TINY:
                return low
            low, high = low / factor, low
            factor *= factor
        while high > (1.0 + EXACT) * low:
            middle = math.sqrt(low * high)
            low, high = (middle, high) if used(middle) > self.budget else (low, middle)
        self._mu = high
        return high

    def _beginning(self, p: int) -> Vector:
        """Return balanced multipliers (n,), of half their bounds, scaled to a positive dual value."""
        alpha = self.balanced(0.5 * self.caps)
        total = float(np.sum(alpha))
        square = total + self.constant - self.ends(Saddle(np.zeros(p), 0.0, alpha))[0]  # that of alpha, at least 0
        return alpha * min(1.0, 0.5 * total / max(square, TINY))


def _absolute_sums(Z: Any) -> tuple[Vector, Vector]:
    """Return the sums of absolute values of each feature (p,) and of each sample (n,)."""
    p, n = Z.shape
    by_feature, by_sample = np.zeros(p), np.zeros(n)
    for k in range(0, p, BLOCK):
        part = abs(Z[k : k + BLOCK])
        by_feature[k : k + BLOCK] = part.sum(axis=1)
        by_sample += part.sum(axis=0)
    return by_feature, by_sample


EVERY_FEATURE, STEP = 200, 0.1
"""Number of features up to which an elimination leaves out one after another, and the share at once of more."""
MOST, WORK = 1000, 1e8
"""Features that an elimination starts from at most, those of largest gain in the relaxation, and multiplications for
the products of all pairs of them."""

GAPS = (0.1, 0.03, 0.01, 0.003, 0.001)
"""Relative gaps at which the first-order steps give way to interior points, where features with a share are few."""
SYSTEM = 2e9
"""Largest number of samples times the squared number of features in a system of the interior points."""
MACHINE = 1e11
"""The same for the support vector machine of a rounded relaxation: of a larger one the largest features are taken."""
LIKELY = 1e-3
"""Share in the relaxation from which a feature is likely."""
EXCHANGES, FAILS = 400, 100
"""Exchanges that the local search tries from a selection, and its restarts that may fail at a gap of 100 %."""
DRAWS = 200
"""Eliminations from drawn features that may fail, at a gap of 100 %, where there are more features than samples."""
FEW = 64
"""Exchanges of a search that is not thorough, without restarts: the best exchange has nearly always one of the smallest
bounds."""


def begin(search: SelectionSearch, go_on: Callable[[], bool], initial: Mask | None = None) -> Iterator[int]:
    """Solve the root and find incumbents, from the first stage that is not complete; yield how many of them are.

    After the first one there is an incumbent, unless the constraints are such that no selection was found yet. A stage
    that ``go_on`` ends is not complete: a search that resumes begins it again from the state before it, and the stages
    after it find what they find without an interruption. Where the time is over in a stage, the root is an open node.
    """
    if not search.stage:
        if not search.frontier:
            at = search.problem.root()
            assert at is not None
            search.open_root(at)
        yield 0
        # An answer needs an incumbent and a bound, in however little time.
        with clock.limited(clock.left(), extend=True):
            _first(search, initial)
        yield _ended(search)
    if search.stage == 1:
        with clock.limited(clock.left(), extend=True):
            _relax(search)
        yield _ended(search)
    for heuristic in HEURISTICS[search.stage - 2 :]:
        if search.frontier:
            heuristic(search, go_on)
            if not go_on():
                break
        yield _ended(search)


def any_selection(search: SelectionSearch, go_on: Callable[[], bool]) -> bool:
    """Take the first selection that the constraints allow, by depth-first search; return whether there is one."""
    stack = [search.problem.root()]
    while stack and go_on():
        at = stack.pop()
        if at is None:
            continue
        if not at.free.any():
            search.incumbents.solve(at.inside)
            return True
        j = int(np.flatnonzero(at.free)[0])
        stack += [search.problem.propagated(at.decided(j, selected=chosen)) for chosen in (False, True)]
    if go_on():
        return False
    raise OutOfTimeError("no selection was found in time", "give more seconds")


def _ended(search: SelectionSearch) -> int:
    """End a stage, and return the number of those that are complete."""
    search.stage += 1
    return search.stage


def _first(search: SelectionSearch, initial: Mask | None) -> None:
    """Try the given selection, and the features whose class means differ most: one support vector machine each."""
    if initial is not None:
        search.incumbents.solve(initial)
    problem = search.problem
    mean = np.where(problem.y > 0, 1.0 / (problem.y > 0).sum(), 1.0 / (problem.y < 0).sum())
    root, scores = search.frontier.best, [problem.sizes(problem.products(mean))]
    for score in [*scores, root.cut.gains] if root.cut.pieces else scores:
        selection = search.incumbents.rounded(score, root.at)
        if selection is not None:
            search.incumbents.try_selection(selection)


def _relax(search: SelectionSearch) -> None:
    """Solve the relaxation: of sparse samples by first-order steps, then by interior points on few features."""
    problem, root = search.problem, search.frontier.best
    constrained = len(problem.r) <= 1 and bool(np.all(problem.R >= 0.0))  # the steps have one such constraint
    suited = is_sparse(problem.X) and constrained and not problem.term.entropy and problem.columns is None
    if not suited or root.at.free.sum() <= WHOLE:
        search.solve_root()
        return
    steps = RootSteps(problem, root.at)
    few = False
    for gap in GAPS:
        steps.run(gap, known=root.bound)
        found = steps.solution()
        few = problem.n * float((found.hyperplane.sigma > LIKELY).sum()) ** 2 <= SYSTEM
        if few or steps.late or steps.upper <= root.bound:
            break
    cut = search.incumbents.add_cut(found.alpha) or root.cut
    cut = max(cut, root.cut, key=lambda one: value(problem, one, root.at))
    search.frontier.replace(SelectionNode(0, root.at, value(problem, cut, root.at), cut, found.hyperplane))
    clock.check()
    if few and steps.upper > root.bound:
        search.solver.likely = found.hyperplane.sigma
        search.solve_root()


def _rounded(search: SelectionSearch, go_on: Callable[[], bool]) -> None:
    """Round the relaxation by its shares and by its weights."""
    node, incumbents = search.frontier.best, search.incumbents
    sizes = search.problem.sizes(node.hyperplane.w)
    for order in (node.hyperplane.sigma + 1e-9 * sizes, sizes + 0.5):
        selection = incumbents.rounded(order, node.at)
        if selection is not None and search.problem.n * float(selection.sum()) ** 2 > MACHINE:
            kept = _largest(search, selection, order)
            selection = incumbents.rounded(np.where(kept, order, 0.0), node.at)
        if selection is not None:
            incumbents.try_selection(selection, node.hyperplane)
    incumbents.exchange(CLOSE, go_on)


def _of_the_likely(search: SelectionSearch, go_on: Callable[[], bool]) -> None:
    """Eliminate from the features with a share in the relaxation."""
    node = search.frontier.best
    likely = ~node.at.outside & (node.hyperplane.sigma > LIKELY)
    _eliminated(search, go_on, _largest(search, likely, node.hyperplane.sigma))


def _of_all(search: SelectionSearch, go_on: Callable[[], bool]) -> None:
    """Eliminate from all features, of many from those of largest gain."""
    node = search.frontier.best
    _eliminated(search, go_on, _largest(search, ~node.at.outside, node.cut.gains))


def _largest(search: SelectionSearch, start: Mask, score: Vector) -> Mask:
    """Return the features to start an elimination from, with those inside: of many those of largest score."""
    at, most = search.frontier.best.at, min(MOST, int(np.sqrt(WORK / search.problem.n)))
    free = np.flatnonzero(start & at.free)
    kept: Mask = at.inside.copy()
    kept[free if start.sum() <= most else free[np.argsort(-score[free], kind="stable")[:most]]] = True
    return kept


def _eliminated(search: SelectionSearch, go_on: Callable[[], bool], start: Mask) -> None:
    share = 0.0 if search.problem.p <= EVERY_FEATURE else STEP
    before = search.incumbents.best
    search.incumbents.eliminated(start, go_on, share=share)
    if search.incumbents.best is not before:
        search.incumbents.exchange(CLOSE, go_on)


def _of_draws(search: SelectionSearch, go_on: Callable[[], bool]) -> None:
    """Eliminate from the incumbent and half of the likely features, and of former incumbents', drawn at random."""
    problem, node = search.problem, search.frontier.best
    best = search.incumbents.best
    if best is None or not search.settings.thorough or problem.p <= problem.n:
        return  # of few features exchanges reach all that is good
    # What most of them leave behind, cuts and adapted samples, would not help the tree.
    drawn = Incumbents(problem, Pool(problem), SelectionTree(), NodeSolver(problem), search.incumbents.gap, best)
    likely = _largest(search, ~node.at.outside & (node.hyperplane.sigma > LIKELY), node.hyperplane.sigma)
    rng, failed = np.random.default_rng(0), 0
    while drawn.best is not None and failed < DRAWS * search.gap_of(drawn.value) ** 2 and go_on():
        before = drawn.best
        likely |= before.selection
        drawn.eliminated(likely & (rng.random(problem.p) < 0.5) | before.selection, go_on)
        failed = failed + 1 if drawn.best is before else 0
    if drawn.best is not None and drawn.best is not best:
        search.incumbents.try_selection(drawn.best.selection)


def _exchanged(search: SelectionSearch, go_on: Callable[[], bool]) -> None:
    """Exchange features from the best selection so far, and from perturbed ones: more of them where the gap is wide."""
    if not search.settings.thorough:
        search.incumbents.exchange(FEW, go_on)
    elif search.incumbents.best is not None:
        search.incumbents.exchange(EXCHANGES, go_on, fails=int(FAILS * search.gap_of(search.incumbents.value) ** 3))


HEURISTICS = (_rounded, _of_the_likely, _of_all, _of_draws, _exchanged)
STAGES = 2 + len(HEURISTICS)
"""Number of stages of a root."""
