"""The questions about selections, which share their searches: paths over M and C, alternatives, necessity."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fsopt.analysis.other_selections import ENUMERATED, MARGIN, Others, enumerated, limit_of, others_of
from fsopt.analysis.selections import NECESSITY, Asked, Cell, Selections
from fsopt.answers.results import DriverResult
from fsopt.common import clock
from fsopt.common.arguments import SECONDS, checked, optional, with_keywords_of
from fsopt.common.clock import whole_or_interrupted
from fsopt.data.given import Given, dataset_of
from fsopt.data.hyperplanes import loss_of
from fsopt.data.matrices import largest_values
from fsopt.drivers.run import Run
from fsopt.errors import ParameterError
from fsopt.methods.preprocessing import preprocess, raw_hyperplane, without_rounding
from fsopt.methods.spec import in_units
from fsopt.models.blocks import number, whole
from fsopt.models.gbd.selection_constraints import RULES, SelectionConstraints
from fsopt.search.branch_and_benders.cuts import CAPACITY, Grid
from fsopt.search.branch_and_benders.driver import branch_and_benders
from fsopt.search.branch_and_benders.incumbents import Incumbent
from fsopt.search.branch_and_benders.problem import BranchSettings, SelectionProblem
from fsopt.typing import Mask, Samples

SELECTION = ("m", "costs", "budget", *RULES)
"""The parameters of a selection that the questions do not take: they take groups, and bounds on weights."""


@checked(time_limit=optional(SECONDS))
@with_keywords_of(SelectionConstraints.of, without=SELECTION)
@whole_or_interrupted()
def necessity(
    data: Given,
    m: int,
    *,
    c: float = 1.0,
    scale: str = "standard",
    tolerance: float = 1e-4,
    time_limit: float | None = None,
    **rules: Any,
) -> Selections:
    r"""Return for each feature the optimum of all selections with it, and of all without it.

    .. math::

        \min \{F(\sigma) : e'\sigma \le m,\ \sigma_j = 1\}, \qquad
        \min \{F(\sigma) : e'\sigma \le m,\ \sigma_j = 0\}

    One of the two is the optimum itself, so that there is one search for each feature; all share their cuts.

    Parameters
    ----------
    data : Given
        Raw features: a data set, a pair (X, y), a DataFrame or a file, as in :func:`fsopt.fit`.
    m : int
        Largest number of features, or groups, 1..p.
    c : float, default 1.0
        > 0, penalty weight of the hinge loss.
    scale : str, default 'standard'
        ``standard`` (default), ``center`` or ``none``.
    tolerance : float, default 0.0001
        Relative optimality gap of each search.
    time_limit : float, optional
        Seconds for all; half of it for the first search, equal shares of what is left for the others.

    Returns
    -------
    Selections
        Values of selections, and lower bounds that enclose the optima.

    Raises
    ------
    ParameterError : a parameter out of range.
    """
    search = _Searches(NECESSITY, data, rules, scale, "hinge", tolerance, time_limit)
    first = search.first(m, c)
    search.run([first], min(search.end, 0.5 * (search.started + search.end)))
    best = search.cell(first).support
    search.run([first.other_side(j, best) for j in range(search.allowed.p)], search.end)
    return search.answer()


@checked(time_limit=optional(SECONDS))
@with_keywords_of(necessity, without=("tolerance", "time_limit"))
def alternatives(
    data: Given,
    m: int,
    *,
    within: float = 0.01,
    count: int | None = None,
    time_limit: float | None = None,
    c: float = 1.0,
    scale: str = "standard",
    **rules: Any,
) -> Selections:
    r"""Return all selections of at most m features whose value is at most a share above the optimum, or the best K.

    .. math:: \{\sigma \in \{0,1\}^p : e'\sigma \le m,\ F(\sigma) \le (1 + \delta) F^*(m)\}

    Parameters
    ----------
    data : Given
        Raw features: a data set, a pair (X, y), a DataFrame or a file, as in :func:`fsopt.fit`.
    m : int
        Largest number of features, or groups, 1..p.
    within : float, default 0.01
        Share delta >= 0 above the optimum.
    count : int, optional
        K, the number of selections that are wanted: the best ones of those within the share.
    time_limit : float, optional
        Seconds for all; without ``complete`` selections may be missing, none of them below the bound.

    Returns
    -------
    Selections
        ``complete`` where a replay of the tree confirms that every other selection is above the limit.

    Raises
    ------
    ParameterError : a parameter out of range.

    Notes
    -----
    The enumeration is the branch and bound of method ``best-subset`` with the limit for its cutoff.
    """
    search = _Searches("alternatives", data, rules, scale, "hinge", ENUMERATED, time_limit)
    asked = search.first(m, c)
    within = number("alternatives", "within", within)
    count = None if count is None else whole("alternatives", "count", count, low=1, high=10**6)
    search.run([asked], search.end)
    best, known = search.results[asked], replace(search.cell(asked), bound=-np.inf, nodes=0, evidence=None)
    tree, ended = enumerated(search.problem(asked), best, limit_of(known.objective, within), count, search.end)
    found = sorted(tree.found.items(), key=lambda one: one[1].value)
    first = not found or known.objective < found[0][1].value * (1.0 - MARGIN)  # it was not found again in time
    listed = dict(found[: None if count is None else count - first])
    cells = [known] * first + [search.listed(asked, one) for one in listed.values()]
    return search.answer(cells, others_of(tree, listed, within, count, ended))


@checked(time_limit=optional(SECONDS))
@with_keywords_of(necessity, without=("c", "time_limit"))
def selection_path(
    data: Given | Samples,
    y: ArrayLike | None = None,
    *,
    c: float | Sequence[float] = 1.0,
    loss: str = "hinge",
    m: Sequence[int] | None = None,
    time_limit: float | None = None,
    scale: str = "standard",
    tolerance: float = 1e-4,
    **rules: Any,
) -> Selections:
    r"""Return the best support vector machine with at most M features for every M, and for every C, with lower bounds.

    .. math:: F^*(M, C) = \min_{\sigma \in \{0,1\}^p}\ F_C(\sigma) \quad\text{s.t.}\quad e'\sigma \le M

    Benders cuts do not depend on M, and their multipliers, as shares of C, are dual feasible for every C: the pool of
    one search begins the next one, and so does the best known selection.

    Parameters
    ----------
    data : Given or Samples
        Raw features: a data set, a DataFrame, a file, or samples X (n, p), as in :func:`fsopt.fit`.
    y : ArrayLike, optional
        Labels (n,) of samples, or the name of their column.
    c : float or Sequence[float], default 1.0
        > 0, penalty weight of the loss, or several of them: a path for each.
    loss : str, default 'hinge'
        ``hinge`` (default), ``squared-hinge``: :math:`C \xi'\xi` in place of :math:`C e'\xi`, or ``logistic``:
        :math:`C \sum_i \ln(1 + e^{-y_i(w'x_i + b)})`.
    m : Sequence[int], optional
        The values of M, 0..p, of features or groups; all of them by default.
    time_limit : float, optional
        Seconds for the whole path: each M and C has an equal share of what is left.

    Returns
    -------
    Selections
        F* falls with M and grows with C; ``optimal`` where the gap is closed, else objective and bound enclose the
        optimum.

    Raises
    ------
    ParameterError : a parameter out of range.

    Notes
    -----
    Aytug, (5)-(11).
    """
    search = _Searches("selection_path", dataset_of(data, y), rules, scale, loss, tolerance, time_limit)
    p = search.allowed.p
    weights = sorted({number("selection_path", "c", one) for one in np.atleast_1d(np.asarray(c, dtype=object))})
    values = sorted({whole("selection_path", "m", k, low=0, high=p) for k in (range(p + 1) if m is None else m)})
    if not values or not weights:
        raise ParameterError(
            f"'{'c' if values else 'm'}' of 'selection_path' is empty", "give numbers, or leave it out"
        )
    search.run([Asked(one, most) for one in weights for most in values], search.end)
    return search.answer()


class _Searches:
    """The searches of a question, and the result of each problem; groups and bounds are in one form."""

    def __init__(
        self,
        question: str,
        data: Given,
        rules: Mapping[str, Any],
        scale: str,
        loss: str,
        tolerance: float,
        time_limit: float | None,
    ) -> None:
        self.started, self.end = time.perf_counter(), clock.end_of(time_limit)
        data, self.question = dataset_of(data), question
        self.settings, self.loss = BranchSettings(tolerance), loss_of(loss)
        found, groups = SelectionConstraints.of(question, data, **rules), {}
        if not found.groups.single:
            members = ([data.features[j] for j in found.groups.members(g)] for g in range(found.p))
            groups = {"groups": dict(zip(found.groups.names, members, strict=True))}
        self.rules = groups | found.bounds.words(data)
        self.work, self.map_ = preprocess(data, scale)
        self.allowed = SelectionConstraints.of(
            question, self.work, **in_units(question, data, self.rules, self.map_.scale)
        )
        self.results: dict[Asked, DriverResult] = {}

    def first(self, m: int, c: float) -> Asked:
        """Return the problem of at most m features; raises ParameterError."""
        return Asked(number(self.question, "c", c), whole(self.question, "m", m, high=self.allowed.p))

    def problem(self, asked: Asked) -> SelectionProblem:
        """Return a problem in arrays."""
        return asked.problem(self.work, self.loss, self.allowed)

    def run(self, asked: list[Asked], end: float) -> None:
        """Search all problems, each in an equal share of what is left of the time."""
        for k, one in enumerate(asked):
            problem = self.problem(one)
            settings = replace(self.settings, initial=self._initial(problem))
            run = Run(time_limit=clock.part(end, 1.0 / (len(asked) - k)))
            self.results[one] = found = branch_and_benders(problem, settings=settings, run=run, seeds=self._seeds(one))
            if found.stop == "interrupted":
                return

    def _initial(self, problem: SelectionProblem) -> Mask | None:
        """Return the known selection that a problem allows whose hyperplane has the smallest value there."""
        known = [(one.point["sigma"] > 0.5, one.point["w"]) for one in self.results.values()]
        allowed = [(sigma, w) for sigma, w in known if problem.allowed(sigma)]
        return min(allowed, key=lambda one: problem.value(*one)[0], default=(None, None))[0]

    def _seeds(self, asked: Asked) -> list[Grid]:
        """Return multipliers of the nearest searches before it of the same C, and of a smaller C, as many of each."""
        same = [one for one in self.results if one.c == asked.c and one < asked]
        weaker = [one for one in self.results if one.m == asked.m and one.c < asked.c]
        near = [max(group) for group in (same, weaker) if group]
        return [grid for one in near for grid in self.results[one].point["seeds"][-CAPACITY // (2 * len(near)) :]]

    def cell(self, asked: Asked) -> Cell:
        """Return a searched problem, without features that neither move a score nor are asked for."""
        found, problem = self.results[asked], self.problem(asked)
        w = without_rounding(found.point["w"], largest_values(self.work.X))
        selection = (found.point["sigma"] > 0.5) & ((problem.sizes(w) > 0.0) | problem.fixed.inside)
        cell = self.listed(asked, Incumbent(selection, w, found.point["b"], float(found.objective or 0.0)))
        nodes, evidence = int(found.history[-1]["nodes"]), found.point["evidence"]
        return replace(cell, bound=float(found.bound or 0.0), nodes=nodes, evidence=evidence)

    def listed(self, asked: Asked, found: Incumbent) -> Cell:
        """Return a selection of a problem without a bound."""
        coef, intercept = raw_hyperplane(found.w, found.b, self.map_)
        support = tuple(np.flatnonzero(found.selection).tolist())
        return Cell(asked, float(found.value), -np.inf, support, coef, intercept)

    def answer(self, cells: Sequence[Cell] | None = None, others: Others | None = None) -> Selections:
        """Return the answer, by default of all searches."""
        found = tuple(map(self.cell, self.results) if cells is None else cells)
        asked = (self.question, self.allowed.groups.names, found, self.map_.kind, self.settings.tolerance)
        seconds = time.perf_counter() - self.started
        return Selections(*asked, seconds, loss=self.loss.name, rules=self.rules, others=others)
