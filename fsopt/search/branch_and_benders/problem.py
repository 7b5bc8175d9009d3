r"""The selection problem in arrays, and what the constraints on a partial selection imply.

.. math:: \min_{\sigma \in \{0,1\}^p} F(\sigma) + \lambda'\sigma \quad\text{s.t.}\quad R\sigma \le r, \qquad
          F(\sigma) = \max_{0 \le \alpha \le \bar\alpha,\ y'\alpha = 0} e'\alpha
          - \tfrac12 \sum_j \sigma_j q_j(\alpha)^2 - \tfrac12 \sum_i \gamma_i \alpha_i^2,
          \quad q = Z'\alpha, \quad Z = YX

with the bounds and the curvature :math:`\gamma` of :mod:`fsopt.data.hyperplanes`: C and 0 for the hinge loss. Groups of
features and bounds on their weights have another term of q: :mod:`fsopt.search.branch_and_benders.relaxation`.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from fsopt.data import Dataset
from fsopt.data.hyperplanes import HINGE, DualTerm, Loss
from fsopt.data.matrices import divided, is_sparse
from fsopt.models.blocks import number, whole
from fsopt.search.branch_and_benders.relaxation import Columns
from fsopt.typing import Indices, Mask, Matrix, Vector

SLACK = 1e-9
"""Relative violation up to which a constraint on the selection holds."""

PART = 16
"""One of so many samples of each class is in the part that a search looks at first."""
GRID = 2**30
"""Number of steps of a multiplier from 0 to the largest upper bound."""


class Partial(NamedTuple):
    """A partial selection, the set of selections below a node: masks (p,) of features selected, and of those not."""

    inside: Mask
    outside: Mask

    @property
    def free(self) -> Mask:
        """The features (p,) that are not decided."""
        return ~(self.inside | self.outside)

    def decided(self, features: Indices | int, *, selected: bool) -> Partial:
        """Return the partial selection with further features decided."""
        inside, outside = self.inside.copy(), self.outside.copy()
        (inside if selected else outside)[features] = True
        return Partial(inside, outside)


def largest_on_grid(c: Vector) -> Indices:
    """Return the largest multipliers on the grid for their upper bounds (n,)."""
    units = c / np.max(c) * GRID
    return np.asarray(np.floor(units * (1.0 - 4.0 * np.finfo(float).eps)), dtype=np.int64)


@dataclass(frozen=True)
class SelectionProblem:
    """The selection problem of Aytug in arrays.

    Attributes
    ----------
    X, y : (n, d) samples, dense or sparse, and (n,) labels in {-1, +1}.
    c : > 0, penalty weight of the loss.
    R, r : (k, p) and (k,), constraints ``R sigma <= r`` on the selection.
    lam : (p,) penalty weights of the features.
    fixed : features that every selection has, or has not.
    weights : (n,) weights of the samples, by which c is multiplied; None for equal weights.
    loss : of the margins.
    columns : the groups of the d columns of X, the p features of a selection then, and the bounds on their weights;
        None where each column is a feature and no weight has a bound.
    """

    X: Matrix
    y: Vector
    c: float
    R: Matrix
    r: Vector
    lam: Vector
    fixed: Partial
    weights: Vector | None = None
    loss: Loss = HINGE
    columns: Columns | None = None

    @classmethod
    def of(
        cls,
        data: Dataset,
        c: float,
        R: Matrix,
        r: Vector,
        lam: Vector,
        loss: Loss = HINGE,
        columns: Columns | None = None,
    ) -> SelectionProblem:
        """Return the problem on a data set.

        Constraints without any feature and duplicates are dropped, those on one feature fix it, and the others are
        sorted: the same constraints give the same arrays, in whatever order they come.
        """
        p = len(lam)
        fixed = Partial(np.zeros(p, dtype=bool), np.zeros(p, dtype=bool))
        rows = []
        for row, right in zip(R, r, strict=True):
            places = np.flatnonzero(row)
            if len(places) != 1:
                rows += [np.append(row, right) + 0.0] if len(places) or right < 0.0 else []
                continue
            allowed = [v * row[places[0]] <= right + SLACK * max(1.0, abs(right)) for v in (0.0, 1.0)]
            if not any(allowed):  # no selection at all: 0 <= -1
                rows.append(np.append(np.zeros(p), -1.0))
            elif not all(allowed):
                fixed = fixed.decided(int(places[0]), selected=allowed[1])
        kept = np.unique(np.array(rows), axis=0) if rows else np.zeros((0, p + 1))
        return cls(data.X, data.y, c, kept[:, :-1], kept[:, -1], lam, fixed, data.weights, loss, columns)

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields alone: another process computes what follows from them again."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    @cached_property
    def n(self) -> int:
        """Number of samples."""
        return len(self.y)

    @cached_property
    def p(self) -> int:
        """Number of features that a selection decides on."""
        return len(self.lam)

    @cached_property
    def width(self) -> int:
        """Number of columns of the samples, and of weights."""
        return int(self.X.shape[1])

    def places(self, features: Indices) -> Indices:
        """Return the columns of some features."""
        return features if self.columns is None else self.columns.places(features)

    def halves(self, q: Matrix) -> Matrix:
        """Return what each feature (..., p) of a selection takes from the dual by the products q (..., d)."""
        return 0.5 * q * q if self.columns is None else self.columns.sums(self.columns.bounds.conjugate(q))

    def nearest(self, w: Vector) -> Vector:
        """Return the nearest weights (d,) within their bounds."""
        return w if self.columns is None else self.columns.bounds.clipped(w)

    def sizes(self, w: Vector) -> Vector:
        """Return the norms (p,) of the weights (d,) of each feature."""
        return np.abs(w) if self.columns is None else np.sqrt(self.columns.sums(w * w))

    @cached_property
    def term(self) -> DualTerm:
        """The term of the multipliers in the dual."""
        return self.loss.term(self.c, self.y, self.weights)

    @cached_property
    def each_term(self) -> tuple[Vector, Vector, bool]:
        """The upper bounds (n,) and curvatures (n,) of the term of the multipliers, and whether it is the entropy."""
        return self.term.each(self.n)

    @property
    def caps(self) -> float | Vector:
        """The upper bounds of the multipliers: one number, or one for each sample (n,) where they have weights."""
        return self.term.caps

    def distance(self, margins: Vector) -> Vector:
        """Return how far margins (n,) are from those at which a multiplier leaves its bound.

        Without upper bounds of the multipliers no sample within the margin is at one, and with the entropy none at all.
        """
        distance: Vector = np.abs(margins - 1.0)
        if self.loss.power != 1:
            distance[margins < (1.0 if self.loss.power else np.inf)] = 0.0
        return distance

    @cached_property
    def unit(self) -> float:
        """The unit of multipliers on the grid."""
        return float(np.max(self.caps)) / GRID

    @cached_property
    def tops(self) -> Indices:
        """The largest multipliers (n,) on the grid."""
        return largest_on_grid(self.caps) if isinstance(self.caps, np.ndarray) else np.full(self.n, GRID)

    @cached_property
    def signed(self) -> Any:
        """The signed samples Z' (d, n): one column of X is contiguous, or a row of a sparse matrix."""
        if is_sparse(self.X):
            return divided(self.X, np.ones(self.width), self.y).T.tocsr()
        return np.multiply(self.X.T, self.y, order="C")

    @cached_property
    def single(self) -> Any:
        """The signed samples (d, n) in single precision."""
        return self.signed.astype(np.float32)

    @cached_property
    def part(self) -> SelectionProblem:
        """The problem on a part of the samples of both classes, drawn at random, with a penalty weight that fits."""
        rng = np.random.default_rng(0)
        drawn = [rng.permutation(np.flatnonzero(self.y == label)) for label in (-1.0, 1.0)]
        places = np.sort(np.concatenate([one[: -(-len(one) // PART)] for one in drawn]))
        weights = None if self.weights is None else self.weights[places]
        c = self.c * self.n / len(places)
        return replace(self, X=self.X[places], y=self.y[places], c=c, weights=weights)

    def rows(self, features: Indices, samples: Indices | None = None) -> Matrix:
        """Return the signed samples of some columns (k, n), one after another, dense; only some samples if given."""
        rows = self.signed[features]
        rows = np.asarray(rows.toarray() if is_sparse(rows) else rows)
        return rows if samples is None else np.take(rows, samples, axis=1)

    def products(self, alpha: Matrix, features: Indices | None = None) -> Matrix:
        """Return q = Z'alpha (d,) of multipliers (n,), or of several (k, n) as rows; only some columns if given."""
        if features is None:
            return np.asarray(alpha @ self.signed.T)
        return np.asarray(alpha @ self.signed[features].T)

    def scores(self, w: Vector) -> Vector:
        """Return the signed scores Z w (n,) of weights (d,)."""
        places = np.flatnonzero(w)
        return np.asarray(w[places] @ self.signed[places] if 4 * len(places) < len(w) else w @ self.signed)

    @cached_property
    def norms(self) -> Vector:
        """The Euclidean norms (d,) of the columns: times that of alpha they bound the sums of absolute terms of q."""
        Z = self.signed
        return np.asarray(np.sqrt((Z * Z).sum(axis=-1) if is_sparse(Z) else np.einsum("ij,ij->i", Z, Z)))

    @cached_property
    def totals(self) -> tuple[float, float]:
        """The sums of the penalty weights, and of the squared norms of the columns."""
        return float(self.lam.sum()), float(self.norms @ self.norms)

    @cached_property
    def main(self) -> int | None:
        """The constraint without negative coefficients on most features; each bound optimises its multiplier."""
        knapsacks = np.flatnonzero(np.all(self.R >= 0.0, axis=1))
        if not len(knapsacks):
            return None
        return int(knapsacks[np.argmax((self.R[knapsacks] > 0.0).sum(axis=1))])

    @cached_property
    def knapsack(self) -> tuple[Vector, float]:
        """The coefficients (p,) of the main constraint and its right-hand side with its tolerance, 0 without one."""
        if self.main is None:
            return np.zeros(self.p), 0.0
        return self.R[self.main], float(self.r[self.main] + self.tolerances[self.main])

    @cached_property
    def cardinality(self) -> int | None:
        """The largest number of features where that is the only constraint and there are no penalty weights."""
        alone = len(self.r) == 1 and np.all(self.R[0, 0] == self.R) and self.R[0, 0] > 0.0 and not self.lam.any()
        return int(min((self.r[0] + self.tolerances[0]) // self.R[0, 0], self.R.shape[1])) if alone else None

    @cached_property
    def tolerances(self) -> Vector:
        """Violation (k,) up to which each constraint holds."""
        return np.asarray(SLACK * np.maximum(1.0, np.abs(self.r)))

    @cached_property
    def charges(self) -> Matrix:
        """The constraints (k, p + 2): R, the right-hand sides with their tolerances, and the sizes of these."""
        return np.column_stack([self.R, self.r + self.tolerances, np.abs(self.r)])

    def root(self) -> Partial | None:
        """Return the partial selection that the constraints leave; None if there is no selection."""
        if np.any(self.fixed.inside & self.fixed.outside):
            return None
        return self.propagated(self.fixed)

    def propagated(self, at: Partial) -> Partial | None:
        """Return a partial selection with the features that one constraint alone decides; None if one is violated.

        The smallest left-hand side of a constraint takes the free features of negative coefficients alone. A free
        feature whose other value raises it above the right-hand side is decided.
        """
        inside, outside = at.inside, at.outside
        if self.cardinality is not None:  # the same, of a constraint on their number
            left = self.cardinality - int(np.count_nonzero(inside))
            return None if left < 0 else Partial(inside, ~inside) if left == 0 else at
        while True:
            free = ~(inside | outside)
            least = self.R @ inside + np.minimum(self.R[:, free], 0.0).sum(axis=1)
            left = self.r + self.tolerances - least
            if np.any(left < 0.0):
                return None
            forced_out = free & np.any(left[:, None] < self.R, axis=0)
            forced_in = free & np.any(left[:, None] < -self.R, axis=0)
            if np.any(forced_out & forced_in):
                return None
            if not forced_out.any() and not forced_in.any():
                return Partial(inside, outside)
            inside, outside = inside | forced_in, outside | forced_out

    def allowed(self, selection: Mask) -> bool:
        """Return whether a selection (p,) satisfies the constraints."""
        fixed = np.all(selection[self.fixed.inside]) and not np.any(selection[self.fixed.outside])
        return bool(fixed and np.all(self.R @ selection <= self.r + self.tolerances))

    def value(self, selection: Mask, w: Vector) -> tuple[float, float]:
        """Return the objective value of weights (d,) on a selection with the best intercept, and that intercept."""
        columns = self.places(np.flatnonzero(selection))
        scores = self.y * (w[columns] @ self.rows(columns))
        b = self.loss.intercept(scores, self.y, self.weights)
        value = 0.5 * float(w[columns] @ w[columns]) + self.c * self.loss.total(scores + b, self.y, self.weights)
        return value + float(self.lam[selection].sum()), b


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
