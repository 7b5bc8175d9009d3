r"""Features by place or name as parameters give them: lists, groups that enter together, and bounds on their weights.

Bounds on the weights of a hyperplane, signs among them, and their conjugate in the duals.

.. math:: l_j \le w_j \le u_j, \quad l \le 0 \le u; \qquad
    h_j(q) = \max_{l_j \le w \le u_j} q w - \tfrac12 w^2

Without bounds h(q) is half of :math:`q^2`, for :math:`w \ge 0` half of :math:`\max(q, 0)^2`, and with an upper bound it
is linear above that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import pyomo.environ as pyo

from fsopt.common.texts import counted
from fsopt.data import Dataset
from fsopt.data.matrices import apart
from fsopt.errors import ParameterError, shown
from fsopt.models.blocks import number, whole
from fsopt.typing import Indices, Matrix, Vector

Feature = int | str
"""A feature by its index (from 0) or by its name."""
ENDS = ("lower", "upper")
"""The parameters that bound weights by numbers; signs are bounds 0."""
BOUNDS = ("positive", "negative", *ENDS)
"""The parameters of :func:`weight_bounds`."""
CATEGORIES = "categories"
"""The word for the groups of the features that one column of a table was encoded by."""


@dataclass(frozen=True, eq=False)
class Groups:
    """A partition of the features into groups that are selected as a whole, each by one binary variable.

    The names are in the order of their first features; ``of`` (p,) is the group of each feature.
    """

    names: tuple[str, ...]
    of: Indices

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def single(self) -> bool:
        """Whether each feature is a group of its own."""
        return len(self) == len(self.of)

    def members(self, group: int) -> tuple[int, ...]:
        """Return the features of a group."""
        return tuple(np.flatnonzero(self.of == group).tolist())

    def sums(self, values: Matrix) -> Matrix:
        """Return the sums (..., groups) of numbers of the features (..., p) over each group."""
        if self.single:
            return values
        found = np.zeros((len(self), *values.shape[:-1]))
        np.add.at(found, self.of, values.T)
        return found.T

    def indices(self, name: str, what: str, data: Dataset, given: Any, form: str) -> tuple[int, ...]:
        """Return the groups in a list, each once: by the name of a group, or by one of its features."""
        return tuple(dict.fromkeys(self._index(name, what, data, one) for one in listed(name, what, given, form)))

    def _index(self, name: str, what: str, data: Dataset, one: Any) -> int:
        if isinstance(one, str) and one in self.names:
            return self.names.index(one)
        return int(self.of[_index(name, what, data, one, _places(data.features))])


def feature_groups(name: str, data: Dataset, given: Any = None) -> Groups:
    """Return the groups of a parameter of a model or method, those of features that it does not list being single.

    It is None, lists of features, name -> list, or ``categories``; a group without a name is called ``a+b``.
    """
    if isinstance(given, str):
        if given != CATEGORIES:
            raise ParameterError(
                f"'groups' of '{name}' is {shown(given)}", f"give lists of features, or '{CATEGORIES}'"
            )
        given = categories(data)
    given = () if given is None else given
    named = isinstance(given, Mapping)
    names: dict[int, str] = {}
    first, listed_before = np.arange(data.p), np.zeros(data.p, dtype=bool)
    entries = given.items() if named else ((None, one) for one in listed(name, "groups", given))
    for title, one in entries:
        features = feature_indices(name, "groups", data, one, "lists")
        if not features:
            raise ParameterError(f"'groups' of '{name}' has an empty group", "leave it out")
        if twice := sorted(j for j in features if listed_before[j]):
            raise ParameterError(f"'groups' of '{name}' has '{data.features[twice[0]]}' in two groups", "leave one")
        first[list(features)], listed_before[list(features)] = min(features), True
        names[min(features)] = str(title) if named else "+".join(data.features[j] for j in features)
    places, of = np.unique(first, return_inverse=True)
    groups = Groups(tuple(names.get(j, data.features[j]) for j in places.tolist()), of)
    _refuse_ambiguous(name, data, groups)
    return groups


def categories(data: Dataset) -> dict[str, list[str]]:
    """Return column of the table -> its features; empty where the features are not those of a table."""
    columns = () if data.encoded is None else data.encoded.encoding.columns
    return {column.name: list(column.features) for column in columns}


def _refuse_ambiguous(name: str, data: Dataset, groups: Groups) -> None:
    """Raise ParameterError where a name is that of two groups, or of a group and a feature of another."""
    places, owners = _places(data.features), dict(zip(groups.names, range(len(groups)), strict=True))
    for g, title in enumerate(groups.names):
        if owners[title] != g or (title in places and groups.of[places[title]] != g):
            raise ParameterError(
                f"'groups' of '{name}' has a group '{title}', the name of another one or of a feature outside it",
                "give it another name",
            )


def weight_bounds(
    name: str,
    data: Dataset,
    *,
    positive: Sequence[Feature] = (),
    negative: Sequence[Feature] = (),
    lower: Mapping[Feature, float] | None = None,
    upper: Mapping[Feature, float] | None = None,
) -> WeightBounds:
    """Return the bounds on the weights.

    Parameters
    ----------
    name : str
        Of the model or method, for the messages.
    data : Dataset
        Of p features, for their names.
    positive : Sequence[Feature], default ()
        Features of weights >= 0, by place (from 0), also where names are numbers, or name (a text).
    negative : Sequence[Feature], default ()
        Features of weights <= 0, by place (from 0), also where names are numbers, or name (a text).
    lower : Mapping[Feature, float], optional
        Feature -> lower bound <= 0 on its weight, in the units of the features as given; None for no bounds.
    upper : Mapping[Feature, float], optional
        Feature -> upper bound >= 0 on its weight, in the units of the features as given; None for no bounds.
    """
    low, high = np.full(data.p, -np.inf), np.full(data.p, np.inf)
    for what, given, bounds, inside in (("lower", lower, low, "[-inf, 0]"), ("upper", upper, high, "[0, inf]")):
        for j, value in _numbers(name, what, data, given, inside).items():
            bounds[j] = value
    low[list(feature_indices(name, "positive", data, positive, "a list"))] = 0.0
    high[list(feature_indices(name, "negative", data, negative, "a list"))] = 0.0
    if np.any(none := low == high):
        j = int(np.argmax(none))
        raise ParameterError(
            f"'{name}' lets feature '{data.features[j]}' have no weight but 0", "leave it out of the data"
        )
    return WeightBounds(low + 0.0, high + 0.0)


def _numbers(name: str, what: str, data: Dataset, given: Any, inside: str) -> dict[int, float]:
    """Return feature -> number of a mapping."""
    if not isinstance(given, Mapping | None):
        raise ParameterError(f"'{what}' of '{name}' has {shown(given)}", "give {feature: number}")
    found, places = dict[int, float](), _places(data.features)
    for key, value in (given or {}).items():
        if not isinstance(key, str) and str(key) in places:  # a file has no other keys than texts
            raise ParameterError(f"'{what}' of '{name}' has the index {key}, also the name of a feature", "give names")
        place = isinstance(key, str) and key.isdecimal() and key not in places
        j = _index(name, what, data, int(key) if place else key, places)
        if j in found:
            raise ParameterError(f"'{what}' of '{name}' has '{data.features[j]}' twice", "leave one")
        found[j] = number(name, f"{what}[{key}]", value, inside=inside)
    return found


def feature_indices(name: str, what: str, data: Dataset, group: Any, form: str) -> tuple[int, ...]:
    """Return the indices of the features in a list, each once."""
    places, group = _places(data.features), listed(name, what, group, form)
    return tuple(dict.fromkeys(_index(name, what, data, feature, places) for feature in group))


def listed(name: str, what: str, group: Any, form: str = "a list of lists") -> list[Any]:
    """Return a parameter as a list; raises ParameterError where it is none."""
    if isinstance(group, str) or not isinstance(group, (Sequence, np.ndarray)):
        raise ParameterError(f"'{what}' of '{name}' has {shown(group)}", f"give {form} of features")
    return list(group)


def _index(name: str, what: str, data: Dataset, feature: Any, places: Mapping[str, int]) -> int:
    """Return the index of a feature that is given by its index or name."""
    if not isinstance(feature, str):
        return whole(name, what, feature, low=0, high=data.p - 1, why=f" (there are {counted(data.p, 'feature')})")
    if feature not in places:
        raise ParameterError(
            f"'{what}' of '{name}' names '{feature}', which is no feature of the data",
            f"its features: {', '.join(data.features[:5])}{', ...' * (data.p > 5)}",
        )
    return places[feature]


@lru_cache(maxsize=8)
def _places(features: tuple[str, ...]) -> Mapping[str, int]:
    """Return name -> index."""
    return {feature: j for j, feature in enumerate(features)}


@dataclass(frozen=True)
class WeightBounds:
    """Bounds l <= 0 and u >= 0 on the weights (p,), which admit 0; infinite where there is none."""

    lower: Vector
    upper: Vector

    @staticmethod
    def of(name: str, data: Dataset, at: Mapping[str, Any]) -> WeightBounds:
        """Return those of a model or method with parameters, by :func:`weight_bounds`."""
        return weight_bounds(name, data, **{what: at[what] for what in BOUNDS if what in at})

    def __bool__(self) -> bool:
        return bool(np.isfinite([self.lower, self.upper]).any())

    def words(self, data: Dataset) -> dict[str, dict[str, float]]:
        """Return the bounds as the parameters ``lower`` and ``upper``, those that there are."""
        ends = {what: np.flatnonzero(np.isfinite(getattr(self, what))).tolist() for what in ENDS}
        return {what: {data.features[j]: float(getattr(self, what)[j]) for j in at} for what, at in ends.items() if at}

    def within(self, size: float) -> WeightBounds:
        """Return the bounds that weights of at most a size satisfy too."""
        return WeightBounds(np.maximum(self.lower, -size), np.minimum(self.upper, size))

    def scaled(self, scale: Vector) -> WeightBounds:
        """Return the bounds on the weights (p,) of features that were divided by a scale (p,) > 0."""
        return WeightBounds(self.lower * scale, self.upper * scale)

    def distance(self, other: WeightBounds) -> float:
        """Return the largest relative difference from other bounds, infinite where one of both has no bound."""
        pairs = ((self.lower, other.lower), (self.upper, other.upper))
        return float(np.max([apart(a, b) for a, b in pairs], initial=0.0))

    def violation(self, w: Vector) -> float:
        """Return the largest violation by weights (p,), relative to the weight or the bound."""
        return float(apart(w, self.clipped(w)).max(initial=0.0))

    def clipped(self, w: Vector) -> Vector:
        """Return weights (p,) that a solver's tolerance may have put outside, within the bounds."""
        return np.clip(w, self.lower, self.upper)

    def conjugate(self, q: Matrix) -> Matrix:
        """Return h_j(q_j) (..., p): the largest decrease of the dual by the weights of one feature each."""
        w = self.clipped(q)
        return np.asarray(w * (q - 0.5 * w))

    def add_to(self, w: pyo.Var) -> None:
        """Bound the weights w (J) of a model."""
        for variable, low, high in zip(w.values(), self.lower.tolist(), self.upper.tolist(), strict=True):
            variable.setlb(low)
            variable.setub(high)

    def add_rows(self, m: pyo.ConcreteModel, w: pyo.Var, sigma: Any, equation: str) -> None:
        """Add the constraints ``above`` and ``below``, of the features that have such a bound, times sigma (J)."""
        above, below = (np.flatnonzero(np.isfinite(ends)).tolist() for ends in (self.upper, self.lower))

        def at_most(_: pyo.ConcreteModel, j: int) -> Any:
            return w[j] - float(self.upper[j]) * sigma[j] <= 0

        def at_least(_: pyo.ConcreteModel, j: int) -> Any:
            return w[j] - float(self.lower[j]) * sigma[j] >= 0

        if above:
            m.above = pyo.Constraint(above, rule=at_most, doc=f"{equation} w_j <= u_j sigma_j")
        if below:
            m.below = pyo.Constraint(below, rule=at_least, doc=f"{equation} l_j sigma_j <= w_j")
