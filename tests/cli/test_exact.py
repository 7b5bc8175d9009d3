"""``check --exact``, ``evidence``, ``fit --exact`` and ``fsopt-verify``: words, fractions, exit codes."""

import ast
import json
import shutil
import subprocess
import sys
from fractions import Fraction

import pytest
from support import ROOT, sampled

from fsopt.cli import main
from fsopt.verifier import verify


def run(command, capsys, code=0):
    with pytest.raises(SystemExit) as stopped:
        main(command.split())
    out = capsys.readouterr().out
    assert stopped.value.code == code
    return json.loads(out) if "--json" in command else out


@pytest.fixture
def saved(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    run("fit onsvm --data wdbc -o fit.json", capsys)
    return tmp_path / "fit.json"


def test_check_prints_the_interval_as_fractions_and_the_word(saved, capsys):
    found = run("check fit.json --data wdbc --exact --json", capsys)
    assert found["exact"]["word"] == "verified exactly"
    assert "stored doubles, after preprocessing" in found["exact"]["about"]
    (claim,) = found["exact"]["claims"]
    lower, upper = Fraction(claim["lower"]), Fraction(claim["upper"])
    assert Fraction(claim["interval"][0]) <= lower <= upper <= Fraction(claim["interval"][1])
    objective = json.loads(saved.read_text())["objective"]
    assert lower - Fraction(1, 10**6) <= Fraction(objective) <= upper + Fraction(1, 10**6)
    text = run("check fit.json --data wdbc --exact", capsys)
    assert "verified exactly" in text
    assert "relative width" in text
    assert "exact" not in run("check fit.json --data wdbc", capsys)


def test_the_word_is_not_given_where_the_file_was_changed(saved, capsys):
    record = json.loads(saved.read_text())
    record["objective"] *= 1.01
    saved.write_text(json.dumps(record))
    found = run("check fit.json --data wdbc --exact --json", capsys, code=1)
    assert found["exact"]["word"] == "not verified exactly"
    # A change that numerical tolerances allow breaks the digest, and with it the word.
    record["objective"] *= (1 + 1e-12) / 1.01
    saved.write_text(json.dumps(record))
    assert run("check fit.json --data wdbc --exact --json", capsys, code=1)["exact"]["word"] == "not verified exactly"


def test_a_claim_that_is_not_shown_has_its_reason(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    run("fit s-mpm --data wdbc -o fit.json", capsys)
    text = run("check fit.json --data wdbc --exact", capsys, code=1)
    assert "not verified exactly" in text
    assert "numerically alone" in text


def test_fit_takes_exact_and_saves_what_can_be_checked(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert "verified exactly" in run("fit svm --data wdbc --exact -o fit.json", capsys)
    assert run("fit svm --data wdbc --exact --json", capsys)["exact"]["word"] == "verified exactly"
    assert run("check fit.json --data wdbc --json", capsys)["verified"]


@pytest.mark.slow
def test_compare_shows_the_word_of_each_row(capsys):
    text = run("compare --data wdbc --methods svm,s-mpm --folds 2 --jobs 1 --exact", capsys)
    assert "svm: verified exactly" in text
    assert "s-mpm: not verified exactly (" in text


def test_a_solve_is_written_and_confirmed(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    run("solve mpm --data wdbc --scale standard -o solve.json", capsys)
    assert run("evidence solve.json --data wdbc -o proof.json --json", capsys)["word"] == "verified exactly"
    assert verify.main(["proof.json"]) == 0


@pytest.mark.parametrize("options", sampled([["-I"], []], 1), ids=["without the folder of the file", "with its folder"])
def test_the_file_alone_confirms_and_refutes(options, saved, capsys):
    run("evidence fit.json --data wdbc -o proof.json", capsys)
    script = ROOT / "fsopt" / "verifier" / "verify.py"
    alone = [sys.executable, *options, "-S", str(script), "proof.json"]
    found = subprocess.run(alone, capture_output=True, text=True, check=False)
    assert found.returncode == 0
    assert found.stdout.endswith("confirmed  proved for the program in this file; not compared with data\n")
    proof = json.loads((saved.parent / "proof.json").read_text())
    proof["proof"][0]["point"][0] += 1e-9
    (saved.parent / "proof.json").write_text(json.dumps(proof))
    found = subprocess.run(alone, capture_output=True, text=True, check=False)
    assert found.returncode == 1
    assert found.stdout.splitlines()[-1].startswith("REFUTED")


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"format": "fsopt proof 2", "proof": []}', '{"format": "fsopt proof 1", "parts": [1]}']
)
def test_what_is_no_proof_is_an_error_in_one_line(text, tmp_path, capsys):
    path = tmp_path / "proof.json"
    path.write_text(text)
    assert verify.main([str(path)]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert verify.main([str(tmp_path / "none.json")]) == 2


def test_usage(capsys):
    assert verify.main(["--help"]) == 0
    assert verify.main([]) == 2
    assert "usage" in capsys.readouterr().out


@pytest.mark.parametrize(
    "name", ["verify.py", "verify_data.py", "verify_files.py", "verify_trees.py", "verify_functions.py"]
)
def test_the_files_import_the_standard_library_alone(name):
    text = (ROOT / "fsopt" / "verifier" / name).read_text()
    tree = ast.parse(text)
    names = [a.name for node in ast.walk(tree) if isinstance(node, ast.Import) for a in node.names]
    names += [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    imported = {name.split(".")[0] for name in names}
    assert imported <= set(sys.stdlib_module_names)
    assert "float(" not in text or name != "verify.py"


def test_a_tree_is_saved_checked_and_confirmed(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    data = shutil.copy(ROOT / "models" / "misclass-milp" / "data.csv", "data.csv")
    run(f"solve misclass-milp --data {data} --param big_m=100 --prove 30 -o solved.json", capsys)
    shown = run(f"check solved.json --data {data} --exact --json", capsys)
    assert shown["certificate"]["bound_source"].startswith("proved by fsopt")
    assert [Fraction(shown["exact"]["claims"][0][end]) for end in ("lower", "upper")] == pytest.approx([2, 2])
    run(f"evidence solved.json --data {data} -o proof.json", capsys)
    assert verify.main(["proof.json"]) == 0
    held = json.loads((tmp_path / "proof.json").read_text())
    held["statement"]["claims"][0] |= {"lower": 3, "upper": 3}
    (tmp_path / "proof.json").write_text(json.dumps(held))
    assert verify.main(["proof.json"]) == 1


def test_the_search_of_a_tree_goes_on_from_its_checkpoint(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for slug in ("fsv-exact", "misclass-milp"):
        shutil.copy(ROOT / "models" / slug / f"{slug}.mps", tmp_path)
    solve = "solve fsv-exact.mps --json --checkpoint tree.npz"
    assert "--checkpoint is for the tree of --prove" in run(solve, capsys, 2)["error"]["message"]
    first = run(f"{solve} --prove 30", capsys)
    again = run("solve fsv-exact.mps --json --prove 30 --resume tree.npz", capsys)
    assert (again["status"], again["history"]) == ("optimal", [])
    assert again["objective"] == pytest.approx(first["objective"], rel=1e-9)
    assert again["bound"] == pytest.approx(first["bound"], rel=1e-9)
    refused = run("solve misclass-milp.mps --json --prove 30 --resume tree.npz", capsys, 2)["error"]["message"]
    assert "is of another program" in refused
    assert "\n" not in refused
