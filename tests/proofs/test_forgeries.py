"""Forged proofs that were once confirmed, or ended in a traceback: each is refused."""

import copy
import itertools
import json
from functools import cache

import numpy as np
import pytest
from proof_files import refusal, refused, verdict, written
from selection_cases import exact_value
from support import blobs

import fsopt
from fsopt.data.losses import LOSSES
from fsopt.verification.exact_checking import exactly

DATA = blobs(n=24, p=5, seed=3, gap=0.4)
TEXT = json.dumps(exactly(fsopt.fit("svm", DATA), DATA).proof())


@cache
def made(name, params):
    return exactly(fsopt.fit(name, DATA, **dict(params)), DATA).claims[0].part


def part_of(name, **params):
    return copy.deepcopy(made(name, tuple(params.items())))


def test_a_known_selection_with_a_number_behind_it_leaves_nothing_out_of_an_optimum():
    (best,) = np.flatnonzero(fsopt.fit("best-subset", DATA, m=1).details["sigma"]).tolist()
    part = part_of("best-subset", m=1, exclude=(best,))
    assert part["program"]["outside"] == [best]
    part["program"]["outside"] = []
    part["evidence"]["tree"] = [["branch", best], *part["evidence"]["tree"], ["known"]]
    assert refused(part)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_tree_of_one_loss_proves_nothing_about_the_others(loss):
    part = part_of("best-subset", m=2, loss=loss)
    assert not refused(copy.deepcopy(part))
    for other in LOSSES.keys() - {loss}:
        part["program"]["loss"] = other
        assert refused(part)


CHANGES = {
    "three times": lambda grid: [3 * a for a in grid],
    "other signs": lambda grid: [-a for a in grid],
    "one more": lambda grid: [grid[0] + 1, *grid[1:]],
    "coarser": lambda grid: [a // 2**29 * 2**29 for a in grid],
}


@pytest.mark.parametrize("loss", ["squared-hinge", "logistic"])
def test_multipliers_are_balanced_and_pay_for_their_term(loss):
    for name, change in CHANGES.items():
        part = part_of("best-subset", m=2, loss=loss)
        part["evidence"]["cuts"] = [[steps, change(grid), mu] for steps, grid, mu in part["evidence"]["cuts"]]
        assert refused(part), name


def test_the_steps_of_the_entropy_are_not_more_than_the_verifier_has_logarithms_for():
    part = part_of("best-subset", m=2, loss="logistic")
    more = 2**60
    cuts = part["evidence"]["cuts"]
    part["evidence"]["cuts"] = [[steps * more, [a * more for a in grid], mu] for steps, grid, mu in cuts]
    assert refused(part)


@pytest.mark.parametrize("name", ["fsv", "l0-mpm"])
def test_a_concave_term_counts_once(name):
    part = part_of(name, **({"lam": 0.3} if name == "fsv" else {}))
    part["program"]["concave"].append(part["program"]["concave"][0])
    assert "two concave terms" in refusal(part)


@pytest.mark.parametrize("term", [(-1, 5, [0]), (1, -5, [0]), (1, 0, [0]), (1, 5, []), (1, 5, [0, 1, 2])])
def test_a_concave_term_is_one_of_one_or_two_columns_with_a_positive_slope(term):
    part = part_of("fsv", lam=0.3)
    part["program"]["concave"][0] = list(term)
    part["program"]["lb"][:3] = [0, 0, 0]
    assert "damaged" in refusal(part)


@pytest.mark.parametrize(("seed", "m", "count"), [(4, 2, 3), (5, 3, 4)])
def test_the_bound_of_the_best_selections_holds_for_those_cut_off(seed, m, count):
    data = blobs(n=20, p=5, seed=seed, gap=0.4)
    found = fsopt.alternatives(data, m, within=0.3, count=count, scale="none", exact=True)
    values = {s: value(data, s) for k in range(m + 1) for s in itertools.combinations(range(5), k)}
    others = min(v for s, v in values.items() if s not in found.support)
    assert found.exact.holds
    assert float(found.exact.lower) <= others * (1 + 1e-7)
    assert found.bound <= others * (1 + 1e-7)


def value(data, selection):
    """Return the value of a selection; without any feature every sample of the smaller class costs 2."""
    if not selection:
        return 2.0 * min(len(data.positive), len(data.negative))
    return exact_value(data, np.isin(np.arange(data.p), selection), 1.0)


@pytest.mark.parametrize(
    "text",
    [
        '{"format": "fsopt proof 4", "claims": ' + "[" * 100_000 + "]" * 100_000 + "}",
        '{"format": "fsopt proof 4", "claims": 5}',
        TEXT.replace('"optimal"', '"\\ud800"', 1),
        TEXT.replace('"optimal"', '"optimal\\nconfirmed"', 1),
    ],
    ids=["nesting", "a number for a list", "a lone surrogate", "a line break"],
)
def test_no_file_ends_in_a_traceback(text, tmp_path):
    code, shown = verdict(written(tmp_path / "proof.json", text))
    assert code in (1, 2)
    assert shown.startswith(("fsopt-verify: ", "REFUTED"))
    assert shown.isascii()
    assert shown.count("\n") == 1


def test_a_key_that_stands_twice_is_not_readable(tmp_path):
    assert verdict(written(tmp_path / "proof.json", TEXT))[0] == 0
    text = TEXT.replace('"lower": ', '"lower": -1e300, "lower": ', 1)
    assert verdict(written(tmp_path / "proof.json", text))[0] == 2


def test_a_square_that_stands_twice_is_refused():
    part = part_of("svm")
    part["program"]["quadratic"].insert(0, part["program"]["quadratic"][-1])
    assert "a square stands twice" in refusal(part)
