r"""The convex relaxations of a program that is not convex, one for each box of its variables.

The terms of the objective that are neither linear nor quadratic are replaced by linear underestimators
(:mod:`fsopt.certificates.univariate`), products by variables between their envelopes
(:mod:`fsopt.certificates.products`). Both are exact where the box is a point, so that branch and bound on the variables
in them closes the gap, as far as time goes.

Only points better than the incumbent matter. With its value V and a smallest value :math:`f_k` of each term of the
objective on the box, every term of a better point satisfies

.. math:: f_j(x) \le V - \sum_{k \ne j} f_k,

which bounds the variables that have a cost and no bound of their own. So what a tree proves is the smaller one of the
bounds of its leaves and V.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from fsopt.certificates.products import Products
from fsopt.certificates.propagation import ranges
from fsopt.certificates.univariate import Term, term_of
from fsopt.compiler import Program
from fsopt.errors import SolverError
from fsopt.typing import Vector

EDGE = 0.1
"""Least distance of a branching from the bounds of a box, as a share of its width; of a unit where it has none."""
ENOUGH = 1e-6
"""A violation by which a variable asks for a branching."""


class Envelopes:
    """The relaxations of a program with concave, convex and bilinear terms.

    Parameters
    ----------
    program : with an objective of linear and quadratic terms and of functions of one affine form each, and with linear,
        quadratic and conic constraints.

    Attributes
    ----------
    wide : the program with a variable for the argument of each term that has several variables, which may be branched
        on. low, high, integer : (N,) the bounds of its variables, and mask of the integer ones.
    bare : (N,) variables that are in products alone, where their factors can be chosen again: others branch first.
    cutoff, incumbent : value V of an incumbent in the minimisation form; infinity without one.

    Raises
    ------
    SolverError : it has a term of another kind.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self.cutoff = self.incumbent = np.inf
        terms = _terms(program)
        self.arguments = [term for term in terms if len(term.form) > 1]
        self.wide, self.terms = _with_arguments(program, terms)
        self.low = self.wide.lb
        self.high = self.wide.ub
        self.integer = self.wide.integer
        self.products = Products(self.wide)
        self.bare = self.products.bare(self.wide)
        self.relaxed: Program | None = None
        self._ranges = ranges(self.wide)

    def improve(self, value: float) -> None:
        """Take the value of a better incumbent."""
        self.cutoff = self.incumbent = min(self.cutoff, value)

    def ranges(self) -> tuple[Vector, Vector]:
        """Return the ranges that the constraints prove."""
        return self._ranges

    def at(self, low: Vector, high: Vector) -> Program:
        """Return the relaxation of a box; a variable for each argument and for each product follow the program's."""
        low, high = self._tightened(low, high)
        c, c0 = self._costs(low, high)
        if not len(self.products):
            if self.relaxed is None:
                self.relaxed = self._continuous(c=c, c0=c0, lb=low, ub=high)
                self.relaxed.__dict__["scaling"] = self.wide.scaling
            self.relaxed.c[:], self.relaxed.c0 = c, c0
            self.relaxed.lb[:], self.relaxed.ub[:] = low, high
            return self.relaxed
        p = self.wide
        lifted = self.products
        k = len(self.products)
        A, least = lifted.envelopes(low, high)
        wide = sp.csr_matrix((p.A.data, p.A.indices, p.A.indptr), shape=(p.A.shape[0], p.n + k))
        ends = lifted.bounds(low, high)
        P = p.P if p.convex_objective else sp.csc_matrix((p.n, p.n))
        return self._continuous(
            P=sp.block_diag([P, sp.csc_matrix((k, k))], format="csc"),
            c=np.append(c, lifted.cost),
            c0=c0,
            A=sp.vstack([wide, lifted.A, A], format="csr"),
            lo=np.concatenate([p.lo, lifted.lo, least]),
            hi=np.concatenate([p.hi, lifted.hi, np.full(len(least), np.inf)]),
            lb=np.append(low, ends[0]),
            ub=np.append(high, ends[1]),
            cones=lifted.cones,
        )

    def _continuous(self, **arrays: Any) -> Program:
        """Return the program with other arrays, and nothing left that is not in them."""
        integer = np.zeros(len(arrays["c"]), dtype=bool)
        return replace(self.wide, integer=integer, nonconic=[], general=[], objective_terms=[], **arrays)

    def _costs(self, low: Vector, high: Vector) -> tuple[Vector, float]:
        """Return the linear costs (n,) and the constant with the underestimators of the terms on a box."""
        c, c0 = self.wide.c.copy(), self.wide.c0
        for term in self.terms:
            least, most = term.interval(low, high)
            middle = 0.5 * (least + most) if np.isfinite([least, most]).all() else max(least, min(most, 0.0))
            line = term.line(least, most, middle)
            if line is None:
                name = self.program.model.name
                raise SolverError(f"nothing is proved of '{name}': a term has no lower bound", "bound its variables")
            c0 += line.at + line.slope * term.constant
            for j, a in term.form.items():
                c[j] += line.slope * a
        return c, c0

    def _tightened(self, low: Vector, high: Vector) -> tuple[Vector, Vector]:
        """Return the part of a box that the arguments of the terms and the value of the incumbent leave."""
        p, n = self.wide, self.program.n
        low, high = low.copy(), high.copy()
        for j, term in enumerate(self.arguments, start=n):
            ends = term.interval(low, high)
            low[j], high[j] = min(max(low[j], ends[0]), high[j]), max(min(high[j], ends[1]), low[j])
        if not np.isfinite(self.cutoff) or (p.P.nnz and not p.convex_objective):
            return low, high
        linear = np.flatnonzero(p.c)
        slopes = p.c[linear]
        least = slopes * np.where(slopes > 0.0, low[linear], high[linear])
        parts = [*least.tolist(), *(t.least(*t.interval(low, high)) for t in self.terms)]
        unbounded = [k for k, v in enumerate(parts) if v == -np.inf]
        if len(unbounded) > 1:
            return low, high
        finite = p.c0 + sum(v for v in parts if v > -np.inf)
        spare = self.cutoff - finite + 1e-9 * (abs(self.cutoff) + abs(finite))
        room = [spare + v if not unbounded else (spare if k in unbounded else np.inf) for k, v in enumerate(parts)]
        for j, s, r in zip(linear.tolist(), slopes.tolist(), room, strict=False):
            if s > 0.0:
                high[j] = max(min(high[j], r / s), low[j])
            else:
                low[j] = min(max(low[j], r / s), high[j])
        for term, r in zip(self.terms, room[len(linear) :], strict=True):
            if np.isfinite(r):
                ((j, a),) = term.form.items()
                found = [(v - term.constant) / a for v in term.within(r)]
                high[j] = max(min(high[j], max(found)), low[j])
                low[j] = min(max(low[j], min(found)), high[j])
        return low, high

    def violations(self, x: Vector, low: Vector, high: Vector) -> Vector:
        """Return by how much each variable asks for a branching at the optimum (n + k,) of the relaxation of a box."""
        p = self.wide
        found: Vector = np.where(self.integer, np.abs(x[: p.n] - np.round(x[: p.n])), 0.0)
        low, high = self._tightened(low, high)
        scale = (max(1.0, abs(self.cutoff)) if np.isfinite(self.cutoff) else 1.0) / max(1, 10 * len(self.terms))
        for term in self.terms:
            least, most = term.interval(low, high)
            line = term.line(least, most, 0.5 * (least + most))
            r = min(max(term.argument(x), least), most)
            gap = 0.0 if line is None else (term.at(r) - line.at - line.slope * r) / scale
            found[next(iter(term.form))] += max(gap, 0.0)
        if len(self.products):
            i, j = self.products.first, self.products.second
            units = p.scaling.columns
            gaps = self.products.gaps(x) / (units[i] * units[j] + np.abs(x[i] * x[j]))
            np.maximum.at(found, i, np.where(high[i] > low[i], gaps, 0.0))
            np.maximum.at(found, j, np.where(high[j] > low[j], gaps, 0.0))
            if found[~self.bare].max(initial=0.0) > ENOUGH:
                found[self.bare] = 0.0
        return found

    def points(self, x: Vector, low: Vector, high: Vector) -> Vector:
        """Return the values (n,) of the optimum, at some distance from the bounds of the box."""
        x = x[: self.wide.n]
        low, high = self._tightened(low, high)
        width = high - low
        near = np.where(np.isfinite(width), EDGE * width, EDGE * self.wide.scaling.columns)
        inner = np.clip(x, np.where(np.isfinite(low), low + near, x), np.where(np.isfinite(high), high - near, x))
        return np.where(self.integer, np.floor(x), inner)


