"""``fsopt check --solution``: claims of other software that hold, and false optima, each refused with its reason."""

import json
import re
from dataclasses import replace

import highspy
import pytest
from support import ROOT, written

import fsopt
from fsopt.answers.results import Status

MODELS = ROOT / "models"


@pytest.fixture
def check(run):
    """Check a solution of a model, by default the stored optimum; the exit code is 0 where it is verified."""

    def call(model, *options, solution=None, holds=True):
        solution = solution or model.parent / "optimum.json"
        return run("check", model, "--solution", solution, "--json", *options, code=int(not holds))

    return call


def file(name: str):
    slug, suffix = name.split(".")
    return MODELS / slug / f"{slug}.{suffix}"


def stored(slug: str, **changes) -> dict:
    return {**json.loads((MODELS / slug / "optimum.json").read_text()), **changes}


@pytest.mark.parametrize("name", ["rlp.lp", "svm-dual.mps", "onsvm.mps"])
def test_the_optimum_of_a_convex_instance_holds_from_its_files_alone(name, check):
    found = check(file(name))
    assert (found["claimed"], found["recomputed"]) == ("optimal", "optimal")
    assert found["verified"]


def test_exact_arithmetic(check):
    found = check(file("svm.mps"), "--exact")
    assert found["confirmed"]
    assert found["exact"]["word"] == "verified exactly"


def moved(slug: str, pattern: str, by: float, **changes) -> dict:
    """Return a solution with the first variable of a name moved."""
    record = stored(slug, **changes)
    name = next(n for n in record["variables"] if re.match(pattern, n))
    return {**record, "variables": {**record["variables"], name: record["variables"][name] + by}}


FALSE = {
    "a worse point called optimal, LP": ("rlp", moved("rlp", "y", 0.5, objective=None), "elsewhere|objective"),
    "a worse point called optimal, QP": ("svm", moved("svm", "xi", 0.5, objective=None), "elsewhere|objective"),
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
def test_a_false_optimum_is_refused_with_the_reason(case, tmp_path, check):
    slug, record, words = FALSE[case]
    model, answer = file(f"{slug}.lp"), written(tmp_path, "answer.json", json.dumps(record))
    found = check(model, solution=answer, holds=False)
    assert not found["verified"]
    assert re.search(words, found["reason"]), found["reason"]


def test_another_models_point_and_options_of_data_are_bad_input(run):
    model = file("rlp.lp")
    assert "no variable" in run.refusal("check", model, "--solution", MODELS / "svm" / "optimum.json")
    assert "--data is for models on data sets" in run.refusal("solve", model, "--data", "wdbc")


PAIRS = [
    (path, path.with_name(path.name.replace(".mps.gz", ".best.json.gz")))
    for path in sorted((MODELS / "realistic").glob("*.mps.gz"))
]


@pytest.mark.slow
@pytest.mark.parametrize(("model", "solution"), PAIRS, ids=lambda path: path.name)
def test_every_file_of_the_shelf_that_highs_reads_has_its_best_point_verified(model, solution):
    """From the files alone: convex optima by multipliers, others by the word of a solver; without either the point."""
    program = fsopt.read_model(model)
    answer = fsopt.read_solution(solution, program)
    found = fsopt.verify(answer, program)
    if found.reason == "nothing in the answer bounds the optimum":  # the file has no multipliers
        found = fsopt.verify(replace(answer, status=Status.FEASIBLE, bound=None), program)
    assert found.verified, found.reason


def test_a_model_by_its_name_and_data(run, tmp_path):
    """Answers to exports: HiGHS's raw style, and AMPL's .sol of the library; another scale is another model."""
    folder, lp, raw = MODELS / "rlp", tmp_path / "rlp.lp", tmp_path / "answer.sol"
    data = "--data", folder / "data.csv"
    found = run("check rlp --json", *data, "--solution", folder / "rlp.sol")
    assert (found["claimed"], found["verified"], found["software"]) == ("optimal", True, "AMPL (rlp)")
    run("export onsvm --param c=3 --scale standard --json", *data, "-o", lp)
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.readModel(str(lp))
    solver.run()
    solver.writeSolution(str(raw), 0)
    found = run("check onsvm --param c=3 --scale standard --exact --json", *data, "--solution", raw)
    assert (found["claimed"], found["verified"], found["software"]) == ("optimal", True, "HiGHS")
    assert not run("check onsvm --param c=3 --json", *data, "--solution", raw, code=1)["verified"]


def test_what_is_no_answer_and_what_was_removed_is_one_line(run, tmp_path):
    path = file("rlp.mps")
    for *words, said in (
        ("check", path, "is a model, no answer: give what its solver wrote with --solution FILE"),
        ("check rlp --data wdbc", "is a model, no answer"),
        ("check fit.json --data wdbc --param c=1", "--param is for the model of --solution"),
        ("check", file("rlp.nl"), "--solution", "x.sol", "fsopt reads .lp and .mps, by HiGHS"),
        ("solve", file("gmeb-dual.cbf"), "fsopt reads .lp and .mps, by HiGHS"),
        ("solve", file("gmeb-dual.lp"), "quadratic constraints are not supported by HiGHS"),
        ("export", path, "-o", tmp_path / "x.lp", "is a model file already"),
        ("convert a.mps b.lp", "write_model_file"),
    ):
        assert said in run.refusal(*words)
    assert "read by HiGHS 1." in run("solve", path)
    assert run("solve", path, "--json")["file"]["read_by"].startswith("HiGHS 1.")
