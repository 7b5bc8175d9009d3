"""``check --exact`` and ``--proof``, ``fit --exact`` and ``fsopt-verify``: words, fractions, exit codes."""

import ast
import gzip
import json
import shutil
import subprocess
import sys
from fractions import Fraction

import pytest
from support import ROOT, sampled

from fsopt.verifier import verify


@pytest.fixture
def saved(small, run):
    run("fit onsvm --data small.csv -o fit.json")
    return small / "fit.json"


def test_check_prints_the_interval_as_fractions_and_the_word(saved, run):
    found = run("check fit.json --data small.csv --exact --json")
    assert found["exact"]["word"] == "verified exactly"
    assert "stored doubles, after preprocessing" in found["exact"]["about"]
    (claim,) = found["exact"]["claims"]
    assert found["confirmed"]
    assert found["statement"]["origin"]["parameters"] == {"c": 1.0}
    assert (found["sense"], found["lower"], found["upper"]) == ("min", claim["lower"], claim["upper"])
    assert Fraction(found["gap"]) < Fraction(1, 10**6)
    lower, upper = Fraction(claim["lower"]), Fraction(claim["upper"])
    assert Fraction(claim["interval"][0]) <= lower <= upper <= Fraction(claim["interval"][1])
    objective = json.loads(saved.read_text())["objective"]
    assert lower - Fraction(1, 10**6) <= Fraction(objective) <= upper + Fraction(1, 10**6)
    text = run("check fit.json --data small.csv --exact")
    assert "verified exactly" in text
    assert "relative width" in text
    assert "exact" not in run("check fit.json --data small.csv")


def test_the_word_is_not_given_where_the_file_was_changed(saved, run):
    record = json.loads(saved.read_text())
    # A change that numerical tolerances allow breaks the digest, and with it the word.
    for factor in (1.01, 1 + 1e-12):
        saved.write_text(json.dumps({**record, "objective": factor * record["objective"]}))
        found = run("check fit.json --data small.csv --exact --json", code=1)
        assert found["exact"]["word"] == "not verified exactly"


def test_a_claim_that_is_not_shown_has_its_reason(small, run):
    run("fit s-mpm --data small.csv --param ridge=0.01 -o fit.json")
    text = run("check fit.json --data small.csv --exact", code=1)
    assert "not verified exactly" in text
    assert "numerically alone" in text


def test_fit_takes_exact_and_saves_what_can_be_checked(small, run):
    assert "verified exactly" in run("fit svm --data small.csv --exact -o fit.json")
    assert run("fit svm --data small.csv --exact --json")["exact"]["word"] == "verified exactly"
    assert run("check fit.json --data small.csv --json")["verified"]


@pytest.mark.slow
@pytest.mark.usefixtures("in_process")
def test_compare_shows_the_word_of_each_row(small, run):
    text = run("compare --data small.csv --methods svm,s-mpm --folds 2 --jobs 1 --exact")
    assert "svm: verified exactly" in text
    assert "s-mpm: not verified exactly (" in text


def test_a_solve_is_written_and_confirmed(small, run):
    run("solve mpm --data small.csv --scale standard -o solve.json")
    assert run("check solve.json --data small.csv --proof proof.json --json")["exact"]["word"] == "verified exactly"
    assert verify.main(["proof.json"]) == 0


@pytest.mark.parametrize("options", sampled([["-I"], []], 1), ids=["without the folder of the file", "with its folder"])
def test_a_copy_of_the_folder_alone_confirms_and_refutes(options, saved, run):
    run("check fit.json --data small.csv --proof proof.json.gz")
    copied = shutil.copytree(ROOT / "fsopt" / "verifier", saved.parent / "verifier")
    alone = [sys.executable, *options, "-S", str(copied), "proof.json.gz"]
    found = subprocess.run(alone, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    assert "confirmed  proved for the programs in this file" in found.stdout
    with gzip.open(saved.parent / "proof.json.gz") as file:
        proof = json.load(file)
    proof["claims"][0]["evidence"]["point"][0][1] = 5
    (saved.parent / "proof.json.gz").write_text(json.dumps(proof))
    found = subprocess.run(alone, capture_output=True, text=True, check=False)
    assert found.returncode == 1
    assert found.stdout.splitlines()[-1].startswith("REFUTED")


def test_usage(capsys):
    for words, code in ((["--help"], 0), ([], 2), (["proof.json", "--work", "x"], 2)):
        with pytest.raises(SystemExit) as ended:
            verify.main(words)
        assert ended.value.code == code
        assert "usage: fsopt-verify" in "".join(capsys.readouterr())


def test_the_files_import_the_standard_library_alone():
    files = sorted((ROOT / "fsopt" / "verifier").glob("*.py"))
    for file in files:
        nodes = list(ast.walk(ast.parse(file.read_text())))
        names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
        names += [node.module for node in nodes if isinstance(node, ast.ImportFrom) if node.level == 0]
        assert {name.split(".")[0] for name in names} <= {*sys.stdlib_module_names, "verifier"}, file.name
        assert "float(" not in file.read_text()


def test_check_takes_a_proof_file(tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    shutil.copy(ROOT / "models" / "onsvm" / "data.csv", "data.csv")
    run("fit onsvm --data data.csv -o fit.json")
    run("check fit.json --data data.csv --proof proof.json.gz")
    shown = run("check proof.json.gz --data data.csv")
    assert 'onsvm {"c": 1.0} {"scale": "standard", "units": "given"}' in shown
    assert "confirmed  proved for the programs of the data data.csv" in shown
    assert run("check proof.json.gz --data data.csv --exact --json")["confirmed"]
    (tmp_path / "other.csv").write_text((tmp_path / "data.csv").read_text().replace("0.", "0.1", 1))
    assert run("check proof.json.gz --data other.csv --json", code=1)["reason"].startswith("the data are other ones")
    assert "no data are given" in run("check proof.json.gz --json", code=2)["error"]["message"]
    # Of a table that has to be told how it is read.
    (tmp_path / "own.csv").write_text((tmp_path / "data.csv").read_text().replace("label", "ill", 1))
    run("fit onsvm --data own.csv --target ill -o own.json")
    run("check own.json --data own.csv --target ill --proof own.proof.json")
    assert run("check own.proof.json --data own.csv --target ill --json")["confirmed"]


def test_an_answer_to_a_model_file_is_written_and_checked(tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    shutil.copy(ROOT / "models" / "onsvm" / "onsvm.mps", "own.mps")
    shutil.copy(ROOT / "models" / "rlp" / "rlp.mps", "other.mps")
    run("solve own.mps -o solved.json")
    run("check solved.json --data own.mps --proof proof.json")
    assert verify.main(["proof.json"]) == 0
    assert run("check proof.json --data own.mps --exact --json")["confirmed"]
    assert not run("check proof.json --data other.mps --exact --json", code=1)["confirmed"]
    assert run("check solved.json --data own.mps --exact --json")["verified"]
