"""Changed models through fit, studies and check; models and methods of other packages by entry points."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pyomo.environ as pyo
import pytest
from support import ROOT, blobs

import fsopt
from fsopt import compare
from fsopt.answers.saved import fit_record, sealed
from fsopt.cli import main
from fsopt.errors import FileError, ParameterError, UnknownNameError
from fsopt.methods.registry import METHODS
from fsopt.models.registry import MODELS
from fsopt.studies.tuning import cross_validate
from fsopt.verification.checking import check_record

PACKAGE = ROOT / "tests" / "own_package"
DATA = blobs(40, 6, seed=3)


def rule(model):
    model.own_rule = pyo.Constraint(expr=model.sigma[0] + model.sigma[1] <= 1)


def without(model):
    model.w[0].fix(0.0)


def sealed_fit(found):
    return sealed(fit_record(found, data=DATA, source="blobs"))


def brute_force(m, allowed):
    import itertools

    from fsopt.methods.preprocessing import preprocess

    work, _ = preprocess(DATA, "standard")
    values = {}
    for chosen in itertools.combinations(range(DATA.p), m):
        if allowed(chosen):
            model = fsopt.build("fsp-sub", work, sigma=[float(j in chosen) for j in range(DATA.p)], c=1.0)
            values[chosen] = fsopt.solve(model, "clarabel").objective
    return min(values.values())


def test_a_rule_of_the_master_gives_the_best_selection_that_keeps_it():
    free = fsopt.fit("gbd", DATA, m=2, c=1.0)
    kept = fsopt.fit("gbd", DATA, m=2, c=1.0, customise={"fsp-master": rule})
    assert kept.details["customised"] == {"fsp-master": "rule"}
    assert not {0, 1} <= set(kept.support)
    assert {0, 1} <= set(free.support), "the rule must cut off the optimum, or this tests nothing"
    assert kept.status == "optimal"
    assert kept.objective == pytest.approx(brute_force(2, lambda s: not {0, 1} <= set(s)), rel=1e-6)


def test_check_verifies_a_changed_fit_with_its_change_and_refuses_it_without():
    record = sealed_fit(fsopt.fit("gbd", DATA, m=2, c=1.0, customise={"fsp-master": rule}))
    found = check_record(record, DATA, "fit.json", customise={"fsp-master": rule})
    assert (found["verified"], found["claimed"]) == (True, "optimal")
    with pytest.raises(FileError, match=r"changed models: fsp-master by rule.*--customise"):
        check_record(record, DATA, "fit.json")
    unchanged = sealed_fit(fsopt.fit("gbd", DATA, m=2, c=1.0))
    with pytest.raises(FileError, match="unchanged models"):
        check_record(unchanged, DATA, "fit.json", customise={"fsp-master": rule})
    forged = {**record, "details": {k: v for k, v in record["details"].items() if k != "customised"}}
    with pytest.raises(FileError, match="tree of the search"):  # the rule has multipliers in it
        check_record(sealed(forged), DATA, "fit.json")


def test_a_change_of_a_convex_program_is_certified_and_checked():
    found = fsopt.fit("svm", DATA, customise={"svm": without})
    assert found.coef[0] == 0.0
    assert found.status == "optimal"
    assert found.objective > fsopt.fit("svm", DATA).objective
    assert check_record(sealed_fit(found), DATA, "fit.json", customise={"svm": without})["verified"]


def test_every_model_of_the_slug_is_changed_in_cross_validation():
    errors = cross_validate("gbd", DATA, [{"m": 2, "customise": {"fsp-master": rule}}], folds=2)
    assert errors.shape == (1, 2)
    row = compare(DATA, ["gbd"], folds=2, jobs=1, customise={"fsp-master": rule}).rows[0]
    assert row.status == "feasible" or row.status == "optimal"
    assert not {0, 1} <= {DATA.features.index(name) for name in row.features}
    assert row.cv_accuracy is not None


def test_functions_that_cannot_be_used_are_refused_in_one_line():
    with pytest.raises(ParameterError, match=r"'gbd' solves no model 'svm'.*fsp-master"):
        fsopt.fit("gbd", DATA, customise={"svm": rule})
    with pytest.raises(UnknownNameError, match="fsp-mastr"):
        fsopt.fit("gbd", DATA, customise={"fsp-mastr": rule})
    with pytest.raises(ParameterError, match="mapping of slugs"):
        fsopt.fit("gbd", DATA, customise=rule)
    with pytest.raises(ParameterError, match=r"'fsp-master' failed \(ZeroDivisionError"):
        fsopt.fit("gbd", DATA, customise={"fsp-master": lambda m: 1 / 0})
    with pytest.raises(ParameterError, match="returned 3"):
        fsopt.fit("gbd", DATA, customise={"fsp-master": lambda m: 3})


def test_a_change_that_the_method_passes_by_is_an_error():
    way = {"gmeb-sdp": without}
    with pytest.raises(ParameterError, match=r"took another way.*gmeb-dual"):
        fsopt.fit("gmeb", DATA, r_plus=0.5, r_minus=0.5, customise=way)


def test_the_same_function_twice_in_one_solve_is_one_change():
    model = fsopt.build("svm", DATA)
    calls = []
    from fsopt.common.customising import customised

    with customised({"svm": lambda m: calls.append(m.name)}):
        fsopt.solve(model)
        fsopt.solve(model)
    assert calls == ["svm"]


# -- the command line -----------------------------------------------------------------------------------------


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "data.csv"
    lines = [",".join([*map(repr, map(float, x)), str(int(y))]) for x, y in zip(DATA.X, DATA.y, strict=True)]
    path.write_text(",".join([*DATA.features, "label"]) + "\n" + "\n".join(lines) + "\n")
    return str(path)


def run(*arguments):
    with pytest.raises(SystemExit) as end:
        main(list(arguments))
    return end.value.code


def test_a_function_of_a_file_changes_fit_and_check(table, tmp_path, capsys):
    out, place = str(tmp_path / "fit.json"), f"fsp-master={PACKAGE / 'rules.py'}:at_most_one_of_the_first_three"
    assert run("fit", "gbd", "--data", table, "--param", "m=2", "--customise", place, "-o", out, "--json") == 0
    record = json.loads(capsys.readouterr().out)
    assert record["details"]["customised"] == {"fsp-master": "rules.py:at_most_one_of_the_first_three"}
    assert len({0, 1, 2} & set(record["support"])) <= 1
    assert run("check", out, "--data", table, "--customise", place) == 0
    assert run("check", out, "--data", table) == 2
    assert "--customise" in capsys.readouterr().err


@pytest.mark.slow
def test_compare_sends_the_function_of_a_file_to_its_workers(table, capsys):
    place = f"{PACKAGE / 'rules.py'}:BOTH"
    code = run(
        "compare", "--data", table, "--methods", "gbd", "--folds", "2", "--jobs", "2", "--customise", place, "--json"
    )
    row = json.loads(capsys.readouterr().out)["rows"][0]
    assert (code, row["error"]) == (0, "")
    assert len({0, 1, 2} & {DATA.features.index(name) for name in row["features"]}) <= 1


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("rule", "SLUG=FILE.py:FUNCTION"),
        ("fsp-master=no.py:rule", "no Python file"),
        ("{rules}:nothing", "no function"),
    ],
)
def test_a_bad_place_is_one_line(table, given, said, capsys):
    given = given.format(rules=PACKAGE / "rules.py")
    assert run("fit", "gbd", "--data", table, "--customise", given) == 2
    err = capsys.readouterr().err
    assert said in err
    assert "Traceback" not in err


def test_export_and_solve_take_a_changed_model(table, tmp_path, capsys):
    rules = tmp_path / "own.py"
    rules.write_text("def fixed(model):\n    model.w[0].fix(0.0)\n")
    target = tmp_path / "svm.lp"
    assert run("export", "svm", "--data", table, "--customise", f"{rules}:fixed", "-o", str(target)) == 0
    assert "w(0)" not in target.read_text().split("bounds")[0].lower()
    out = str(tmp_path / "solved.json")
    assert run("solve", "svm", "--data", table, "--customise", f"{rules}:fixed", "-o", out) == 0
    assert run("check", out, "--data", table, "--customise", f"{rules}:fixed") == 0
    assert run("check", out, "--data", table) == 2
    capsys.readouterr()


# -- own packages ---------------------------------------------------------------------------------------------


def in_package(*arguments):
    env = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{PACKAGE}"}
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, env=env, cwd=Path.home())


@pytest.mark.slow
def test_an_own_package_goes_through_fit_compare_check_and_export(table, tmp_path):
    out = str(tmp_path / "fit.json")
    fitted = in_package("-m", "fsopt", "fit", "elastic-svm", "--data", table, "--param", "mu=2", "-o", out, "--json")
    assert fitted.returncode == 0, fitted.stderr
    assert json.loads(fitted.stdout)["status"] == "optimal"
    assert in_package("-m", "fsopt", "check", out, "--data", table).returncode == 0
    row = in_package(
        "-m", "fsopt", "compare", "--data", table, "--methods", "elastic-svm,svm", "--folds", "2", "--json"
    )
    assert [r["error"] for r in json.loads(row.stdout)["rows"]] == ["", ""], row.stdout
    target = tmp_path / "elastic.nl"
    assert in_package("-m", "fsopt", "export", "elastic-svm", "--data", table, "-o", str(target)).returncode == 0
    shown = in_package("-m", "fsopt", "show", "elastic-svm")
    assert shown.returncode == 0, shown.stderr
    assert "(3) w <= s" in shown.stdout
    assert "elastic-svm" in in_package("-m", "fsopt", "methods").stdout
    assert "elastic-svm" in in_package("-m", "fsopt", "models").stdout


@pytest.mark.slow
def test_registration_in_a_script_goes_through_a_comparison_with_workers(table, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import fsopt, fsopt_ridge.elastic as own\n"
        "from fsopt.common.plugins import _loaded\n"
        "_loaded.add('elastic')\n"
        "own.register()\n"
        "from fsopt import compare\n"
        f"rows = compare(fsopt.load_dataset({table!r}), ['elastic-svm'], folds=2, jobs=2).rows\n"
        "print(rows[0].status, rows[0].error or 'no error')\n"
    )
    assert in_package(str(script)).stdout.strip() == "optimal no error"


@pytest.fixture
def restored():
    from fsopt.methods import registry as methods
    from fsopt.models import registry as models
    from fsopt.solvers import registry as solvers

    kept = [(part, dict(part)) for part in (methods._ALL, methods._OWN, models._ALL, models._OWN, solvers._ALL)]
    yield
    for part, before in kept:
        part.clear()
        part.update(before)


@pytest.mark.usefixtures("restored")
def test_names_that_are_taken_are_refused():
    import dataclasses

    from fsopt.models.gbd.svm import build_svm

    with pytest.raises(ParameterError, match="'svm' already"):
        fsopt.register_model("svm", build_svm, "QP")
    fsopt.register_model("own-svm", build_svm, "QP")
    assert "own-svm" in MODELS
    assert fsopt.solve(fsopt.build("own-svm", DATA, c=2.0)).status == "optimal"
    with pytest.raises(ParameterError, match="already"):
        fsopt.register_model("own-svm", build_svm, "QP")
    fsopt.register_model("own-svm", build_svm, "QP", replace=True)
    with pytest.raises(ParameterError, match="class of 'b'"):
        fsopt.register_model("b", build_svm, "QUBO")
    with pytest.raises(ParameterError, match="'svm' already"):
        fsopt.register_method(METHODS["svm"])
    with pytest.raises(UnknownNameError, match="nothing"):
        fsopt.register_method(dataclasses.replace(METHODS["svm"], name="own", models=("nothing",)))
    new = dataclasses.replace(fsopt.SOLVERS["clarabel"], name="newcomer", ranks={"QP": None})
    fsopt.register_solver(new)
    assert fsopt.solve(fsopt.build("svm", DATA), "newcomer").solver == "newcomer"
    with pytest.raises(ParameterError, match="already"):
        fsopt.register_solver(new)
