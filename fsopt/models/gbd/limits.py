r"""Which selections of features are allowed: cardinality, budget, and rules between features (paper 4).

.. math::

    e'\sigma \le M \ \text{or}\ \beta'\sigma \le B, \qquad
    \sigma_j = 1\ (j \in \text{include}), \quad \sigma_j = 0\ (j \in \text{exclude}), \quad
    \sigma_j \le \sigma_k\ ((j, k) \in \text{implies}), \quad
    \textstyle\sum_{j \in g} \sigma_j \le 1\ (g \in \text{conflicts})
"""

from __future__ import annotations

from fsopt.typing import Vector

import numpy as np
import pyomo.environ as pyo
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fsopt.compiler import dot
from fsopt.data import Dataset
from fsopt.errors import ParameterError
from fsopt.models.blocks import number, vector, whole
from numpy.typing import ArrayLike, NDArray
from typing import Any




Feature = int | str
"""A feature by its place (from 0) or by its name."""


FEW = 5
"""How many features may be selected where nobody says how many."""


SLACK = 1e-9
"""Relative violation of a budget that is rounding error."""


@dataclass(frozen=True)
class Limits:
    """The limits on a selection sigma in {0, 1}^p, features by their places.

    Attributes
    ----------
    p : number of features.
    most : M, None without a limit on their number.
    costs, budget : (p,) prices and B, None without a budget.
    include, exclude : features that must be, and must not be, selected.
    implies : pairs (j, k): where j is selected, so is k.
    conflicts : groups of which at most one may be selected.
    """

    p: int
    most: int | None = None
    costs: Vector | None = None
    budget: float | None = None
    include: tuple[int, ...] = ()
    exclude: tuple[int, ...] = ()
    implies: tuple[tuple[int, int], ...] = ()
    conflicts: tuple[tuple[int, ...], ...] = ()

    @staticmethod
    def of(
        name: str,
        data: Dataset,
        *,
        m: int | None = None,
        costs: ArrayLike | None = None,
        budget: float | None = None,
        include: Sequence[Feature] = (),
        exclude: Sequence[Feature] = (),
        implies: Sequence[Sequence[Feature]] = (),
        conflicts: Sequence[Sequence[Feature]] = (),
    ) -> Limits:
        """Return the limits that the parameters of a model or method say.

        Parameters
        ----------
        name : the model or method that is asked for, for the messages.

        Raises
        ------
        ParameterError : a parameter is wrong, or no selection keeps all limits.
        """
        if m is not None and (costs is not None or budget is not None):
            raise ParameterError(f"'{name}' takes m, or costs with budget, not both", "leave one")
        most = None if m is None else whole(name, "m", m, low=1, high=data.p, why=f" (there are {data.p} features)")
        prices, total = None, None
        if costs is not None or budget is not None:
            prices = vector(name, "costs", [] if costs is None else costs, data.p, low=0.0)
            total = number(name, "budget", budget, low=0.0)
        pairs = [_places(name, "implies", data, pair, "a pair") for pair in _listed(name, "implies", implies)]
        if any(len(pair) != 2 for pair in pairs):
            raise ParameterError(f"'implies' of '{name}' has a group of other than 2 features", "give pairs [j, k]")
        groups = [_places(name, "conflicts", data, group, "a list") for group in _listed(name, "conflicts", conflicts)]
        if any(len(group) < 2 for group in groups):
            raise ParameterError(f"'conflicts' of '{name}' has a group of less than 2 features", "give [j, k, ...]")
        limits = Limits(
            data.p, most, prices, total, _places(name, "include", data, include, "a list"),
            _places(name, "exclude", data, exclude, "a list"), tuple((j, k) for j, k in pairs), tuple(groups),
        )  # fmt: skip
        limits._refuse_contradictions(name, data)
        return limits

    def or_few(self) -> Limits:
        """Return the limits, with a cardinality if they have neither one nor a budget.

        It is 5, or p where that is less, or as many as ``include`` asks for where that is more.
        """
        if self.most is not None or self.costs is not None:
            return self
        return replace(self, most=max(min(FEW, self.p), len(self.smallest())))

    def smallest(self) -> tuple[int, ...]:
        """Return the features of the smallest allowed selection: those of ``include`` and all that they imply.

        Every allowed selection contains it, and no other limit is easier to keep with more features: where this
        one breaks a limit, no selection is allowed at all.
        """
        needed = set(self.include)
        while more := {k for j, k in self.implies if j in needed} - needed:
            needed |= more
        return tuple(sorted(needed))

    def _refuse_contradictions(self, name: str, data: Dataset) -> None:
        """Raise ParameterError where no selection is allowed."""
        needed = self.smallest()
        sigma = np.zeros(self.p)
        sigma[list(needed)] = 1.0
        if self.excess(sigma) <= SLACK:
            return
        broken = "'conflicts' lets in one of them only"
        if forbidden := set(needed) & set(self.exclude):
            broken = f"'exclude' forbids '{data.features[min(forbidden)]}'"
        elif self.most is not None and len(needed) > self.most:
            broken = f"m is {self.most}"
        elif self.costs is not None and self.budget is not None and float(self.costs @ sigma) > self.budget:
            broken = f"they cost {float(self.costs @ sigma):g}, more than the budget {self.budget:g}"
        features = ", ".join(f"'{data.features[j]}'" for j in needed)
        raise ParameterError(f"no selection keeps the limits of '{name}': include (with what it implies) asks for "
                             f"{features}, but {broken}", "drop one of the limits")  # fmt: skip

    def add_to(self, model: pyo.ConcreteModel) -> None:
        """Add the rows ``cardinality budget include exclude implies conflicts`` that there are, for ``sigma``."""
        sigma = model.sigma
        everything = tuple(sigma.values())
        if self.most is not None:
            model.cardinality = pyo.Constraint(
                expr=dot(np.ones(self.p), everything) <= self.most, doc="(10) e'sigma <= M"
            )
        if self.costs is not None:
            model.budget = pyo.Constraint(
                expr=dot(self.costs, everything) <= self.budget, doc="beta'sigma <= B, the budget"
            )
        rows: dict[str, tuple[Sequence[Any], Any, str]] = {
            "include": (self.include, lambda j: sigma[j] >= 1, "sigma_j = 1"),
            "exclude": (self.exclude, lambda j: sigma[j] <= 0, "sigma_j = 0"),
            "implies": (self.implies, lambda jk: sigma[jk[0]] - sigma[jk[1]] <= 0, "sigma_j <= sigma_k"),
            "conflicts": (self.conflicts, lambda g: sum(sigma[j] for j in g) <= 1, "sum of a group <= 1"),
        }
        for name, (groups, row, doc) in rows.items():
            if groups:
                constraints = pyo.ConstraintList(doc=doc)
                model.add_component(name, constraints)
                for group in groups:
                    constraints.add(row(group))

    def rows(self) -> tuple[Vector, Vector]:
        """Return the same limits as a matrix R (k, p) and sides r (k,) of ``R sigma <= r``."""
        unit, rows, sides = np.eye(self.p), [], []
        if self.most is not None:
            rows, sides = [np.ones(self.p)], [float(self.most)]
        if self.costs is not None and self.budget is not None:
            rows, sides = [self.costs], [self.budget]
        rows += [-unit[j] for j in self.include] + [unit[j] for j in self.exclude]
        sides += [-1.0] * len(self.include) + [0.0] * len(self.exclude)
        rows += [unit[j] - unit[k] for j, k in self.implies] + [unit[list(g)].sum(axis=0) for g in self.conflicts]
        sides += [0.0] * len(self.implies) + [1.0] * len(self.conflicts)
        return np.array(rows).reshape(len(rows), self.p), np.array(sides)

    def excess(self, sigma: Vector) -> float:
        """Return the largest violation of a limit by a selection (p,); 0 where all hold."""
        worst = [0.0]
        if self.most is not None:
            worst.append(float(sigma.sum()) - self.most)
        if self.costs is not None and self.budget is not None:
            worst.append((float(self.costs @ sigma) - self.budget) / max(1.0, self.budget))
        worst += [1.0 - sigma[j] for j in self.include] + [sigma[j] for j in self.exclude]
        worst += [sigma[j] - sigma[k] for j, k in self.implies]
        worst += [float(sigma[list(group)].sum()) - 1.0 for group in self.conflicts]
        return float(max(worst))


