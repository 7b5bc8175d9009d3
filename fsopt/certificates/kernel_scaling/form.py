r"""Recognise problem (15) of Bi in the arrays of a program.

The form, with :math:`g_j = w_j s_j` and a fixed intercept b, is

.. math::

    \min\ RW + c\,e's \quad\text{s.t.}\quad
    & y_i\Big(\sum_j x_{ij} g_j + b\Big) + \xi_i \ge 1,\quad g_j - w_j s_j = 0,\quad e'\xi \le E \\
    & \sum_j w_j^2 s_j - W \le 0,\quad \sum_j x_{ij}^2 s_j - R \le 0,\quad s, \xi \ge 0

The search for the optimum knows no bounds on R and W. A program may have bounds on them only where they are implied:
lower bounds up to those in closed form, upper bounds that no point better than a known feasible one exceeds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fsopt.certificates.kernel_scaling.problem import ScalingProblem
from fsopt.compiler import Program
from fsopt.data import Dataset
from fsopt.data.hyperplanes import smallest_multiple
from fsopt.errors import SolverError
from fsopt.typing import Indices, Vector

ROUNDING = 1e-12
"""Relative difference up to which coefficients are the squares of others."""


@dataclass(frozen=True)
class Columns:
    """The places of the variables: s, g (p,), xi (n,) in the order of the margins, b, R and W."""

    s: Indices
    g: Indices
    xi: Indices
    b: int
    R: int
    W: int


@dataclass(frozen=True)
class Rows:
    """The places of the constraints: margins and balls (n,) in the same order, images (p,), risk and capacity (1,)."""

    margins: Indices
    images: Indices
    risk: Indices
    capacity: Indices
    balls: Indices


@dataclass(frozen=True)
class ScalingForm:
    """A program as problem (15).

    Attributes
    ----------
    columns, rows : the places of its variables and constraints.
    problem : the problem.
    c : cost of each scale.
    start : (p,) scales at which a search begins: the smallest feasible multiple of e, or e if there is none.
    """

    columns: Columns
    rows: Rows
    problem: ScalingProblem
    c: float
    start: Vector

    def point(self, n: int, s: Vector) -> Vector:
        """Return the values (n,) of all variables at scales s (p,): each of them is the smallest feasible one."""
        at, problem = self.columns, self.problem
        x = np.zeros(n)
        x[at.s] = s
        x[at.g] = problem.w * s
        x[at.b] = problem.b
        x[at.R], x[at.W] = problem.size(s)
        x[at.xi] = np.maximum(0.0, 1.0 - problem.data.y * (problem.data.X @ x[at.g] + problem.b))
        return x


def recognise(program: Program) -> ScalingForm:
    """Return a program as problem (15).

    Raises
    ------
    SolverError : it is another one; the message names the missing part of the form.
    """
    p = program
    rows, pair = _rows(p)
    R, W = pair if p.A[rows.balls][:, pair[0]].nnz else pair[::-1]
    fixed = np.flatnonzero(p.lb == p.ub)
    _need(len(fixed) == 1, "its intercept is not the only fixed variable")
    s, g, weights = _images(p, rows.images)
    rest = np.setdiff1d(np.arange(p.n), np.concatenate([s, g, fixed, [R, W]]))
    columns = Columns(s, g, _slacks(p, rows.margins, rest), int(fixed[0]), R, W)
    _check_bounds(p, columns)
    problem = _problem(p, columns, rows, weights)
    ones, data = np.ones(len(s)), problem.data
    t = smallest_multiple(data.X @ weights, problem.b, data.y, problem.e_cap)
    form = ScalingForm(columns, rows, problem, float(p.c[s[0]]), ones if t is None else t * ones)
    _check_size(p, form, reached=t is not None)
    return form


def _rows(p: Program) -> tuple[Rows, tuple[int, int]]:
    """Return the places of the constraints by their bounds and by the two variables of the product, and these two."""
    product = p.P.tocoo()
    product.eliminate_zeros()
    bilinear = product.nnz == 2 and bool(np.all(product.row != product.col) and np.all(product.data == 1))
    _need(bilinear, "its quadratic objective is not one product RW")
    pair = int(product.row[0]), int(product.col[0])
    _need(
        not (len(p.cones) or p.integer.any() or p.nonconic or p.unsupported),
        "it has integers or constraints that are not linear",
    )
    images = np.flatnonzero(p.lo == p.hi)
    margins = np.flatnonzero((p.lo == 1) & (p.hi == np.inf))
    upper = np.flatnonzero((p.lo == -np.inf) & (p.hi < np.inf))
    with_pair = [upper[np.flatnonzero(p.A[upper][:, column].toarray().ravel())] for column in pair]
    capacity, balls = sorted(with_pair, key=len)
    risk = np.setdiff1d(upper, np.concatenate(with_pair))
    n = len(margins)
    counted = len(images) + n + len(upper) == p.A.shape[0] and len(upper) == n + 2
    _need(
        bool(counted and n >= 2 and len(images) and (len(risk), len(capacity), len(balls)) == (1, 1, n)),
        "it has more or fewer constraints, or other ones",
    )
    return Rows(margins, images, risk, capacity, balls), pair


def _images(p: Program, images: Indices) -> tuple[Indices, Indices, Vector]:
    """Return the places of s and g, and the weights w, of the equations g_j - w_j s_j = 0."""
    A = p.A[images]
    _need(bool(np.all(np.diff(A.indptr) == 2) and np.all(p.lo[images] == 0)), "an equation is not g_j = w_j s_j")
    places, values = A.indices.reshape(-1, 2), A.data.reshape(-1, 2)
    scale = (p.lb[places] == 0).argmax(axis=1)
    each = np.arange(len(images))
    s, g = places[each, scale], places[each, 1 - scale]
    different = len(np.unique(np.concatenate([s, g]))) == 2 * len(images)
    _need(different and bool(np.all(values[each, 1 - scale] == 1)), "an equation is not g_j = w_j s_j")
    return s, g, -values[each, scale]


def _slacks(p: Program, margins: Indices, rest: Indices) -> Indices:
    """Return the place of the slack of each margin: one each, with the coefficient 1."""
    S = p.A[margins][:, rest].tocoo()
    S.eliminate_zeros()
    n = len(margins)
    single = S.nnz == n == len(rest) and len(np.unique(S.row)) == n == len(np.unique(S.col))
    _need(single and bool(np.all(S.data == 1)), "its margins have not one slack each")
    xi = np.empty(n, dtype=int)
    xi[S.row] = rest[S.col]
    return xi


def _check_bounds(p: Program, at: Columns) -> None:
    """Make sure that s, xi >= 0 and g have no other bounds, and that s alone has a cost, the same for each."""
    free = np.concatenate([at.s, at.xi])
    bounded = np.all(p.lb[free] == 0) and np.all(p.ub[free] == np.inf)
    bounded &= np.all(p.lb[at.g] == -np.inf) and np.all(p.ub[at.g] == np.inf)
    _need(bool(bounded), "its scales, weights or slacks have other bounds")
    costs = p.c[at.s]
    alone = np.count_nonzero(p.c) == np.count_nonzero(costs)
    _need(bool(alone and costs[0] >= 0 and np.all(costs == costs[0])), "its linear costs are not c e's with c >= 0")


def _problem(p: Program, at: Columns, rows: Rows, weights: Vector) -> ScalingProblem:
    """Return the problem; make sure that every coefficient of every constraint is that of (15)."""
    labels = _block(p, rows.margins, [at.b], beside=[at.g, at.xi]).ravel()
    signed = _block(p, rows.margins, at.g, beside=[[at.b], at.xi])
    _need(set(labels.tolist()) == {-1.0, 1.0}, "its intercept has not the factors -1 and 1, both")
    squares = _block(p, rows.balls, at.s, beside=[[at.R]])
    capacity = _block(p, rows.capacity, at.s, beside=[[at.W]]).ravel()
    losses = _block(p, rows.risk, at.xi, beside=[])
    minus = np.append(p.A[rows.balls][:, [at.R]].toarray(), p.A[rows.capacity][:, [at.W]].toarray())
    sums = np.all(minus == -1) and np.all(p.hi[np.append(rows.balls, rows.capacity)] == 0)
    _need(bool(sums and _equal(squares, signed**2) and _equal(capacity, weights**2)), "R and W are not those of (15)")
    e_cap = float(p.hi[rows.risk[0]])
    _need(bool(np.all(losses == 1)) and e_cap >= 0, "the bound on its loss is not e'xi <= E with E >= 0")
    data = Dataset(signed * labels[:, None], labels)
    return ScalingProblem(data, weights, float(p.lb[at.b]), e_cap, p.c[at.s], np.full(len(weights), True))


def _block(p: Program, rows: Indices, columns: Indices | list[int], beside: list[Indices | list[int]]) -> Vector:
    """Return the coefficients of variables in constraints, which have no others but those named beside them."""
    A = p.A[rows]
    named = np.concatenate([columns, *beside])
    _need(A.count_nonzero() == A[:, named].count_nonzero(), "a constraint has other variables")
    return np.asarray(A[:, columns].toarray())


def _equal(found: Vector, wanted: Vector) -> bool:
    return np.allclose(found, wanted, rtol=ROUNDING, atol=0.0)


def _check_size(p: Program, form: ScalingForm, *, reached: bool) -> None:
    """Make sure that the bounds on R and W are implied at every optimum."""
    # All feasible points have R >= R0 and W >= W0. One that is not worse than the start, whose value is H, has
    # R <= H/W0 and W <= H/R0. Where s = 0 is feasible it is optimal, with R = W = 0.
    at, problem = form.columns, form.problem
    low_R, low_W = problem.lower_bounds
    _need(p.lb[at.R] <= low_R and p.lb[at.W] <= low_W, "the lower bounds on R and W are not implied")
    high_R, high_W = (0.0, 0.0) if reached and not form.start.any() else (np.inf, np.inf)
    if reached and low_R > 0 and low_W > 0:
        value = problem.value(form.start)
        high_R, high_W = value / low_W, value / low_R
    _need(p.ub[at.R] >= high_R and p.ub[at.W] >= high_W, "the upper bounds on R and W are not implied")


def _need(holds: bool, reason: str) -> None:
    if not holds:
        raise SolverError(f"the program is not problem (15) of Bi: {reason}", "take a solver of its class")