def _terms(program: Program) -> list[Term]:
    """Return the terms of the objective that are neither linear nor quadratic, in the minimisation form."""
    found = []
    for scale, node in program.objective_terms:
        term = term_of(program.sign * scale, node, program.column)
        if term is None:
            reason = f"the term {str(node)[:60]} has no envelope here"
            raise SolverError(
                f"nothing is proved of '{program.model.name}': {reason}",
                "use exp, log, sqrt or powers of one affine form each",
            )
        found.append(term)
    return found


def _with_arguments(program: Program, terms: list[Term]) -> tuple[Program, list[Term]]:
    """Return the program with a variable for each argument of several variables, and its terms in one variable each."""
    # A bound of one part of r = a'x says nothing of r while another part has none: r is branched on, not its parts.
    several = [k for k, term in enumerate(terms) if len(term.form) > 1]
    n = program.n
    m = program.A.shape[0]
    k = len(several)
    rows = [(m + t, j, a) for t, place in enumerate(several) for j, a in terms[place].form.items()]
    rows += [(m + t, n + t, -1.0) for t in range(k)]
    table = np.array(rows, dtype=float).reshape(-1, 3)
    own = program.A.tocoo()
    places = np.append(own.row, table[:, 0].astype(int)), np.append(own.col, table[:, 1].astype(int))
    A = sp.csr_matrix((np.append(own.data, table[:, 2]), places), shape=(m + k, n + k))
    intervals = np.array([terms[place].interval(program.lb, program.ub) for place in several]).reshape(-1, 2)
    offset = np.array([-terms[place].constant for place in several])
    G = program.cones.G
    wide = replace(
        program,
        P=sp.block_diag([program.P, sp.csc_matrix((k, k))], format="csc") if k else program.P,
        c=np.append(program.c, np.zeros(k)),
        A=A if k else program.A,
        lo=np.append(program.lo, offset),
        hi=np.append(program.hi, offset),
        lb=np.append(program.lb, intervals[:, 0]),
        ub=np.append(program.ub, intervals[:, 1]),
        integer=np.append(program.integer, np.zeros(k, dtype=bool)),
        cones=replace(program.cones, G=sp.csr_matrix((G.data, G.indices, G.indptr), shape=(G.shape[0], n + k))),
        judged=None,
    )
    changed = dict(zip(several, range(n, n + k), strict=True))
    found = list(terms)
    for place, j in changed.items():
        found[place] = terms[place]._replace(form={j: 1.0}, constant=0.0)
    return wide, found
