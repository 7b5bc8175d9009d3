r"""Constraints on the selection of features in Aytug's problems: cardinality, budget, and rules between features.

.. math::

    e'\sigma \le M \ \text{or}\ \beta'\sigma \le B, \qquad
    \sigma_j = 1\ (j \in \text{include}), \quad \sigma_j = 0\ (j \in \text{exclude}), \quad
    \sigma_j \le \sigma_k\ ((j, k) \in \text{implies}), \quad
    \textstyle\sum_{j \in g} \sigma_j \le 1\ (g \in \text{conflicts})
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyomo.environ as pyo
from numpy.typing import ArrayLike

from fsopt.common.arguments import with_keywords_of
from fsopt.common.texts import counted
from fsopt.compiler import dot
from fsopt.data import Dataset
from fsopt.errors import ParameterError
from fsopt.models.blocks import number, vector, whole
from fsopt.models.gbd.feature_lists import BOUNDS, Feature, Groups, WeightBounds, feature_groups, listed, weight_bounds
from fsopt.typing import Vector

RULES = ("include", "exclude", "implies", "conflicts")
"""The rules between features, as parameters and as components."""
DEFAULT_CARDINALITY = 5
"""Largest number of features if no cardinality, budget or penalty weight is given."""

ROUNDING = 1e-9
"""Relative violation of a budget that is rounding error."""


def selection_rules(
    name: str,
    data: Dataset,
    groups: Groups,
    *,
    include: Sequence[Feature] = (),
    exclude: Sequence[Feature] = (),
    implies: Sequence[Sequence[Feature]] = (),
    conflicts: Sequence[Sequence[Feature]] = (),
) -> dict[str, Any]:
    """Return rule -> the same by index, of groups where features form groups.

    Parameters
    ----------
    name : str
        Of the model or method, for the messages.
    data : Dataset
        Of p features, for their names.
    groups : Groups
        Of the features.
    include : Sequence[Feature], default ()
        Features that must be selected, by place (from 0), also where names are numbers, or name (a text).
    exclude : Sequence[Feature], default ()
        Features that must not be selected, by place (from 0), also where names are numbers, or name (a text).
    implies : Sequence[Sequence[Feature]], default ()
        Pairs [j, k]: if j is selected, so is k.
    conflicts : Sequence[Sequence[Feature]], default ()
        Sets of features, at most one of each is selected.
    """
    pairs = [groups.indices(name, "implies", data, pair, "a pair") for pair in listed(name, "implies", implies)]
    if any(len(pair) != 2 for pair in pairs):
        raise ParameterError(f"'implies' of '{name}' has a group of other than 2 features", "give pairs [j, k]")
    sets = [groups.indices(name, "conflicts", data, one, "a list") for one in listed(name, "conflicts", conflicts)]
    if any(len(one) < 2 for one in sets):
        raise ParameterError(f"'conflicts' of '{name}' has a group of less than 2 features", "give [j, k, ...]")
    return {
        "include": groups.indices(name, "include", data, include, "a list"),
        "exclude": groups.indices(name, "exclude", data, exclude, "a list"),
        "implies": tuple((j, k) for j, k in pairs),
        "conflicts": tuple(sets),
    }


@dataclass(frozen=True, eq=False)
class SelectionConstraints:
    """The constraints on a selection sigma in {0, 1}^p, features by their indices, and the bounds on their weights.

    Where features form groups, p is the number of groups, and each feature below is a group.

    Attributes
    ----------
    groups, bounds : of the features of the data, and on their weights.
    cardinality : M, None without a bound on the number of features.
    costs, budget : (p,) feature costs beta and the budget B, None without a budget.
    include, exclude : features that must be, and must not be, selected.
    implies : pairs (j, k): if j is selected, so is k.
    conflicts : sets of features, at most one of each selected.
    """

    groups: Groups
    bounds: WeightBounds
    cardinality: int | None = None
    costs: Vector | None = None
    budget: float | None = None
    include: tuple[int, ...] = ()
    exclude: tuple[int, ...] = ()
    implies: tuple[tuple[int, int], ...] = ()
    conflicts: tuple[tuple[int, ...], ...] = ()

    @property
    def p(self) -> int:
        """Number of binary variables: of features, or of groups of them."""
        return len(self.groups)

    def of_features(self, sigma: Vector) -> Vector:
        """Return the entry of a selection (p,) for each feature, that of its group."""
        return np.asarray(sigma[self.groups.of])

    @staticmethod
    @with_keywords_of(selection_rules, weight_bounds)
    def of(
        name: str,
        data: Dataset,
        *,
        m: int | None = None,
        costs: ArrayLike | Mapping[str, float] | None = None,
        budget: float | None = None,
        groups: Sequence[Sequence[Feature]] | Mapping[str, Sequence[Feature]] | str | None = None,
        **rules: Any,
    ) -> SelectionConstraints:
        """Return the constraints that the parameters of a model or method describe.

        Parameters
        ----------
        name : str
            Of the model or method, for the messages.
        data : Dataset
            Of p features, for their names.
        m : int, optional
            Largest number of features M, 1..p. None, without a budget or penalty weights, is 5, or p if that is less,
            or the number of features that ``include`` requires if that is more.
        costs : ArrayLike | Mapping[str, float], optional
            (p,) costs beta >= 0 of the features, or name -> cost, which a budget needs; None with m.
        budget : float, optional
            Largest total cost B >= 0 of the selected features, in place of m; None with m.
        groups : Sequence[Sequence[Feature]] | Mapping[str, Sequence[Feature]] | str, optional
            Groups of features that are selected as a whole: lists, name -> list, or ``categories``, the features that
            each column of a table was encoded by. Any other feature is a group of its own, as all are for None. All
            constraints on the selection then speak of groups, in the order of their first features: m is their number,
            costs are theirs, and a rule names a group by its name or by one of its features.

        Returns
        -------
        SelectionConstraints
            By index: of groups, where features form some.
        """
        if m is not None and (costs is not None or budget is not None):
            raise ParameterError(f"'m' of '{name}' is given beside costs or a budget", "leave one")
        of = feature_groups(name, data, groups)
        bounds = weight_bounds(name, data, **{key: rules.pop(key) for key in BOUNDS if key in rules})
        features = f" (there are {counted(len(of), 'feature' if of.single else 'group')})"
        cardinality = None if m is None else whole(name, "m", m, high=len(of), why=features)
        limited = costs is not None or budget is not None
        beta = of_groups(name, "costs", of, [] if costs is None else costs) if limited else None
        total = number(name, "budget", budget) if limited else None
        found = selection_rules(name, data, of, **rules)
        constraints = SelectionConstraints(of, bounds, cardinality, beta, total, **found)
        constraints._refuse_contradictions(name)
        return constraints

    def with_default_cardinality(self) -> SelectionConstraints:
        """Return the same constraints; without a limit with a cardinality of 5, or what data or rules ask for."""
        if self.cardinality is not None or self.costs is not None:
            return self
        return replace(self, cardinality=max(min(DEFAULT_CARDINALITY, self.p), len(self.smallest_selection())))

    def smallest_selection(self) -> tuple[int, ...]:
        """Return ``include`` and all that it implies: if that violates a constraint, no selection is allowed."""
        needed = set(self.include)
        while more := {k for j, k in self.implies if j in needed} - needed:
            needed |= more
        return tuple(sorted(needed))

    def _refuse_contradictions(self, name: str) -> None:
        """Raise ParameterError if no selection is allowed."""
        needed = self.smallest_selection()
        sigma = np.zeros(self.p)
        sigma[list(needed)] = 1.0
        if self.violation(sigma) <= ROUNDING:
            return
        broken = "'conflicts' lets in one of them only"
        if forbidden := set(needed) & set(self.exclude):
            broken = f"'exclude' forbids '{self.groups.names[min(forbidden)]}'"
        elif self.cardinality is not None and len(needed) > self.cardinality:
            broken = f"m is {self.cardinality}"
        elif self.costs is not None and self.budget is not None and float(self.costs @ sigma) > self.budget:
            broken = f"they cost {float(self.costs @ sigma):g}, more than the budget {self.budget:g}"
        features = ", ".join(f"'{self.groups.names[j]}'" for j in needed)
        raise ParameterError(
            f"no selection satisfies the constraints of '{name}': include, with all it implies, asks for {features}, "
            f"but {broken}",
            "drop one of the constraints",
        )

    def add_to(self, model: pyo.ConcreteModel) -> None:
        """Add those of the constraints ``cardinality budget include exclude implies conflicts`` that are asked for."""
        sigma = model.sigma
        selection = tuple(sigma.values())
        if self.cardinality is not None:
            model.cardinality = pyo.Constraint(
                expr=dot(np.ones(self.p), selection) <= self.cardinality, doc="(11) e'sigma <= M"
            )
        if self.costs is not None:
            model.budget = pyo.Constraint(
                expr=dot(self.costs, selection) <= self.budget, doc="(11), budget: beta'sigma <= B"
            )
        rules: dict[str, tuple[Sequence[Any], Any, str]] = {
            "include": (self.include, lambda j: sigma[j] >= 1, "sigma_j = 1"),
            "exclude": (self.exclude, lambda j: sigma[j] <= 0, "sigma_j = 0"),
            "implies": (self.implies, lambda jk: sigma[jk[0]] - sigma[jk[1]] <= 0, "sigma_j <= sigma_k"),
            "conflicts": (self.conflicts, lambda g: sum(sigma[j] for j in g) <= 1, "sum of sigma over a group <= 1"),
        }
        for name, (groups, rule, doc) in rules.items():
            if groups:
                constraints = pyo.ConstraintList(doc=f"(11), {name}: {doc}")
                model.add_component(name, constraints)
                for group in groups:
                    constraints.add(rule(group))

    def violation(self, sigma: Vector) -> float:
        """Return the largest violation by a selection (p,), 0 if it is allowed; that of the budget is relative."""
        violations = [0.0]
        if self.cardinality is not None:
            violations.append(float(sigma.sum()) - self.cardinality)
        if self.costs is not None and self.budget is not None:
            violations.append((float(self.costs @ sigma) - self.budget) / max(1.0, self.budget))
        violations += [1.0 - sigma[j] for j in self.include] + [sigma[j] for j in self.exclude]
        violations += [sigma[j] - sigma[k] for j, k in self.implies]
        violations += [float(sigma[list(group)].sum()) - 1.0 for group in self.conflicts]
        return float(max(violations))


def feature_weights(name: str, groups: Groups, lam: ArrayLike | Mapping[str, float]) -> Vector:
    """Return the penalty weights lambda_j >= 0 (p,) of the features, or groups: one for all, or one for each."""
    if isinstance(lam, (bool, int, float, np.integer, np.floating)):
        return np.full(len(groups), number(name, "lam", lam))
    return of_groups(name, "lam", groups, lam)


def of_groups(name: str, what: str, groups: Groups, given: Any) -> Vector:
    """Return numbers >= 0, one for each group: a list in the order of the groups, or group -> number."""
    if isinstance(given, Mapping):
        if given.keys() != set(groups.names):
            missing = sorted(set(groups.names) ^ {str(key) for key in given})
            raise ParameterError(f"'{what}' of '{name}' has no number, or no place, for {missing[:3]}", "one for each")
        given = [given[title] for title in groups.names]
    return vector(name, what, given, len(groups), low=0.0)
