"""``fsopt certify``: claims of other software that hold, and false optima, each refused with its reason."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from support import ROOT, written

import fsopt
from fsopt.answers.results import Status
from fsopt.verification.foreign import supported

MODELS = ROOT / "models"


@pytest.fixture
def certify(run):
    """Certify a solution of a model, by default the stored optimum; the exit code is 0 where it is verified."""

    def call(model, *options, solution=None, holds=True):
        solution = solution or model.parent / "optimum.json"
        return run("certify", model, solution, "--json", *options, code=int(not holds))

    return call


def file(name: str):
    slug, suffix = name.split(".")
    return MODELS / slug / f"{slug}.{suffix}"


def stored(slug: str, **changes) -> dict:
    return {**json.loads((MODELS / slug / "optimum.json").read_text()), **changes}


@pytest.mark.parametrize("name", ["rlp.lp", "svm-dual.mps", "rsvm.nl", "mpm.lp"])
def test_the_optimum_of_a_convex_instance_holds_from_its_files_alone(name, certify):
    found = certify(file(name))
    assert (found["claimed"], found["recomputed"]) == ("optimal", "optimal")
    assert found["word"] == "verified numerically"


@pytest.mark.parametrize("name", ["gmeb-dual.cbf", "gmeb-primal.lp", "fsv-exact.lp", "fsp-m-bigm.mps"])
def test_evidence_that_the_file_lacks_is_found_on_request_for_integers_as_a_tree(name, certify):
    found = certify(file(name), holds=False)
    assert not found["verified"]
    assert "nothing in the file bounds the optimum" in found["reason"]
    assert found["certificate"]["residuals"]["infeasibility"] <= 1e-7
    found = certify(file(name), "--prove", "60")
    assert found["recomputed"] == "optimal"
    assert found["certificate"]["bound_source"].startswith("proved by fsopt") == name.startswith("fs")
    assert found["bound"] == pytest.approx(stored(name.split(".")[0])["objective"], rel=1e-6)


def test_exact_arithmetic(certify):
    found = certify(file("svm.mps"), "--exact")
    assert found["word"] == found["exact"]["word"] == "verified exactly"


def moved(slug: str, pattern: str, by: float, **changes) -> dict:
    """Return a solution with the first variable of a name moved."""
    record = stored(slug, **changes)
    name = next(n for n in record["variables"] if re.match(pattern, n))
    return {**record, "variables": {**record["variables"], name: record["variables"][name] + by}}


FALSE = {
    "a worse point called optimal, LP": ("rlp", moved("rlp", "y", 0.5, objective=None), "elsewhere|objective"),
    "a worse point called optimal, SOCP": ("rsvm", moved("rsvm", "xi", 0.5, objective=None), "elsewhere|objective"),
    "a worse point of an integer program": (
        "fsv-exact",
        moved("fsv-exact", "y", 0.5, objective=None),
        "nothing in the file bounds",
    ),
    "an integer off by 1e-4": ("fsv-exact", moved("fsv-exact", "t", -1e-4), "is no whole number: 't"),
    "a violated bound": ("onsvm", moved("onsvm", "xi", -0.01), "violates"),
    "a false objective of a maximum": ("svm-dual", stored("svm-dual", objective=8.0), "stated 8, recomputed 7.9"),
    "no duals": ("rlp", stored("rlp", duals={}), "nothing in the file bounds"),
    "a claim of unboundedness": ("rlp", {"status": "unbounded", "variables": None}, "nothing that proves it"),
}


@pytest.mark.parametrize("case", FALSE)
def test_a_false_optimum_is_refused_with_the_reason(case, tmp_path, certify):
    slug, record, words = FALSE[case]
    model, answer = file(f"{slug}.lp"), written(tmp_path, "answer.json", json.dumps(record))
    found = certify(model, solution=answer, holds=False)
    assert not found["verified"]
    assert re.search(words, found["reason"]), found["reason"]
    if case.startswith("a worse point"):
        answer = written(tmp_path, "answer.json", json.dumps({**record, "duals": {}}))
        found = certify(model, "--prove", "60", solution=answer, holds=False)
        assert found["bound"] == pytest.approx(stored(slug)["objective"], rel=1e-6)
        assert "bounded elsewhere" in found["reason"]


def test_another_models_point_and_options_of_data_are_bad_input(run):
    model = file("rlp.lp")
    assert "no variable" in run.refusal("certify", model, MODELS / "svm" / "optimum.json")
    assert "--data is for models on data sets" in run.refusal("solve", model, "--data", "wdbc")


def test_a_file_with_complementarities_is_refused(run):
    folder = MODELS / "fsv-lpec"
    assert "complementarities: state them by integers" in run.refusal(
        "certify", folder / "fsv-lpec.nl", folder / "optimum.json"
    )


PAIRS = [
    (path, answer)
    for path in sorted(MODELS.glob("*/*.*"))
    if path.suffix in (".lp", ".mps", ".nl", ".cbf")
    for answer in (path.parent / "optimum.json", path.with_suffix(".sol"))
    if answer.is_file() and (answer.suffix == ".json" or path.suffix == ".nl")
    if not path.stem.endswith("-lpec")  # complementarities are written, not read
]
PAIRS += [
    (path, path.with_name(re.sub(r"\.(mps|cbf)\.gz", ".best.json.gz", path.name)))
    for path in sorted((MODELS / "realistic").glob("*.gz"))
    if re.search(r"\.(mps|cbf)\.gz$", path.name)
]
LONG = ("fsp-m-bigm", "fsv-exact", "misclass-milp")
"""Models whose realistic instances take longer than the test has."""


@pytest.mark.slow
@pytest.mark.parametrize(("model", "solution"), PAIRS, ids=lambda path: path.name)
def test_every_pair_of_files_of_the_library_is_certified(model, solution):
    """From the files alone: every convex and every integer optimum; of other models the point and its value."""
    program = fsopt.read_model(model)
    answer = fsopt.read_solution(solution, program)
    kind = fsopt.classify(program)
    bounded = kind not in ("NLP", "MINLP") and not (solution.suffix == ".gz" and model.name.startswith(LONG))
    if not bounded or answer.status == "feasible":
        found = fsopt.verify(replace(answer, status=Status.FEASIBLE, bound=None), program)
        assert found.verified, found.reason
        return
    found = fsopt.verify(answer, program)
    if not found.verified:
        found = fsopt.verify(supported(program, answer, 60.0), program)
    assert found.verified, found.reason
    assert found.recomputed == "optimal"
