"""The problem of at most m features, for the questions that are asked of it: in arrays, and for statements."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from fsopt.certificates.exact.proofs import About
from fsopt.data import Dataset
from fsopt.data.losses import HINGE, Loss
from fsopt.methods.gbd.proofs import NONE, selection_about
from fsopt.methods.preprocessing import preprocess
from fsopt.methods.spec import in_units
from fsopt.models.blocks import number
from fsopt.models.gbd.selection_constraints import RULES, SelectionConstraints
from fsopt.search.branch_and_benders.columns import Columns
from fsopt.search.branch_and_benders.problem import SelectionProblem

SELECTION = ("m", "costs", "budget", *RULES)
"""The parameters of a selection that the questions do not take: they take groups, and bounds on weights."""


def rules_of(name: str, data: Dataset, given: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return groups and bounds in one form, those that there are, and the names of the groups or features.

    Raises
    ------
    ParameterError : of :meth:`fsopt.models.gbd.selection_constraints.SelectionConstraints.of`.
    """
    found = SelectionConstraints.of(name, data, **given)
    names, groups = found.groups.names, {}
    if not found.groups.single:
        members = ([data.features[j] for j in found.groups.members(g)] for g in range(found.p))
        groups = {"groups": dict(zip(names, members, strict=True))}
    return groups | found.bounds.words(data), names


def cardinality_about(
    data: Dataset, m: int, c: float, loss: str = HINGE.name, rules: Mapping[str, Any] = NONE
) -> About:
    """Return the problem of at most m features for a statement."""
    found = replace(SelectionConstraints.of("selection", data, groups=rules.get("groups")), cardinality=m)
    return selection_about(float(c), found, loss=loss, bounds=rules)


def cardinality_problem(
    data: Dataset, m: int, c: float, scale: str, name: str, rules: Mapping[str, Any] = NONE
) -> SelectionProblem:
    """Return the problem of at most m preprocessed features."""
    work, map_ = preprocess(data, scale)
    return at_most(work, number(name, "c", c), m, rules=in_units(name, data, rules, map_.scale))


def at_most(work: Dataset, c: float, m: int, loss: Loss = HINGE, rules: Mapping[str, Any] = NONE) -> SelectionProblem:
    """Return the problem of at most m features of preprocessed data, with groups and bounds in their units."""
    found = SelectionConstraints.of("selection", work, **rules)
    ones, columns = np.ones((1, found.p)), Columns.needed(found.groups, found.bounds)
    return SelectionProblem.of(work, c, ones, np.array([float(m)]), np.zeros(found.p), loss, columns)
