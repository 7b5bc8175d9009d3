"""Answers and checkpoints of versions 0.1.0 and 0.2.0: today's code reads, verifies, resumes and finds them again."""

import copy
import shutil

import numpy as np
import pytest
from support import ROOT

import fsopt
from fsopt.answers.saved import fit_from, read_record
from fsopt.errors import FsoptError
from fsopt.verification.checking import check_record

FOLDER = ROOT / "tests" / "saved" / "v0.1.0"
SECOND = ROOT / "tests" / "saved" / "v0.2.0"
"""Of the methods gbd and gbd-lambda, each of which was two algorithms."""
FITS, SOLVES = (sorted(FOLDER.glob(f"{kind}-*.json")) for kind in ("fit", "solve"))
SECOND_FITS = {
    "fit-gbd": "best-subset",
    "fit-gbd-branch": "best-subset",
    "fit-gbd-lambda": "best-subset-penalised",
    "fit-gbd-paper": "gbd",
    "fit-gbd-lambda-clarabel": "gbd-lambda",
}
"""File -> the method that it is one of today."""
PARTS = ("params", "objective", "coef", "support", "preprocessing", "details")
WRONG = (None, "x", [], {}, [[1.0]], float("nan"))


def name(path):
    return path.stem


@pytest.fixture(scope="module")
def data():
    return fsopt.load_dataset(FOLDER / "data.csv")


def test_there_is_a_fit_of_every_method_of_that_version():
    saved = {read_record(path)["method"] for path in FITS}
    assert len(saved) == 19
    assert saved <= set(fsopt.METHODS)


@pytest.mark.parametrize("path", FITS + SOLVES, ids=name)
def test_a_saved_answer_is_verified(path, data):
    found = check_record(read_record(path), data, str(path))
    assert found["verified"], found["certificate"]


@pytest.mark.parametrize("path", FITS, ids=name)
def test_a_saved_fit_predicts_the_labels_that_it_predicted(path, data):
    record = read_record(path)
    fit = fit_from(record, path)
    assert np.mean(fit.predict(data.X) == data.y) == pytest.approx(record["train"]["accuracy"])
    assert np.isfinite(fit.decision_function(data.X + 0.1)).all()


@pytest.mark.parametrize("path", FITS, ids=name)
def test_the_same_fit_again_selects_the_same_features(path, data):
    record = read_record(path)
    fit = fsopt.fit(record["method"], data, **record["params"])
    assert fit.status == record["status"]
    if path.stem == "fit-infogain":  # of the features without a gain 0.1 kept the first columns
        gained = [j for j in record["support"] if fit.details["scores"][j] > 0]
        assert set(gained) <= set(fit.support)
        assert len(fit.support) == len(record["support"]) > len(gained)
        return
    assert list(fit.support) == record["support"]
    assert fit.objective == pytest.approx(record["objective"], rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("path", FITS, ids=name)
def test_a_damaged_part_is_an_error_of_ours_or_not_verified(path, data):
    """Parts of details that nothing rests on may be anything; no damage is another exception."""
    record = read_record(path)
    keys = [(part,) for part in PARTS] + [(part, key) for part in ("params", "details") for key in record[part]]
    for part, *inner in keys:
        for wrong in WRONG:
            damaged = copy.deepcopy(record)
            if inner:
                damaged[part][inner[0]] = wrong
            else:
                damaged[part] = wrong
            try:
                verified = check_record(damaged, data, str(path))["verified"]
            except FsoptError:
                continue
            # A support is not recomputed by every method, params that equal their defaults may be missing, and a
            # feasible answer needs no evidence but its own classifier.
            needless = part in ("support", "params") or (part == "details" and record["status"] == "feasible")
            assert not verified or inner or needless, (part, wrong)


@pytest.mark.parametrize("checkpoint", ["gbd.npz", "gbd-cut6.npz"])
def test_a_saved_checkpoint_is_resumed_to_the_optimum(checkpoint, data, tmp_path):
    optimum = read_record(FOLDER / "fit-gbd-m3.json")
    fit = fsopt.fit("gbd", data, m=3, resume=shutil.copy(FOLDER / checkpoint, tmp_path))
    assert fit.status == "optimal"
    assert list(fit.support) == optimum["support"]
    assert fit.objective == pytest.approx(optimum["objective"], rel=1e-6)
    assert fit.bound == pytest.approx(optimum["objective"], rel=2e-6)


@pytest.mark.parametrize(("file", "method"), SECOND_FITS.items())
def test_a_fit_of_a_name_that_was_two_algorithms_is_read_as_what_it_is(file, method, data, tmp_path):
    path = SECOND / f"{file}.json"
    record = read_record(path)
    fit = fsopt.load_fit(path)
    assert fit.method == method
    assert set(fit.params) <= set(fsopt.METHODS[method].parameters)
    assert check_record(record, data, str(path))["verified"]
    again = fsopt.fit(fit.method, data, **fit.params)
    assert (again.status, again.support) == (fit.status, fit.support)
    assert again.objective == pytest.approx(fit.objective, rel=1e-6)
    forged = copy.deepcopy(record)
    forged["objective"] = forged["bound"] = 0.99 * record["objective"]
    assert not check_record(forged, data, str(path))["verified"]
    fit.save(tmp_path / "again.json")
    assert fsopt.load_fit(tmp_path / "again.json").method == method


@pytest.mark.parametrize(
    ("checkpoint", "method", "other"),
    [
        ("gbd-branch", "best-subset", "gbd"),
        ("gbd-loop", "gbd", "best-subset"),
        ("gbd-loop-highs", "gbd", "best-subset"),
    ],
)
def test_a_checkpoint_of_a_name_that_was_two_algorithms_is_resumed_by_one(checkpoint, method, other, data, tmp_path):
    path = shutil.copy(SECOND / f"{checkpoint}.npz", tmp_path)
    optimum = fsopt.load_fit(SECOND / "fit-gbd.json")
    fit = fsopt.fit(method, data, m=3, resume=path)
    assert (fit.status, fit.support) == ("optimal", optimum.support)
    assert fit.objective == pytest.approx(optimum.objective, rel=2e-6)
    assert fit.bound == pytest.approx(optimum.objective, rel=2e-6)
    with pytest.raises(FsoptError, match="is a checkpoint of") as caught:
        fsopt.fit(other, data, m=3, resume=path)
    assert method in caught.value.hint


@pytest.mark.parametrize(("variant", "method"), [("branch-and-benders", "best-subset"), ("paper", "gbd")])
def test_a_call_with_a_variant_warns_with_the_name_of_today(variant, method, data):
    with pytest.warns(DeprecationWarning, match=f"method '{method}'"):
        fit = fsopt.fit("gbd", data, m=3, variant=variant)
    assert fit.method == method
    assert "variant" not in fit.params
    assert fit.objective == pytest.approx(fsopt.fit(method, data, m=3).objective, rel=1e-9)
