"""The answer to a question about selections: what was found for problems that differ in m, C and sides, and its replay.

Every question is a table of cells. A path has a cell for each m and C, necessity one for the optimum and one for each
feature on the other side of it, alternatives one for each selection that is listed, and a tree for all others.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fsopt.analysis.other_selections import Others, limit_of
from fsopt.answers.certificate import bound_residual, gap_allowed, merged
from fsopt.answers.records import Answer
from fsopt.answers.results import Status
from fsopt.certificates.exact.claims import Claim
from fsopt.certificates.exact.proofs import About
from fsopt.certificates.points import relative_gap
from fsopt.common.figures import new_figure, style
from fsopt.common.texts import counted
from fsopt.data import Dataset
from fsopt.data.hyperplanes import HINGE, LOSSES, Loss
from fsopt.methods.gbd.proofs import SelectedHyperplane, claim_of_search, claim_of_tree, evidence_of, selection_about
from fsopt.methods.preprocessing import preprocess, scaled_hyperplane
from fsopt.methods.spec import in_units
from fsopt.models.gbd.selection_constraints import SelectionConstraints
from fsopt.search.branch_and_benders.evidence import replayed
from fsopt.search.branch_and_benders.problem import SelectionProblem
from fsopt.search.branch_and_benders.relaxation import Columns
from fsopt.typing import Mask, Vector

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROUNDING = 1e-9
"""Of bounds that are compared."""
OTHERS = "every other selection"
"""Name of the claim on the selections that are not listed."""
NECESSITY = "necessity"


class Asked(NamedTuple):
    """The problem of a cell: at most m features at penalty weight C, some of which are in, and some out, by place."""

    c: float
    m: int
    include: tuple[int, ...] = ()
    exclude: tuple[int, ...] = ()

    def problem(self, work: Dataset, loss: Loss, allowed: SelectionConstraints) -> SelectionProblem:
        """Return the problem on preprocessed data, with groups and bounds in their units."""
        ones, columns = np.ones((1, allowed.p)), Columns.needed(allowed.groups, allowed.bounds)
        right, lam = np.array([float(self.m)]), np.zeros(allowed.p)
        problem = SelectionProblem.of(work, self.c, ones, right, lam, loss, columns)
        for features, selected in ((self.include, True), (self.exclude, False)):
            for j in features:
                problem = replace(problem, fixed=problem.fixed.decided(j, selected=selected))
        return problem

    def other_side(self, j: int, support: Collection[int]) -> Asked:
        """Return the problem without a feature that a selection has, or with one that it has not."""
        return self._replace(exclude=(j,)) if j in support else self._replace(include=(j,))

    def about(self, data: Dataset, loss: str, rules: Mapping[str, Any]) -> About:
        """Return the problem for a statement."""
        found = SelectionConstraints.of("selection", data, groups=rules.get("groups"))
        found = replace(found, cardinality=self.m, include=self.include, exclude=self.exclude)
        return selection_about(self.c, found, rules, loss=loss)


@dataclass(frozen=True)
class Cell:
    """The best selection that was found for one problem.

    Attributes
    ----------
    asked : the problem.
    objective, bound : value of the selection, and a lower bound on the optimum, minus infinity for none.
    support : places of the features, or groups, that are selected.
    coef, intercept : (p,) and number, for raw features.
    nodes : of the search.
    evidence : of the bound, as in :mod:`fsopt.search.branch_and_benders.evidence`; None for none.
    """

    asked: Asked
    objective: float
    bound: float
    support: tuple[int, ...]
    coef: Vector
    intercept: float
    nodes: int = 0
    evidence: Mapping[str, Any] | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Selections(Answer):
    """The best selections of the problems that a question asks for, with lower bounds and their evidence.

    Attributes
    ----------
    question : ``selection_path``, ``alternatives`` or ``necessity``.
    features : names of the p features, or groups of them.
    cells : the problems with what was found: of a path by C and then by M; of necessity the optimum, and then for each
        feature the best selection without it if the optimum has it, else with it; of alternatives the listed
        selections, the best first.
    others : all selections that are not listed; None but for alternatives.
    scale, tolerance, loss : the other parameters.
    rules : groups of the features and bounds on their weights, in the parameters that there are.
    seconds : of the whole question.
    """

    question: str
    features: tuple[str, ...]
    cells: tuple[Cell, ...]
    scale: str
    tolerance: float
    seconds: float
    loss: str = HINGE.name
    rules: Mapping[str, Any] = field(default_factory=dict)
    others: Others | None = None

    @property
    def objective(self) -> Vector:
        """The values (k,) of the cells."""
        return np.array([cell.objective for cell in self.cells])

    @property
    def bound(self) -> Vector:
        """The lower bounds (k,) of the cells."""
        return np.array([cell.bound for cell in self.cells])

    @property
    def support(self) -> tuple[tuple[int, ...], ...]:
        """The places of the features, or groups, of each selection."""
        return tuple(cell.support for cell in self.cells)

    @property
    def optimum(self) -> float:
        """The smallest value."""
        return min(cell.objective for cell in self.cells)

    @property
    def optimal(self) -> Mask:
        """Mask (k,) of the cells whose gap is closed."""
        most = gap_allowed(self.tolerance) + ROUNDING
        return np.array([relative_gap(cell.objective, cell.bound) <= most for cell in self.cells])

    @property
    def limit(self) -> float:
        """The largest value that alternatives were asked for, or that of the last of the best K."""
        if self.others is None:
            return np.inf
        last = len(self.cells) >= (self.others.count or np.inf)
        return float(self.objective.max()) if last else limit_of(self.optimum, self.others.within)

    @property
    def complete(self) -> bool:
        """Whether every selection up to the limit is listed: the bound on all others is above it."""
        return self.others is not None and bool(self.others.bound >= self.limit * (1.0 - ROUNDING))

    @property
    def needed(self) -> Mask:
        """Mask (p,) of the features that every optimal selection has: the bound without them is above the optimum."""
        best, *sides = self.cells
        return np.array([bool(side.asked.exclude) and side.bound > best.objective for side in sides])

    @property
    def status(self) -> Status:
        """``optimal`` where the gap of every cell is closed, or all selections up to the limit are listed."""
        closed = self.optimal.all() if self.others is None else self.complete
        return Status.OPTIMAL if closed else Status.FEASIBLE

    @property
    def heading(self) -> dict[str, Any]:
        """The parameters of a path; the optimum and what is proved of the others, or of the features; the seconds."""
        best = self.cells[0]
        if self.question == NECESSITY:
            selection = [self.features[j] for j in best.support]
            needed = [self.features[j] for j in np.flatnonzero(self.needed)]
            own = {"optimum": best.objective, "bound": best.bound, "selection": selection, "needed": needed}
        elif self.others is not None:
            own = {"optimum": self.optimum, "limit": self.limit, "bound": self.others.bound, "complete": self.complete}
            own |= {"stop": "optimal" if self.complete else self.others.stop, "nodes": self.others.nodes}
        else:
            own = {"c": self.weights, "loss": self.loss, "tolerance": self.tolerance, "scale": self.scale}
        return {"question": self.question, **own, "seconds": self.seconds}

    @property
    def weights(self) -> list[float]:
        """The penalty weights C of the cells, each once, ascending."""
        return sorted({cell.asked.c for cell in self.cells})

    @property
    def names(self) -> list[str]:
        """The problem of each cell in words; of alternatives the features of each selection."""
        if self.others is not None:
            return [", ".join(self.features[j] for j in cell.support) for cell in self.cells]
        found = []
        for c, m, include, exclude in (cell.asked for cell in self.cells):
            weight = [f"C = {c}"] if len(self.weights) > 1 else []
            sides = (("with", include), ("without", exclude))
            fixed = [f"{word} {self.features[j]}" for word, features in sides for j in features]
            found.append(", ".join([f"at most {counted(m, 'feature')}", *weight, *fixed]))
        return found

    def to_records(self) -> list[dict[str, Any]]:
        """Return one record for each cell; of necessity one for each feature, of the largest loss without it first.

        A path has ``m c objective bound gap optimal nodes features``, alternatives have ``objective``, its ``excess``
        over the optimum, and ``features``, necessity ``feature with_feature with_bound without without_bound``.
        """
        best, *sides = self.cells
        selected = [[self.features[j] for j in cell.support] for cell in self.cells]
        columns: dict[str, list[Any]] = {"objective": self.objective.tolist()}
        if self.question == NECESSITY:
            pairs = [(best, side) if side.asked.exclude else (side, best) for side in sides]
            columns = {"feature": list(self.features)}
            for k, words in enumerate((("with_feature", "with_bound"), ("without", "without_bound"))):
                columns[words[0]] = [pair[k].objective for pair in pairs]
                columns[words[1]] = [max(pair[k].bound, best.bound) for pair in pairs]
        elif self.others is not None:
            excess = self.objective / self.optimum - 1.0 if self.optimum else 0.0 * self.objective
            columns |= {"excess": excess.tolist(), "features": selected}
        else:
            gap = (self.objective - self.bound) / np.maximum(1.0, np.abs(self.objective))
            columns = {"m": [c.asked.m for c in self.cells], "c": [c.asked.c for c in self.cells], **columns}
            columns |= {"bound": self.bound.tolist(), "gap": gap.tolist()}
            columns |= {"optimal": self.optimal.tolist(), "nodes": [c.nodes for c in self.cells], "features": selected}
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        return (
            sorted(rows, key=lambda row: row["with_feature"] - row["without"]) if self.question == NECESSITY else rows
        )

    def _expected(self) -> list[Asked]:
        """Return the problems that the question has."""
        free = [cell.asked._replace(include=(), exclude=()) for cell in self.cells]
        if self.question != NECESSITY:
            return free if self.others is None else free[:1] * len(free)
        support = self.cells[0].support
        return [free[0], *(free[0].other_side(j, support) for j in range(len(self.features)))]

    def _replayed(
        self, data: Dataset
    ) -> tuple[SelectionConstraints, list[tuple[SelectionProblem, SelectedHyperplane]]]:
        """Return the constraints on preprocessed data, and for each cell its problem and its hyperplane there."""
        (work, map_), loss = preprocess(data, self.scale), LOSSES[self.loss]
        allowed = SelectionConstraints.of(self.question, work, **in_units(self.question, data, self.rules, map_.scale))
        problems = {asked: asked.problem(work, loss, allowed) for asked in {cell.asked for cell in self.cells}}
        planes = (scaled_hyperplane(cell.coef, cell.intercept, map_) for cell in self.cells)
        selected = (np.isin(np.arange(allowed.p), cell.support) for cell in self.cells)
        at = (SelectedHyperplane(sigma, *plane) for sigma, plane in zip(selected, planes, strict=True))
        return allowed, [(problems[cell.asked], one) for cell, one in zip(self.cells, at, strict=True)]

    def residuals(self, data: Dataset) -> dict[str, float]:
        """Return the residuals of what is stated, from a replay of all evidence, without a search.

        Whether features and problems are those of the question; for each cell how far its bound exceeds the replayed
        one, its value is from that of its hyperplane, and its features from the selection and the rules; the same of
        all others, with selections that are listed twice, beyond the count or the share.
        """
        allowed, replays = self._replayed(data)
        found = {
            "features": float(self.features != allowed.groups.names),
            "problems": float(self._expected() != [cell.asked for cell in self.cells]),
        }
        for name, cell, (problem, at) in zip(self.names, self.cells, replays, strict=True):
            value = 0.5 * float(at.w @ at.w) + problem.c * problem.loss.total(
                problem.X @ at.w + at.b, problem.y, problem.weights
            )
            wrong = np.count_nonzero(at.w[~at.selected[allowed.groups.of]]) + (not problem.allowed(at.selected))
            wrong += tuple(np.flatnonzero(at.selected).tolist()) != cell.support
            bound = None if cell.evidence is None else replayed(problem, cell.evidence).bound
            entry = {
                f"bound of {name}": bound_residual(cell.bound, bound, 1.0),
                f"objective of {name}": relative_gap(value, cell.objective),
                f"selection of {name}": float(wrong) + allowed.bounds.violation(at.w),
            }
            found = merged(found, entry)
        if self.others is None:
            return found
        listed = self.support
        beyond = max(len(listed) - (self.others.count or len(listed)), 0)
        return found | {
            f"bound of {OTHERS}": bound_residual(self.others.bound, self.others.replayed(replays[0][0], listed), 1.0),
            "repeated": float(len(listed) - len(set(listed)) + beyond),
            "limit": bound_residual(self.objective.max(), limit_of(self.optimum, self.others.within), 1.0),
        }

    def claims(self, data: Dataset) -> tuple[Claim, ...]:
        """Return the claim of each tree; a selection that was found and is not listed is a leaf like all others."""
        _, replays = self._replayed(data)
        found = []
        for name, cell, (problem, at) in zip(self.names, self.cells, replays, strict=True):
            if cell.evidence is not None:
                found.append((cell.asked, claim_of_search(name, problem, cell.evidence, at, self.tolerance)))
        if self.others is not None:
            tree = self.others
            evidence = evidence_of(replays[0][0], tree.stream, tree.cuts, None, dict.fromkeys(tree.stream))
            found.append((self.cells[0].asked, claim_of_tree(OTHERS, evidence, 0.0, optimal=False)))
        return tuple(replace(claim, about=asked.about(data, self.loss, self.rules)) for asked, claim in found)

    def plot(self) -> Figure:
        """Return the values of the cells with their lower bounds, a line for each C; without a path by their values."""
        figure = new_figure(1)
        axes, path = figure.axes[0], self.question == "selection_path"
        drawn = self.cells if path else sorted(self.cells, key=lambda cell: cell.objective)
        for k, c in enumerate(self.weights):
            cells = [cell for cell in drawn if cell.asked.c == c]
            places = [cell.asked.m for cell in cells] if path else range(1, len(cells) + 1)
            upper = [cell.objective for cell in cells]
            lower = [max(cell.bound, 0.0) if cell.evidence is not None else cell.objective for cell in cells]
            axes.fill_between(places, lower, upper, color="tab:gray", alpha=0.4, label="" if k else "gap")
            axes.plot(places, upper, **style(k), label=f"C = {c:g}" if len(self.weights) > 1 else "incumbent")
        axes.set(xlabel="largest number of features M" if path else "place", ylabel="objective value")
        axes.set_yscale("log" if len(self.weights) > 1 else "linear")
        axes.locator_params(axis="x", integer=True)
        axes.legend()
        return figure
