"""One verb for every answer: honest ones are verified, changed ones are not, and the result says which number fails."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest
from support import blobs

import fsopt
from fsopt.answers.results import Status
from fsopt.errors import FileError, ParameterError
from fsopt.verification.exact_checking import exact_word

DATA = blobs(30, 4, gap=0.4)
MODEL = fsopt.build("svm", DATA)


@pytest.fixture(scope="module")
def fit():
    return fsopt.fit("svm", DATA, c=0.5)


@pytest.fixture(scope="module")
def path():
    return fsopt.selection_path(DATA, m=[1, 2], tolerance=1e-6)


def test_a_fit_and_its_file_are_verified_alike(fit, tmp_path):
    fit.save(tmp_path / "fit.json")
    found, of_file = fsopt.verify(fit, DATA), fsopt.verify(tmp_path / "fit.json", DATA)
    assert (found.word, found.claimed, found.reason) == ("verified numerically", "optimal", "")
    assert of_file.verified
    assert of_file.residuals == pytest.approx(found.residuals)
    exactly = fsopt.verify(fit, DATA, exact=True)
    assert exactly.word == exactly.exact.word == exactly.exact.plain()["word"] == "verified exactly"


@pytest.mark.parametrize("part", ["coef", "intercept", "objective", "bound"])
def test_a_changed_number_of_a_fit_is_named(fit, part):
    found = fsopt.verify(replace(fit, **{part: 1.01 * getattr(fit, part) + 0.01}), DATA)
    assert (found.verified, found.word, found.recomputed) == (False, "not verified", None)
    [*bad] = found.to_frame().query("not ok")["residual"]
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


@pytest.mark.parametrize(("method", "given"), EARLY)
def test_verify_says_of_a_fit_that_ended_early_what_its_certificate_says(method, given, tmp_path):
    for data in (DATA, RAW):
        found = fsopt.fit(method, data, **{"scale": "none", **given})
        assert found.certificate.ok
        assert fsopt.verify(found, data).verified
        found.save(tmp_path / "fit.json")
        assert fsopt.verify(tmp_path / "fit.json", data).verified


@pytest.mark.parametrize("status", [Status.OPTIMAL, Status.FEASIBLE])
def test_a_bound_is_looked_at_whatever_status_is_claimed(fit, status):
    honest = replace(fit, status=status)
    assert fsopt.verify(honest, DATA).verified
    found = fsopt.verify(replace(honest, bound=1.001 * fit.bound), DATA)
    assert not found.verified
    assert found.residuals["stated bound"] == pytest.approx(1e-3 * fit.bound / max(1.0, fit.bound), rel=1e-3)
    assert fsopt.verify(replace(honest, bound=None), DATA).verified == (status is Status.FEASIBLE)


def test_the_word_of_a_row_has_the_first_reason_where_a_claim_is_not_shown(fit):
    assert exact_word(fit, DATA) == "verified exactly"
    reason = "the optimum of the program: the stated objective is not within the claimed gap of the interval"
    assert exact_word(replace(fit, objective=1.01 * fit.objective), DATA) == f"not verified exactly ({reason})"
    # Every claim holds, and a printed score is another one.
    scores = replace(fit.trained, scores={"accuracy": 0.123})
    assert exact_word(replace(fit, trained=scores), DATA) == "not verified exactly"


@pytest.mark.parametrize(
    ("part", "residual"),
    [
        ({"labels": ("b", "a")}, "labels"),
        ({"features": ("a", "b", "c", "d")}, "columns"),
        ({"scores": {"accuracy": 0.123}}, "train"),
        ({"deviation": (9.0, 9.0, 9.0, 9.0)}, "deviation"),
    ],
)
def test_what_a_fit_states_of_its_data_is_recomputed(fit, part, residual):
    found = fsopt.verify(replace(fit, trained=replace(fit.trained, **part)), DATA)
    assert not found.verified
    assert found.residuals[residual] > found.certificate.tolerance


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


def test_a_path_is_verified_by_its_evidence_and_its_classifiers(path):
    assert fsopt.verify(path, DATA).word == "verified numerically"
    shown = fsopt.verify(path, DATA, exact=True)
    assert [claim.name for claim in shown.claims] == ["at most 1 feature", "at most 2 features"]
    falsehoods = {
        "bound of 1": replace(path, bound=path.bound + 0.01),
        "objective of 2": replace(path, objective=path.objective - 0.01),
        "selection of 2": replace(path, support=(path.support[0], path.support[0])),
        "gap of 1": replace(path, bound=path.bound - 0.1),
        "features": replace(path, features=("a", "b", "c", "d")),
    }
    for residual, false in falsehoods.items():
        found = fsopt.verify(false, DATA)
        assert not found.verified, residual
        assert residual in found.reason
    assert shown.claims == path.claims(DATA)


def test_a_path_is_judged_by_its_content_whatever_its_order(path):
    parts = ("m", "c", "objective", "bound", "support", "coef", "intercept", "evidence", "optimal", "nodes")
    for order in ([1, 0], [1], [0, 0]):
        moved = {
            name: type(getattr(path, name))(getattr(path, name)[k] for k in order) for name in ("support", "evidence")
        }
        moved |= {name: getattr(path, name)[order] for name in parts if name not in moved}
        assert fsopt.verify(replace(path, **moved), DATA).verified, order
    for name in parts:
        alone = [getattr(path, name)[:-1], *[getattr(path, name)[::-1]] * (name not in ("optimal", "c", "nodes"))]
        alone += [path.m[[1, 1]]] * (name == "m")  # one that is right does not vouch for another of its name
        for part in alone:
            with suppress(FileError):
                assert not fsopt.verify(replace(path, **{name: part}), DATA).verified, name


def test_a_path_over_two_parameters_is_verified_pair_by_pair():
    path = fsopt.selection_path(DATA, m=[1, 2], c=[0.5, 2.0], tolerance=1e-6)
    shown = fsopt.verify(path, DATA, exact=True)
    assert [claim.name for claim in shown.claims][1:3] == ["at most 2 features, C = 0.5", "at most 1 feature, C = 2.0"]
    falsehoods = {
        "bound of 1, C = 2.0": replace(path, bound=path.bound + np.array([0.0, 0.0, 0.01, 0.0])),
        "objective of 2, C = 0.6": replace(path, c=np.array([0.6, 0.6, 2.0, 2.0])),
        "bound of 1, C = 0.5": replace(path, evidence=(path.evidence[2], *path.evidence[1:])),
        "gap of 2, C = 2.0": replace(path, bound=path.bound - 0.1),
    }
    for residual, false in falsehoods.items():
        found = fsopt.verify(false, DATA)
        assert not found.verified, residual
        assert found.residuals[residual] > 1e-6, residual


def test_other_things_are_no_answer():
    for other in (3, None, [1.0]):
        with pytest.raises(ParameterError, match="the answer must be an answer or a path"):
            fsopt.verify(other, DATA)


def test_alternatives_are_verified_by_the_tree_of_their_enumeration():
    found = fsopt.alternatives(DATA, 2, within=0.9)
    assert found.complete
    assert len(found.support) > 1
    assert fsopt.verify(found, DATA).word == "verified numerically"
    assert fsopt.verify(found, DATA, exact=True).word == "verified exactly"
    one_less = {"support": found.support[1:], "objective": found.objective[1:], "w": found.w[1:]}
    forged = {
        "bound": replace(found, bound=found.bound * 1.01),
        "objective": replace(found, objective=found.objective * 1.001),
        "optimum": replace(found, optimum=found.optimum * 0.9),
        "complete": replace(found, limit=found.limit * 2.0),
        "limit": replace(found, within=0.8),
        "repeated": replace(found, count=1),
        "features": replace(found, features=("a", "b", "c", "d")),
    }
    for name, false in forged.items():
        assert fsopt.verify(false, DATA).residuals[name] > 1e-4, name
        assert not fsopt.verify(false, DATA).verified, name
    with pytest.raises(FileError, match="not a selection of the list"):
        fsopt.verify(replace(found, **one_less), DATA)
    with pytest.raises(FileError, match="not free at its node"):
        fsopt.verify(replace(found, m=1), DATA)


@pytest.mark.parametrize("count", [None, 2])
def test_the_share_and_the_limit_of_alternatives_belong_together(count):
    found = fsopt.alternatives(DATA, 1, within=9.0, count=count)
    assert (found.complete, len(found.support), np.isinf(found.bound)) == (True, count or 5, count is None)
    for bound in (found.bound, -np.inf, 0.0):  # of nothing that is left, and weaker ones
        assert fsopt.verify(replace(found, bound=bound), DATA).verified, bound
    for false in (
        {"within": 0.001},
        {"limit": 0.99 * found.limit},
        {"bound": np.nan},
        {"objective": found.objective + 1},
    ):
        check = fsopt.verify(replace(found, **false), DATA)
        assert (check.verified, bool(check.reason)) == (False, True), false


def test_a_stopped_enumeration_claims_the_bound_of_its_open_nodes():
    data = blobs(40, 12, gap=0.2, seed=5)
    found = fsopt.alternatives(data, 4, within=0.3, time_limit=1e-3)
    assert not found.complete
    assert fsopt.verify(found, data).word == "verified numerically"
    assert not fsopt.verify(replace(found, bound=found.bound + 0.01 * (1.0 + abs(found.bound))), data).verified


def test_a_necessity_result_is_verified_by_the_trees_of_its_searches():
    found = fsopt.necessity(DATA, 2, tolerance=1e-6)
    assert fsopt.verify(found, DATA).word == "verified numerically"
    assert fsopt.verify(found, DATA, exact=True).word == "verified exactly"
    j = int(np.flatnonzero(~found.selections[0])[0])
    name = found.features[j]
    moved = np.eye(DATA.p)[j]
    forged = {
        "optimum": replace(found, optimum=found.optimum - 0.01),
        f"with {name}": replace(found, with_bound=found.with_bound + 0.01 * moved),
        f"without {name}": replace(found, without=found.without - 0.01 * moved),
        "selection": replace(found, support=(0, 1, 2)),
    }
    for part, false in forged.items():
        assert fsopt.verify(false, DATA).residuals[part] > 1e-4, part
        assert not fsopt.verify(false, DATA).verified, part
    with pytest.raises(FileError, match="damaged"):
        fsopt.verify(replace(found, selections=~found.selections), DATA)


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
    assert check.residuals["deviation"] == pytest.approx(1.0)
    assert not check.verified
