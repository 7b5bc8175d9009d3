"""The program of a node with some of the samples and features, and its solution in all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fsopt.search.branch_and_benders.interior_point import Solved
from fsopt.search.branch_and_benders.problem import Partial, SelectionProblem
from fsopt.search.branch_and_benders.relaxation import Floats, InteriorPoint, NodeRelaxation, warm
from fsopt.typing import Indices, Mask, Matrix, Vector


@dataclass(frozen=True)
class NodeHyperplane:
    """A hyperplane, the shares of the features and the multipliers, of a parent.

    Attributes
    ----------
    w, b : (d,) and scalar; ``sigma`` : (p,).
    alpha : (n,) in single precision; None where only the hyperplane is known.
    """

    w: Vector
    b: float
    sigma: Vector
    alpha: Floats | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        """Return the hyperplane for a pickle by the few features with a weight or a share."""
        return _of_few, (_few(self.w), self.b, _few(self.sigma), self.alpha)


def _few(values: Vector) -> tuple[int, Indices, Vector]:
    places = np.flatnonzero(values)
    return len(values), places, values[places]


def _of_few(
    w: tuple[int, Indices, Vector], b: float, sigma: tuple[int, Indices, Vector], alpha: Floats | None
) -> NodeHyperplane:
    found = NodeHyperplane(np.zeros(w[0]), b, np.zeros(sigma[0]), alpha)
    found.w[w[1]], found.sigma[sigma[1]] = w[2], sigma[2]
    return found


@dataclass(frozen=True)
class NodeSolution:
    """The relaxation of a node: multipliers alpha (n,) and mu (k,), its hyperplane and dual value; late or not."""

    alpha: Vector
    mu: Vector
    hyperplane: NodeHyperplane
    bound: float
    late: bool = False


@dataclass(frozen=True)
class Samples:
    """The samples in a program, kept, and of the others those frozen at their upper bounds, not at 0."""

    kept: Indices
    frozen: Indices

    def at_caps(self, problem: SelectionProblem) -> Vector:
        """Return multipliers (n,) of the frozen samples, 0 for the kept ones."""
        alpha = np.zeros(problem.n)
        alpha[self.frozen] = problem.caps[self.frozen] if isinstance(problem.caps, np.ndarray) else problem.caps
        return alpha


def node_program(problem: SelectionProblem, at: Partial, features: Indices, samples: Samples | None) -> NodeRelaxation:
    """Return the program of a node with some free features and samples, of all samples for None."""
    inside = at.inside.nonzero()[0]
    both = np.append(inside, features)
    columns = problem.places(both)
    q = np.zeros(len(columns))
    constant, balance = float(problem.lam[inside].sum()), 0.0
    if samples is not None:
        alpha = samples.at_caps(problem)
        q = problem.products(alpha, columns)
        constant += float(alpha.sum())
        balance = float(problem.y @ alpha)
    kept = None if samples is None else samples.kept
    rows = np.vstack([problem.rows(columns, kept), problem.y if kept is None else problem.y[kept]])
    left = problem.r + problem.tolerances - problem.R[:, inside].sum(axis=1)
    R = problem.R[:, features]
    active = _active(R, left)
    lam, selected = problem.lam[features], len(problem.places(inside))
    node = problem.columns and problem.columns.at(len(inside), both)
    if node and not len(features) and not node.bounds:  # the machine of a selection is one of its columns
        node = None
    term = problem.term.of(kept)
    return NodeRelaxation(rows.T, term, selected, R[active], left[active], lam, q, constant, balance, columns=node)


def unfolded(
    problem: SelectionProblem, solved: Solved, at: Partial, features: Indices, samples: Samples | None
) -> NodeSolution:
    """Return the solution of the program of a node in all samples, features and constraints."""
    inside = at.inside.nonzero()[0]
    alpha = solved.alpha
    if samples is not None:
        alpha = samples.at_caps(problem)
        alpha[samples.kept] = solved.alpha
    w, sigma = np.zeros(problem.width), np.zeros(problem.p)
    w[problem.places(np.concatenate([inside, features]))] = solved.w
    sigma[inside], sigma[features] = 1.0, solved.sigma
    mu = solved.mu
    if len(mu) < len(problem.r):
        left = problem.r + problem.tolerances - problem.R[:, inside].sum(axis=1)
        mu = np.zeros(len(problem.r))
        mu[_active(problem.R[:, features], left)] = solved.mu
    hyperplane = NodeHyperplane(w, solved.b, sigma, alpha.astype(np.float32))
    return NodeSolution(alpha, mu, hyperplane, solved.bound, solved.late)


def warm_start(
    problem: SelectionProblem,
    program: NodeRelaxation,
    parent: NodeHyperplane,
    margins: Vector,
    features: Indices,
    at: Partial,
    samples: Samples | None,
) -> InteriorPoint:
    """Return a point to start from, by the parent's hyperplane, shares, margins (n,) and multipliers."""
    alpha = parent.alpha
    if samples is not None:
        margins, alpha = margins[samples.kept], None if alpha is None else alpha[samples.kept]
    columns = problem.places(np.concatenate([at.inside.nonzero()[0], features]))
    return warm(program, np.append(parent.w[columns], parent.b), parent.sigma[features], margins, alpha)


def _active(R: Matrix, left: Vector) -> Mask:
    """Return the constraints (k,) that a free feature can violate; the others have the multiplier 0."""
    reached = np.maximum(R, 0.0).sum(axis=1)
    return np.asarray((reached > left) & (reached > 0.0))
