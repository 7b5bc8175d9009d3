"""``fsopt certify``: claims of other software that hold, and false optima, each refused with its reason."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from support import ROOT, written

import fsopt
from fsopt.answers.results import Status
from fsopt.compiler.classes import CONVEX

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
    assert found["verified"]


@pytest.mark.parametrize("name", ["gmeb-dual.cbf", "gmeb-primal.lp"])
def test_an_optimum_without_evidence_is_refused(name, certify):
    found = certify(file(name), holds=False)
    assert not found["verified"]
    assert found["reason"] == "nothing in the answer bounds the optimum"
    assert found["certificate"]["residuals"]["infeasibility"] <= 1e-7


@pytest.mark.parametrize("name", ["fsv-exact.lp", "fsp-m-bigm.mps"])
def test_the_bound_of_an_integer_program_is_the_word_of_the_software(name, certify):
    found = certify(file(name))
    assert (found["claimed"], found["status_line"]) == ("optimal", f"optimal (bound: {found['software']})")
    assert found["bound"] == pytest.approx(stored(name.split(".")[0])["objective"], rel=1e-6)


def test_exact_arithmetic(certify):
    found = certify(file("svm.mps"), "--exact")
    assert found["confirmed"]
    assert found["exact"]["word"] == "verified exactly"


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
        "nothing in the answer bounds",
    ),
    "an integer off by 1e-4": ("fsv-exact", moved("fsv-exact", "t", -1e-4), "is no whole number"),
    "a violated bound": ("onsvm", moved("onsvm", "xi", -0.01), "violates"),
    "a false objective of a maximum": ("svm-dual", stored("svm-dual", objective=8.0), "recomputed 7.9"),
    "no duals": ("rlp", stored("rlp", duals={}), "nothing in the answer bounds"),
    "a claim of unboundedness": ("rlp", {"status": "unbounded", "variables": None}, "nothing in the answer proves"),
}


@pytest.mark.parametrize("case", FALSE)
def test_a_false_optimum_is_refused_with_the_reason(case, tmp_path, certify):
    slug, record, words = FALSE[case]
    model, answer = file(f"{slug}.lp"), written(tmp_path, "answer.json", json.dumps(record))
    found = certify(model, solution=answer, holds=False)
    assert not found["verified"]
    assert re.search(words, found["reason"]), found["reason"]


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


@pytest.mark.slow
@pytest.mark.parametrize(("model", "solution"), PAIRS, ids=lambda path: path.name)
def test_every_pair_of_files_of_the_library_is_certified(model, solution):
    """From the files alone: every convex optimum with multipliers; of other models the point and its value."""
    program = fsopt.read_model(model)
    answer = fsopt.read_solution(solution, program)
    kind = fsopt.classify(program)
    if kind not in CONVEX or answer.status == "feasible":
        found = fsopt.verify(replace(answer, status=Status.FEASIBLE, bound=None), program)
        assert found.verified, found.reason
        return
    found = fsopt.verify(answer, program)
    if not found.verified and found.reason == "nothing in the answer bounds the optimum":  # the file has no multipliers
        found = fsopt.verify(replace(answer, status=Status.FEASIBLE), program)
    assert found.verified, found.reason
