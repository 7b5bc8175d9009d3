r"""Which selections of features are allowed: cardinality, budget, and rules between features (paper 4).

.. math::

    e'\sigma \le M \ \text{or}\ \beta'\sigma \le B, \qquad
    \sigma_j = 1\ (j \in \text{include}), \quad \sigma_j = 0\ (j \in \text{exclude}), \quad
    \sigma_j \le \sigma_k\ ((j, k) \in \text{implies}), \quad
    \textstyle\sum_{j \in g} \sigma_j \le 1\ (g \in \text{conflicts})
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyomo.environ as pyo
from numpy.typing import ArrayLike, NDArray

from fsopt.compiler import dot
from fsopt.data import Dataset
from fsopt.errors import ParameterError
from fsopt.models.blocks import number, vector, whole

Vector = NDArray[np.float64]
Feature = int | str
"""A feature by its place (from 0) or by its name."""


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
        """Return the limits that the parameters of a model or method say; ParameterError where they are wrong.

        ``name`` is the model or method that is asked for, for the messages.
        """
        if m is not None and (costs is not None or budget is not None):
            raise ParameterError(f"'{name}' takes m, or costs with budget, not both", "leave one")
        most = None if m is None else whole(name, "m", m, low=1, high=data.p, why=f" (there are {data.p} features)")
        prices, least = None, None
        if costs is not None or budget is not None:
            prices = vector(name, "costs", [] if costs is None else costs, data.p, low=0.0)
            least = number(name, "budget", budget, low=0.0)

        def places(what: str, group: Sequence[Feature], at_least: int = 0) -> tuple[int, ...]:
            if isinstance(group, str) or not isinstance(group, Sequence) or len(group) < at_least:
                raise ParameterError(
                    f"'{what}' of '{name}' has {group!r}", f"give a list of {at_least or 'any number of'} features"
                )
            return tuple(place(name, what, data, feature) for feature in group)

        pairs = tuple(places("implies", pair, 2) for pair in implies)
        if any(len(pair) != 2 for pair in pairs):
            raise ParameterError(f"'implies' of '{name}' has a group of other than 2 features", "give pairs [j, k]")
        return Limits(
            data.p, most, prices, least, places("include", include), places("exclude", exclude),
            tuple((j, k) for j, k in pairs), tuple(places("conflicts", group, 2) for group in conflicts),
        )  # fmt: skip

    def add_to(self, model: pyo.ConcreteModel) -> None:
        """Add the rows ``cardinality budget include exclude implies conflicts`` that there are, for ``sigma``."""
        sigma = model.sigma
        everything = tuple(sigma.values())
        if self.most is not None:
            model.cardinality = pyo.Constraint(expr=dot(np.ones(self.p), everything) <= self.most, doc="e'sigma <= M")
        if self.costs is not None:
            model.budget = pyo.Constraint(expr=dot(self.costs, everything) <= self.budget, doc="beta'sigma <= B")
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


def place(name: str, what: str, data: Dataset, feature: Feature) -> int:
    """Return the place of a feature that is given by its place or name; ParameterError where there is none."""
    if isinstance(feature, str):
        if feature not in data.features:
            raise ParameterError(f"'{what}' of '{name}' names '{feature}', which is no feature of the data",
                                 f"its features: {', '.join(data.features[:5])}, ...")  # fmt: skip
        return data.features.index(feature)
    return whole(name, what, feature, low=0, high=data.p - 1, why=f" (there are {data.p} features)")
