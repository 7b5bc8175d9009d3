"""Packed evidence: what it is not large enough, or too large for, is refused before it fills the memory."""

import base64
import zlib

import numpy as np
import pytest
from support import blobs

import fsopt
from fsopt.search.branch_and_benders import evidence
from fsopt.search.branch_and_benders.problem import SelectionProblem
from fsopt.search.branch_and_benders.tree import PEG


@pytest.fixture(scope="module")
def held() -> tuple[SelectionProblem, dict]:
    data = blobs(30, 8, seed=1, gap=0.2)
    fit = fsopt.fit("best-subset", data, m=2, scale="none")
    work = SelectionProblem.of(data, 1.0, np.ones((1, 8)), np.array([2.0]), np.zeros(8))
    return work, dict(fit.details["evidence"])


def test_a_bomb_is_refused(held, monkeypatch):
    problem, packed = held
    assert 0 < evidence.LARGEST < 2**30  # zlib takes 0 for no limit
    assert evidence.verify(problem, packed).bound > 0.0
    monkeypatch.setattr(evidence, "LARGEST", 2**16)
    bomb = base64.b64encode(zlib.compress(bytes(2**20))).decode()
    for part in ("tree", "alpha", "mu"):
        with pytest.raises(ValueError, match="too large"):
            evidence.verify(problem, {**packed, part: bomb})


def test_a_part_that_ends_early_is_refused(held):
    problem, packed = held
    for part in ("tree", "alpha", "mu"):
        raw = base64.b64decode(packed[part])
        with pytest.raises(ValueError, match=r"ends early|incomplete|truncated|size|reshape"):
            evidence.verify(problem, {**packed, part: base64.b64encode(raw[:-5]).decode()})


def test_a_multiplier_of_a_constraint_that_is_no_number_or_negative_is_refused(held):
    problem, packed = held
    for value in (-1.0, np.nan, np.inf, -np.inf):
        mu = evidence._text(np.full(packed["cuts"], value))
        with pytest.raises(ValueError, match="multipliers of cut 0 are not dual feasible"):
            evidence.verify(problem, {**packed, "mu": mu})


def test_a_node_that_pegs_fewer_than_no_features_is_refused(held):
    """Of three numbers less three a reader would never come to an end."""
    problem, packed = held
    tree = evidence._array(packed["tree"], np.int32)
    for count in (-1, -3, -5):
        forged = np.append(np.array([PEG, 0, count], dtype=np.int32), tree)
        with pytest.raises(ValueError, match="features are pegged at a node"):
            evidence.verify(problem, {**packed, "tree": evidence._text(forged)})


def test_multipliers_that_are_not_feasible_or_prove_less_are_noticed(held):
    problem, packed = held
    grids = evidence._array(packed["alpha"], np.int32).reshape(packed["cuts"], problem.n)
    raised = grids.copy()
    raised[:, 0] = 2**30 - raised[:, 0]
    assert evidence.verify(problem, {**packed, "alpha": evidence._text(0 * grids)}).bound <= 0.0
    with pytest.raises(ValueError, match="not dual feasible"):
        evidence.verify(problem, {**packed, "alpha": evidence._text(raised)})
