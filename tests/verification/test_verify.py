"""One verb for every answer: honest ones are verified, changed ones are not, and the result says which number fails."""

from contextlib import suppress
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from support import blobs, sampled

import fsopt
from fsopt.errors import FileError, ParameterError
from fsopt.verification.verify import exact_word

DATA = blobs(30, 4, gap=0.4)
MODEL = fsopt.build("svm", DATA)


@pytest.fixture(scope="module")
def fit():
    return fsopt.fit("svm", DATA, c=0.5)


def test_a_fit_and_its_file_are_verified_alike(fit, tmp_path):
    fit.save(tmp_path / "fit.json")
    found, of_file = fsopt.verify(fit, DATA), fsopt.verify(tmp_path / "fit.json", DATA)
    assert (found.word, found.claimed, found.reason) == ("verified numerically", "optimal", "")
    assert of_file.verified
    assert of_file.certificate.residuals == pytest.approx(found.certificate.residuals)
    exactly = fsopt.verify(fit, DATA, exact=True)
    assert exactly.word == exactly.record()["exact"]["word"] == "verified exactly"


@pytest.mark.parametrize("part", ["coef", "intercept", "objective", "bound"])
def test_a_changed_number_of_a_fit_is_named(fit, part):
    found = fsopt.verify(replace(fit, **{part: 1.01 * getattr(fit, part) + 0.01}), DATA)
    assert (found.verified, found.word, found.recomputed) == (False, "not verified", None)
    bad = found.certificate.refused()
    assert bad
    assert all(name in found.reason and name in found.summary() for name in bad)


RAW = DATA.with_X(DATA.X * [1e-4, 1.0, 1e4, 1.0])
EARLY = [
    *((name, {"solver": "clarabel", "options": {"max_iter": 4}}) for name in ("svm", "l1-mpm", "onsvm", "rfe")),
    ("svm", {"solver": "ipopt", "options": {"max_iter": 4}}),
    ("gbd", {"m": 2, "max_cuts": 2, "scale": "standard"}),
    ("best-subset", {"m": 2, "max_nodes": 1, "tolerance": 0.0}),
    ("best-subset", {"m": 2, "tolerance": 10.0}),
]


@pytest.mark.parametrize(("method", "given"), sampled(EARLY, 5, 0))
def test_verify_says_of_a_fit_that_ended_early_what_its_certificate_says(method, given, tmp_path):
    for data in (DATA, RAW):
        found = fsopt.fit(method, data, **{"scale": "none", **given})
        assert found.certificate.ok
        assert fsopt.verify(found, data).verified
        found.save(tmp_path / "fit.json")
        assert fsopt.verify(tmp_path / "fit.json", data).verified


def test_the_word_of_a_row_has_the_first_reason_where_a_claim_is_not_shown(fit):
    assert exact_word(fit, DATA) == "verified exactly"
    reason = "the stated objective value is not that of the point"
    assert exact_word(replace(fit, objective=1.01 * fit.objective), DATA).startswith(f"not verified exactly ({reason}")
    # Every claim holds, and a printed score is another one.
    scores = replace(fit.trained, train={"accuracy": 0.123})
    assert exact_word(replace(fit, trained=scores), DATA).startswith("not verified exactly (train ")


def test_labels_are_the_same_in_another_spelling_of_their_numbers(fit):
    for pair, same in ((("-1.0", "+1"), True), (("+1", "-1"), False), (("-1", "b"), False), (("False", "True"), False)):
        found = fsopt.verify(replace(fit, trained=replace(fit.trained, labels=pair)), DATA)
        assert found.verified is same, pair


def test_other_data_and_other_models_are_refused(fit):
    with pytest.raises(FileError, match="other data"):
        fsopt.verify(fit, blobs(30, 4, seed=9))
    with pytest.raises(FileError, match="unchanged models"):
        fsopt.verify(fit, DATA, customise={"svm": lambda model: None})


def test_the_result_of_a_solve_is_verified_against_its_model():
    result = fsopt.solve(MODEL)
    found = fsopt.verify(result, MODEL)
    assert (found.word, found.claimed) == ("verified numerically", "optimal")
    for false in ({"objective": result.objective + 0.1}, {"bound": result.objective + 0.1}, {"status": "infeasible"}):
        assert not fsopt.verify(replace(result, **false), MODEL).verified, false
    assert not fsopt.verify(result, fsopt.build("svm", DATA, c=3.0)).verified
    with pytest.raises(ParameterError, match="model"):
        fsopt.verify(result, DATA)


def with_cell(answer, k, **changes):
    """Return an answer with other parts of a cell, its problem included."""
    cell = answer.cells[k]
    asked = cell.asked._replace(**{name: changes.pop(name) for name in cell.asked._fields if name in changes})
    return replace(answer, cells=(*answer.cells[:k], replace(cell, asked=asked, **changes), *answer.cells[k + 1 :]))


QUESTIONS = {
    "path": lambda: fsopt.selection_path(DATA, m=[1, 2], c=[0.5, 2.0], tolerance=1e-6),
    "alternatives": lambda: fsopt.alternatives(DATA, 2, within=0.9),
    "the best three": lambda: fsopt.alternatives(DATA, 2, within=9.0, count=3),
    "necessity": lambda: fsopt.necessity(DATA, 2, tolerance=1e-6),
}


@cache
def question(name):
    return QUESTIONS[name]()


