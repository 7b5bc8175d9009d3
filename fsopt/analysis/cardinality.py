"""The problem of at most m features, for the questions that are asked of it: in arrays, and for statements."""

from __future__ import annotations

import numpy as np

from fsopt.algorithms.branch_and_benders.problem import SelectionProblem
from fsopt.certificates.exact.proofs import About
from fsopt.data import Dataset
from fsopt.data.losses import HINGE, Loss
from fsopt.methods.gbd.proofs import selection_about
from fsopt.methods.preprocessing import preprocess
from fsopt.models.blocks import number
from fsopt.models.gbd.selection_constraints import SelectionConstraints


def cardinality_about(data: Dataset, m: int, c: float, loss: str = HINGE.name) -> About:
    """Return the problem of at most m features for a statement."""
    return selection_about(float(c), SelectionConstraints.of("selection", data, m=m), loss=loss)


def cardinality_problem(data: Dataset, m: int, c: float, scale: str, name: str) -> SelectionProblem:
    """Return the problem of at most m preprocessed features."""
    return at_most(preprocess(data, scale)[0], number(name, "c", c), m)


def at_most(work: Dataset, c: float, m: int, loss: Loss = HINGE) -> SelectionProblem:
    """Return the problem of at most m features of preprocessed data."""
    return SelectionProblem.of(work, c, np.ones((1, work.p)), np.array([float(m)]), np.zeros(work.p), loss)
