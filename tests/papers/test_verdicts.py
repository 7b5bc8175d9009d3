"""Verdicts: digits, noise, and the chance of an answer drawn at random."""

import math

import numpy as np
import pytest

from fsopt.papers.sla.experiments import TABLE_ONE, possible_share
from fsopt.papers.verdicts import cell, chance, deviations, given, half_unit, random_agreements


def verdict(ours, print_, possible=(0.0, 100.0), **rest):
    return cell(("row", "column"), ours, print_, possible=possible, **rest).verdict


def test_equal_is_agreement_to_the_printed_digits():
    assert verdict(93.24, "93.2") == "equal"
    assert verdict(93.26, "93.2") == "differs"
    assert verdict(0.15, "0.10") == "differs"  # a text: as a float it has one digit, and 0.15 rounds to it
    assert verdict(0.104, "0.10", (0.0, 1.0)) == "equal"
    assert verdict(0.104, "0.100", (0.0, 1.0)) == "differs"
    assert verdict(93.25, "93.2") == verdict(93.15, "93.2") == "equal"  # the paper's rule for halves is not known
    assert verdict(3.4, "3") == verdict(3.0, "3") == "equal"
    assert [half_unit(text) for text in ("3", "3.0", "0.1502")] == [0.5, 0.05, pytest.approx(5e-5)]


def test_noise_and_reasons_come_after_equality():
    assert verdict(93.26, "93.2", noise=0.1) == "within noise"
    assert verdict(95.0, "93.2", noise=0.1, otherwise=("erratum", "why")) == "erratum"
    assert verdict(1.0, None) == "no number"
    assert verdict(math.nan, "2.0") == "left out"
    assert verdict(None, "2.0", otherwise=("erratum", "infeasible")) == "erratum"
    assert cell(("r", "c"), 5.0, "3.0", possible=(0.0, 9.0)).difference == 2.0


def test_what_a_fifth_of_all_answers_would_pass_is_no_evidence():
    assert verdict(52.0, "50", noise=9.0) == "within noise"  # 18 of 100
    assert verdict(52.0, "50", noise=11.0) == "not testable"
    assert verdict(50.2, "50", noise=11.0) == "equal"  # 1 of 100
    assert verdict(2.0, "2", possible=(1.0, 3.0)) == "not testable"
    assert verdict(99.0, "50", noise=11.0) == "differs"  # what fails a weak test has failed it
    assert given(("r", "c"), "0.13").verdict == "not counted"


def test_the_chance_is_the_share_of_random_answers_that_agree():
    rng = np.random.default_rng(0)
    for print_, accepted, (low, high) in ((4.0, 3.0, (0.0, 50.0)), (1.0, 3.0, (0.0, 50.0)), (48.0, 9.0, (0.0, 50.0))):
        drawn = rng.uniform(low, high, 200_000)
        assert chance(print_, accepted, (low, high)) == pytest.approx(
            np.mean(abs(drawn - print_) <= accepted), abs=5e-3
        )
    assert chance(24.0, 1.0, (50.0, 100.0)) == pytest.approx(1 / 76)  # the print itself is possible: from it on


def test_the_largest_accepted_difference_is_where_the_agreement_ends():
    place, options = ("r", "c"), {"possible": (0.0, 100.0), "noise": 7.0}
    assert [cell(place, 30.0, "50", **(options | {"noise": noise})).accepted for noise in (7.0, 11.0)] == [7.0, 0.5]
    assert cell(place, 2.0, "2", possible=(1.0, 3.0)).accepted is None
    for print_, noise in (("50", 7.0), ("50", 11.0), ("50.00", 0.0), ("3", 0.2)):
        for ours in np.linspace(0.0, 100.0, 401):
            one = cell(place, ours, print_, possible=(0.0, 100.0), noise=noise)
            assert (one.verdict in ("equal", "within noise")) == (abs(one.difference) <= one.accepted)


def test_random_tables_have_our_numbers_in_another_order_within_each_column():
    ours, printed = [1.0, 2.0, 3.0, 40.0, 50.0], [1.0, 2.0, 3.0, 40.0, 59.0]
    cells = [("x", a, b, 0.5) for a, b in zip(ours[:3], printed, strict=False)]
    cells += [("y", ours[3], printed[3], 0.5), ("y", ours[4], printed[4], None)]
    # By hand: of the orders of three 1/6 has 3 at their place, 1/2 one, 1/3 none; of the orders of two a half has one.
    mean, best = random_agreements(cells)
    assert mean == pytest.approx(1.5, abs=0.3)
    assert best == 4
    assert random_agreements(cells) == (mean, best)
    alike = [("x", 1.0, 1.0, 0.1), ("x", 1.0, 1.0, 0.1), ("y", 1.0, 2.0, 0.1)]
    assert random_agreements(alike) == (2.0, 2)


def test_the_noise_of_means_is_that_of_their_difference():
    rng = np.random.default_rng(1)
    ours, theirs = rng.normal(0, 3.0, (100_000, 10)).mean(axis=1), rng.normal(0, 5.0, (100_000, 30)).mean(axis=1)
    assert deviations((3.0, 10), (5.0, 30)) == pytest.approx(2 * np.std(ours - theirs), rel=0.02)


def test_the_correctness_of_pmm_that_no_number_of_samples_has():
    """By brute force over all sums of ten numbers of samples."""
    for name, row in TABLE_ONE.items():
        n = int(row.m) + int(row.k)
        there = any(f"{100 * k / (10 * n):.2f}" == row.pmm for k in range(10 * n + 1))
        assert possible_share(row) == there, name
    assert {name for name, row in TABLE_ONE.items() if possible_share(row)} == {"wpbc24", "pima", "tictactoe"}


def test_every_correctness_of_pmm_is_a_mean_over_ten_training_parts():
    """A counterexample for each number that looks like a misprint: right samples in parts of nine tenths."""
    for name, row in TABLE_ONE.items():
        n = int(row.m) + int(row.k)
        parts = [n - len(fold) for fold in np.array_split(np.arange(n), 10)]
        large, few = max(parts), parts.count(max(parts))
        right = np.arange(few * large + 1) / large
        others = np.round((float(row.pmm) / 10 - right) * (large - 1))
        means = 10 * (right + others / (large - 1))
        there = (others >= 0) & (others <= (10 - few) * (large - 1))
        assert np.any(there & (abs(means - float(row.pmm)) <= half_unit(row.pmm))), name
