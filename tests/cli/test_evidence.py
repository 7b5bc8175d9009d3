"""``check`` of answers, proofs and solutions, and ``fsopt-verify``: true claims hold, false ones have a reason."""

import ast
import gzip
import json
import shutil
import subprocess
import sys
from fractions import Fraction

import highspy
import pytest
from support import ROOT, sampled

import fsopt
from fsopt.verifier import verify

MODELS = ROOT / "models"


@pytest.fixture
def saved(small, run):
    run("fit onsvm --data small.csv -o fit.json")
    return small / "fit.json"


def file(name):
    slug, suffix = name.split(".")
    return MODELS / slug / f"{slug}.{suffix}"


def test_check_prints_the_interval_as_fractions_and_the_word(saved, run):
    found = run("check fit.json --data small.csv --exact --json")
    assert found["exact"]["word"] == "verified exactly"
    (claim,) = found["exact"]["claims"]
    assert found["confirmed"]
    assert found["statement"]["origin"]["parameters"] == {"c": 1.0}
    assert (found["sense"], found["lower"], found["upper"]) == ("min", claim["lower"], claim["upper"])
    assert Fraction(found["gap"]) < Fraction(1, 10**6)
    lower, upper = Fraction(claim["lower"]), Fraction(claim["upper"])
    assert Fraction(claim["interval"][0]) <= lower <= upper <= Fraction(claim["interval"][1])
    record = json.loads(saved.read_text())
    assert lower - Fraction(1, 10**6) <= Fraction(record["objective"]) <= upper + Fraction(1, 10**6)
    assert "verified exactly: optimal" in run("check fit.json --data small.csv --exact")
    # A change that numerical tolerances allow breaks the digest, and with it the word.
    for factor in (1.01, 1 + 1e-12):
        saved.write_text(json.dumps({**record, "objective": factor * record["objective"]}))
        found = run("check fit.json --data small.csv --exact --json", code=1)
        assert found["exact"]["word"] == "not verified exactly"


def test_a_claim_that_is_not_shown_has_its_reason_and_fit_has_the_word(small, run):
    run("fit s-mpm --data small.csv --param ridge=0.01 -o fit.json")
    text = run("check fit.json --data small.csv --exact", code=1)
    assert "not verified exactly" in text
    assert "numerically alone" in text
    assert "verified exactly" in run("fit svm --data small.csv --exact -o fit.json")
    assert run("fit svm --data small.csv --exact --json")["exact"]["word"] == "verified exactly"
    assert run("check fit.json --data small.csv --json")["verified"]


def test_a_solve_of_a_slug_and_of_a_file_is_proved(small, run):
    run("solve mpm --data small.csv --scale standard -o solve.json")
    assert run("check solve.json --data small.csv --proof proof.json --json")["exact"]["word"] == "verified exactly"
    assert verify.main(["proof.json"]) == 0
    shutil.copy(file("onsvm.mps"), "own.mps")
    shutil.copy(file("rlp.mps"), "other.mps")
    run("solve own.mps -o solved.json")
    run("check solved.json --data own.mps --proof proof.json")
    assert verify.main(["proof.json"]) == 0
    assert run("check proof.json --data own.mps --json")["confirmed"]
    assert not run("check proof.json --data other.mps --json", code=1)["confirmed"]
    assert run("check solved.json --data own.mps --exact --json")["verified"]


def test_check_takes_a_proof_file(small, run):
    shutil.copy(MODELS / "onsvm" / "data.csv", "data.csv")
    (small / "other.csv").write_text((small / "data.csv").read_text().replace("0.", "0.1", 1))
    run("fit onsvm data.csv -o fit.json")
    run("check fit.json --data data.csv --proof proof.json.gz")
    shown = run("check proof.json.gz --data data.csv")
    assert 'onsvm {"c": 1.0} {"scale": "standard", "units": "given"}' in shown
    assert "confirmed  proved for the programs of the data data.csv" in shown
    assert run("check proof.json.gz --data other.csv --json", code=1)["reason"].startswith("the data are other ones")


@pytest.mark.parametrize("options", sampled([["-I"], []], 1), ids=["without the folder of the file", "with its folder"])
def test_a_copy_of_the_folder_alone_confirms_and_refutes(options, saved, run):
    run("check fit.json --data small.csv --proof proof.json.gz")
    copied = shutil.copytree(ROOT / "fsopt" / "verifier", saved.parent / "verifier")
    alone = [sys.executable, *options, "-S", str(copied), "proof.json.gz"]
    found = subprocess.run(alone, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    assert "confirmed  proved for the programs in this file" in found.stdout
    with gzip.open("proof.json.gz") as packed:
        proof = json.load(packed)
    proof["claims"][0]["evidence"]["point"][0][1] = 5
    (saved.parent / "proof.json.gz").write_text(json.dumps(proof))
    found = subprocess.run(alone, capture_output=True, text=True, check=False)
    assert found.returncode == 1
    assert found.stdout.splitlines()[-1].startswith("REFUTED")


def test_the_verifier_has_a_usage_and_imports_the_standard_library_alone(capsys):
    for words, code in ((["--help"], 0), ([], 2), (["proof.json", "--work"], 2)):
        with pytest.raises(SystemExit) as ended:
            verify.main(words)
        assert ended.value.code == code
        assert "usage: fsopt-verify" in "".join(capsys.readouterr())
    for path in sorted((ROOT / "fsopt" / "verifier").glob("*.py")):
        nodes = list(ast.walk(ast.parse(path.read_text())))
        names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
        names += [node.module for node in nodes if isinstance(node, ast.ImportFrom) if node.level == 0]
        assert {name.split(".")[0] for name in names} <= {*sys.stdlib_module_names, "verifier"}, path.name
        assert "float(" not in path.read_text()


WORDS = {"misclass-milp": "optimal (bound: highs)", "onsvm": "optimal", "fsp-m-bigm": "optimal (bound: scip)"}


@pytest.mark.parametrize("slug", sampled(WORDS, 2))
def test_slug_file_and_python_have_the_same_words(slug, small, run):
    line = WORDS[slug]
    for name in (f"{slug}.mps", "data.csv"):
        shutil.copy(MODELS / slug / name, small)
    model = fsopt.read_model(f"{slug}.mps")
    result = fsopt.solve(model)
    own = fsopt.verify(result, model)
    assert (result.status_line, own.status_line, own.verified) == (line, line, True)
    for source, of in ((f"{slug} --data data.csv", "--data data.csv"), (f"{slug}.mps", f"--data {slug}.mps")):
        assert f" {line}\n" in run(f"solve {source} -o solved.json")
        assert f"verified numerically: {line}, by a certificate" in run(f"check solved.json {of}")
        found = run(f"check solved.json {of} --json")
        assert (found["verified"], found["status_line"], found["reason"]) == (True, line, "")


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
    assert "read by HiGHS 1." in run("solve", file("rlp.mps"))
