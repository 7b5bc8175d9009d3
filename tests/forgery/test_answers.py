"""Changed saved answers: none is verified unless it states what was stated before, or what is true.

Any change with the old digest is refused; one with a digest of its own, as anybody can write it, is judged by its
evidence. ``make test-all`` takes 2,000 changed answers, ``make test`` a sixteenth of them, ``make forgeries`` 20,000.

Evidence that proves something of another program, in other units or of some features alone proves nothing.
"""

import json
from dataclasses import replace

import numpy as np
import pytest
from forgery.answers import CASES, SOLVES, falsely, forged, judged, record_of, resealed
from forgery.engine import CASES as TOTAL
from forgery.engine import SLICES
from fuzz.attack import FACTOR, TOKENS, attack, damaged, generator
from saved_records import as_read
from support import blobs, sampled

import fsopt
from fsopt.answers.results import Point
from fsopt.answers.saved import intact
from fsopt.data import Dataset
from fsopt.errors import FileError, ParameterError
from fsopt.methods.checking import saved_fit
from fsopt.methods.preprocessing import preprocess
from fsopt.methods.registry import METHODS
from fsopt.methods.verdict import restriction, rows_of, saved_program
from fsopt.verification.verify import verify_record

NAMES = list(CASES)
FITS = [name for name in NAMES if name.startswith("fit")]


def test_every_method_and_class_is_there():
    assert {name.split()[1] for name in FITS} == set(fsopt.METHODS)
    classes = {fsopt.MODELS[slug].problem_class for slug in SOLVES}
    assert classes >= {"LP", "QP", "SOCP", "SDP", "MILP", "MIQP", "MISOCP"}


@pytest.mark.parametrize("part", sampled(range(SLICES), 1))
def test_nothing_is_verified_but_the_same_statement(part):
    false: list[str] = []

    def case(seed: int) -> None:
        name, kinds, new = forged(seed)
        unsealed = {**new, "digest": record_of(name)["digest"]}
        assert resealed(new) == record_of(name) or "format" not in new or not intact(unsealed), (name, seed, kinds)
        if others := falsely(json.dumps(new), name):
            false.append(f"{name}, seed {seed}, {kinds}: {others}")

    attack((f"forged {seed}", lambda seed=seed: case(seed)) for seed in range(part, TOTAL, SLICES))
    assert not false, "\n".join([f"{len(false)} false answers verified", *false])


@pytest.mark.parametrize("name", sampled(NAMES, 6, 1))
def test_the_answer_to_another_question_is_not_verified(name):
    """Of other data, or by another method."""
    record, own = record_of(name, True), {"data_sha256": record_of(name)["data_sha256"]}
    assert not falsely(json.dumps(resealed({**record, **own})), name)
    for method in fsopt.METHODS if "method" in record else ():
        assert not falsely(json.dumps(resealed({**record_of(name), "method": method})), name), method


@pytest.mark.parametrize("part", sampled(range(5), 1))
def test_every_damaged_text_is_judged_or_refused(part):
    """A file with injured bytes is used as it is, or refused; nothing else comes out."""

    def text(rng: np.random.Generator) -> tuple[bytes, str]:
        name = NAMES[rng.integers(len(NAMES))]
        whole = json.dumps(record_of(name)).encode()
        if rng.integers(2):
            return damaged(whole, rng), name
        place = whole.index(b":", int(rng.integers(len(whole) - 200))) + 1
        return whole[:place] + TOKENS[rng.integers(len(TOKENS))] + whole[place:], name

    made = (text(generator(2, k)) for k in range(60 * part * FACTOR, 60 * (part + 1) * FACTOR))
    ends = attack((f"damaged {k}", lambda one=one: judged(*one)) for k, one in enumerate(made))
    assert ends["file"] > 20, ends


@pytest.mark.parametrize("text", ["", "null", "[]", "{}", "5", '"x"', '{"method": 1}', "\ufeff{}", '{"a": NaN}'])
def test_foreign_json_is_refused(text):
    with pytest.raises(fsopt.FsoptError, match="is not"):
        judged(text, "fit svm")


DATA = blobs(40, 5, gap=0.8)


def refused(record, data=DATA, **given):
    return verify_record(record, data, "file", **given).certificate.refused()


@pytest.mark.parametrize("method", ["svm", "onsvm"])
def test_multipliers_of_margins_prove_nothing_of_changed_models(method):
    record = as_read(fsopt.fit(method, DATA), DATA)
    changed = {**record, "details": {**record["details"], "customised": {method: "rows"}}}
    with pytest.raises(FileError, match="multipliers of margins alone"):
        refused(changed, customise={method: lambda model: None})
    with pytest.raises(ParameterError, match="nothing proves an answer of a changed 'rsvm'"):
        fsopt.fit("rsvm", DATA, customise={"rsvm": lambda model: None})


def test_a_program_on_kernel_values_is_not_that_of_a_kernel_machine():
    record = as_read(fsopt.fit("svm", DATA, kernel="gaussian"), DATA)
    point = as_read(fsopt.fit("svm", DATA, customise={"svm": lambda model: None}), DATA)["details"]["point"]
    record["details"] = {"point": point}
    with pytest.raises(FileError, match="it has no 'alpha'"):
        refused(record)


def test_scales_and_patterns_are_compared_in_units_of_the_features():
    far = Dataset(DATA.X + 9e5 * (np.arange(5) == 0), DATA.y)
    record = as_read(fsopt.fit("svm", far), far)
    record["preprocessing"]["scale"][0] *= 1.5
    assert refused(record, far)["preprocessing"] == pytest.approx(0.5)
    small = Dataset(DATA.X * 1e-10, DATA.y)
    record = as_read(fsopt.fit("svm", small, kernel="linear", scale="none", c=1e19), small)
    record["kernel"]["patterns"] = (2.0 * small.X).tolist()
    with pytest.raises(FileError, match="patterns"):
        refused(record, small)


def test_a_weight_outside_the_selection_counts_in_any_unit():
    large = Dataset(DATA.X * 1e8, DATA.y)
    record = as_read(fsopt.fit("best-subset", large, m=1, scale="none"), large)
    record["coef"][int(np.argmin(np.abs(record["coef"])))] = 1e-9
    assert refused(record, large)["constraints"] == 1.0


def test_ranges_of_one_feature_alone_bound_no_program_of_all():
    """With the row of w = w+ - w- alone as multipliers the ranges of the one weight prove its value."""
    fit = fsopt.fit("l1-mpm", DATA, delta=0.05)
    work, map_ = preprocess(DATA, "standard")
    model = fsopt.build("l1-mpm", work.columns(np.array([1])), delta=0.05)
    result, session = fsopt.solve(model), fsopt.Session(model, "clarabel")
    weight = next(iter(model.w.values())).value
    y = np.zeros_like(result.point.y)
    y[rows_of(session.program, model, "split")] = -np.sign(weight)
    details = {**fit.details, "columns": [1], "point": Point(result.point.x, y, np.zeros_like(result.point.z))}
    coef = np.where(np.arange(5) == 1, weight / map_.scale, 0.0)
    saved = saved_fit(METHODS["l1-mpm"], replace(fit, coef=coef, details=details), DATA)
    assert restriction(saved, *saved_program(saved))["bound of some features"] > 0.1
