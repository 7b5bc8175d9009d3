"""Changed models through fit, studies and check; models and methods of other packages by entry points."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pyomo.environ as pyo
import pytest
from support import ROOT, blobs, exact_value

import fsopt
from fsopt import compare
from fsopt.answers.fits import fit_record
from fsopt.answers.records import sealed
from fsopt.cli import main
from fsopt.errors import FileError, ParameterError, UnknownNameError
from fsopt.studies import executors
from fsopt.verification.checking import check_record

PACKAGE = ROOT / "tests" / "own_package"
DATA = blobs(30, 4, seed=3)


def rule(model):
    model.own_rule = pyo.Constraint(expr=model.sigma[0] + model.sigma[1] <= 1)


def without(model):
    model.w[0].fix(0.0)


def sealed_fit(found):
    return sealed(fit_record(found, data=DATA, source="blobs"))


def best_of(m, allowed):
    """Return the smallest value of all selections of m features that are allowed, from libsvm."""
    scaled = DATA.with_X((DATA.X - DATA.X.mean(axis=0)) / DATA.X.std(axis=0))
    selections = filter(allowed, itertools.combinations(range(DATA.p), m))
    return min(exact_value(scaled, np.isin(range(DATA.p), chosen), 1.0) for chosen in selections)


def test_a_rule_of_the_master_gives_the_best_selection_that_keeps_it():
    free = fsopt.fit("best-subset", DATA, m=2, c=1.0)
    kept = fsopt.fit("best-subset", DATA, m=2, c=1.0, customise={"fsp-master": rule})
    assert kept.details["customised"] == {"fsp-master": "rule"}
    assert not {0, 1} <= set(kept.support)
    assert {0, 1} <= set(free.support), "the rule must cut off the optimum, or this tests nothing"
    assert kept.status == "optimal"
    assert kept.objective == pytest.approx(best_of(2, lambda s: not {0, 1} <= set(s)), rel=1e-6)


def test_check_verifies_a_changed_fit_with_its_change_and_refuses_it_without():
    record = sealed_fit(fsopt.fit("best-subset", DATA, m=2, c=1.0, customise={"fsp-master": rule}))
    found = check_record(record, DATA, "fit.json", customise={"fsp-master": rule})
    assert (found.verified, found.claimed) == (True, "optimal")
    with pytest.raises(FileError, match=r"changed models: fsp-master by rule.*customise="):
        check_record(record, DATA, "fit.json")
    unchanged = sealed_fit(fsopt.fit("best-subset", DATA, m=2, c=1.0))
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
    assert check_record(sealed_fit(found), DATA, "fit.json", customise={"svm": without}).verified


def test_every_model_of_the_slug_is_changed_in_cross_validation(monkeypatch):
    monkeypatch.setattr(executors, "warm_up", lambda method, solver: None)
    how = {"folds": 2, "executor": executors.InProcess(), "customise": {"fsp-master": rule}}
    row = compare(DATA, ["best-subset"], **how).rows[0]
    assert row.status in ("feasible", "optimal")
    assert not {0, 1} <= {DATA.features.index(name) for name in row.features}
    assert row.cv_accuracy is not None


def test_functions_that_cannot_be_used_are_refused_in_one_line():
    with pytest.raises(ParameterError, match=r"'best-subset' solves no model 'svm'.*fsp-master"):
        fsopt.fit("best-subset", DATA, customise={"svm": rule})
    with pytest.raises(UnknownNameError, match="fsp-mastr"):
        fsopt.fit("best-subset", DATA, customise={"fsp-mastr": rule})
    with pytest.raises(ParameterError, match="mapping of slugs"):
        fsopt.fit("best-subset", DATA, customise=rule)
    with pytest.raises(ParameterError, match=r"'fsp-master' failed \(ZeroDivisionError"):
        fsopt.fit("best-subset", DATA, customise={"fsp-master": lambda m: 1 / 0})
    with pytest.raises(ParameterError, match="returned 3"):
        fsopt.fit("best-subset", DATA, customise={"fsp-master": lambda m: 3})


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
    np.savez(tmp_path / "data.npz", X=DATA.X, y=DATA.y, features=np.array(DATA.features))
    return str(tmp_path / "data.npz")


def run(*arguments):
    with pytest.raises(SystemExit) as end:
        main(list(arguments))
    return end.value.code


def test_a_function_of_a_file_changes_fit_and_check(table, tmp_path, capsys):
    out, place = str(tmp_path / "fit.json"), f"fsp-master={PACKAGE / 'rules.py'}:at_most_one_of_the_first_three"
    assert run("fit", "best-subset", "--data", table, "--param", "m=2", "--customise", place, "-o", out, "--json") == 0
    record = json.loads(capsys.readouterr().out)
    assert record["details"]["customised"] == {"fsp-master": "rules.py:at_most_one_of_the_first_three"}
    assert len({0, 1, 2} & set(record["support"])) <= 1
    assert run("check", out, "--data", table, "--customise", place) == 0
    assert run("check", out, "--data", table) == 2
    assert "--customise" in capsys.readouterr().err


@pytest.mark.slow
def test_compare_sends_the_function_of_a_file_to_its_workers(table, capsys):
    place = f"{PACKAGE / 'rules.py'}:BOTH"
    options = ["--folds", "2", "--jobs", "2", "--customise", place, "--json"]
    code = run("compare", "--data", table, "--methods", "best-subset", *options)
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
    assert run("fit", "best-subset", "--data", table, "--customise", given) == 2
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