def penalties(name: str, data: Dataset, lam: ArrayLike) -> Vector:
    """Return the prices lambda_j >= 0 (p,) of the features: one number for all, or one for each."""
    if isinstance(lam, (bool, int, float, np.integer, np.floating)):
        return np.full(data.p, number(name, "lam", lam, low=0.0))
    return vector(name, "lam", lam, data.p, low=0.0)


def _places(name: str, what: str, data: Dataset, group: Any, form: str) -> tuple[int, ...]:
    """Return the places of the features of a list, each once."""
    return tuple(dict.fromkeys(_place(name, what, data, feature) for feature in _listed(name, what, group, form)))


def _listed(name: str, what: str, group: Any, form: str = "a list of lists") -> list[Any]:
    if isinstance(group, str) or not isinstance(group, (Sequence, np.ndarray)):
        raise ParameterError(f"'{what}' of '{name}' has {group!r}", f"give {form} of features")
    return list(group)


def _place(name: str, what: str, data: Dataset, feature: Any) -> int:
    """Return the place of a feature that is given by its place or name."""
    if isinstance(feature, str):
        if feature not in data.features:
            raise ParameterError(f"'{what}' of '{name}' names '{feature}', which is no feature of the data",
                                 f"its features: {', '.join(data.features[:5])}{', ...' * (data.p > 5)}")  # fmt: skip
        return data.features.index(feature)
    return whole(name, what, feature, low=0, high=data.p - 1, why=f" (there are {data.p} features)")