@pytest.mark.parametrize("name", QUESTIONS)
def test_what_a_cell_states_is_replayed(name):
    found = question(name)
    assert fsopt.verify(found, DATA).word == "verified numerically"
    assert fsopt.verify(found, DATA, exact=True).word == "verified exactly"
    for k, (cell, words) in enumerate(zip(found.cells, found.names, strict=True)):
        falsehoods = {
            f"objective of {words}": [{"objective": cell.objective * v} for v in (0.999, 1.001, np.nan)],
            f"bound of {words}": [{"bound": v} for v in (cell.objective + 0.01, np.nan)],
            f"selection of {words}": [{"support": v} for v in ((), (0, 1, 2), (-1, *cell.support))],
            "": [{"coef": 1.001 * cell.coef}, {"coef": cell.coef + 0.001}, {"intercept": cell.intercept + 0.01}],
        }
        falsehoods[""] += [{"include": (0, 3)}, {"exclude": (0, 3)}, {"c": 3.0}, {"m": cell.asked.m - 1}]
        for residual, changes in falsehoods.items():
            for change in changes:
                with suppress(FileError):
                    check = fsopt.verify(with_cell(found, k, **change), DATA)
                    assert not check.verified, (words, change)
                    assert residual in check.reason, (words, change)
    for false in ({"features": ("a", "b", "c", "d")}, {"scale": "none"}, {"cells": found.cells[1:]}):
        with suppress(FileError):
            assert not fsopt.verify(replace(found, **false), DATA).verified or name == "path", false


def test_a_path_is_judged_by_its_content_whatever_its_order():
    path = question("path")
    assert [claim.name for claim in fsopt.verify(path, DATA, exact=True).claims][1:3] == [
        "at most 2 features, C = 0.5",
        "at most 1 feature, C = 2.0",
    ]
    for order in ([1, 0], [1], [0, 0], [3, 2, 1, 0]):
        assert fsopt.verify(replace(path, cells=tuple(path.cells[k] for k in order)), DATA).verified, order
    # One that is right does not vouch for another of its name, nor evidence for another cell.
    false = replace(path.cells[0], objective=path.cells[0].objective - 0.01)
    assert not fsopt.verify(replace(path, cells=(false, *path.cells)), DATA).verified
    assert not fsopt.verify(with_cell(path, 0, evidence=path.cells[2].evidence), DATA).verified
    open_gap = with_cell(path, 0, bound=path.bound[0] - 0.1)
    assert (open_gap.status, fsopt.verify(open_gap, DATA).verified) == ("feasible", True)


def test_other_things_are_no_answer():
    for other in (3, None, [1.0]):
        with pytest.raises(ParameterError, match="the answer must be an answer or a path"):
            fsopt.verify(other, DATA)


@pytest.mark.parametrize("name", ["alternatives", "the best three"])
def test_alternatives_are_verified_by_the_tree_of_their_enumeration(name):
    found = question(name)
    assert found.complete
    for bound in (0.0, -np.inf):  # weaker ones are true
        weaker = replace(found, others=replace(found.others, bound=bound))
        assert (weaker.complete, fsopt.verify(weaker, DATA).verified) == (False, True)
    forged = {
        "bound of every other selection": [{"bound": found.others.bound * 1.01}, {"bound": np.nan}],
        "limit": [{"within": 0.001}],
        "repeated": [{"count": 1}],
    }
    for residual, changes in forged.items():
        for change in changes:
            check = fsopt.verify(replace(found, others=replace(found.others, **change)), DATA)
            assert not check.verified, change
            assert residual in check.reason
    assert "repeated" in fsopt.verify(replace(found, cells=(*found.cells, found.cells[-1])), DATA).reason
    with pytest.raises(FileError, match="not a selection of the list"):
        fsopt.verify(replace(found, cells=found.cells[1:]), DATA)


def test_a_stopped_enumeration_claims_the_bound_of_its_open_nodes():
    data = blobs(40, 12, gap=0.2, seed=5)
    found = fsopt.alternatives(data, 4, within=0.3, time_limit=1e-3)
    assert not found.complete
    assert fsopt.verify(found, data).word == "verified numerically"
    others = replace(found.others, bound=found.others.bound + 0.01 * (1.0 + abs(found.others.bound)))
    assert not fsopt.verify(replace(found, others=others), data).verified


def test_answers_to_questions_belong_to_their_data_in_any_units_and_names():
    y = np.where(np.arange(30) % 3, 1.0, -1.0)
    noise = np.random.default_rng(0).normal(size=(30, 4)) * [1e-4, 1e4, 1.0, 1e-2]
    names = ["mean radius, mm", "größe", "x1", "x11"]
    data = fsopt.Dataset(noise + np.outer(y, [1e-4, 0.0, 1.5, 0.0]), y, features=names).weighted("balanced")
    other = fsopt.Dataset(2.0 * data.X + 1.0, -y, features=names).weighted("balanced")
    found = [fsopt.alternatives(data, 2, within=0.5), fsopt.necessity(data, 2), fsopt.selection_path(data, m=[1, 2])]
    for answer in found:
        assert fsopt.verify(answer, data).word == "verified numerically"
        assert not fsopt.verify(answer, other).verified


def test_a_stated_deviation_is_compared_in_its_own_unit():
    data = DATA.with_X(1e-9 * DATA.X)
    found = fsopt.fit("svm", data, c=0.5)
    trained = found.kept_of(data)
    doubled = replace(trained, deviation=tuple(2.0 * v for v in trained.deviation))
    check = fsopt.verify(replace(found, trained=doubled), data)
    assert check.certificate.residuals["deviation"] == pytest.approx(1.0)
    assert not check.verified
