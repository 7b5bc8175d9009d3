"""Every parameter of every method, given alone, goes through a study as it goes through fit.

The path, necessity and alternatives replayed in rational arithmetic, each claim confirmed by the verifier.

What a study refuses before its first unit: it leaves no store behind.
"""

import json
import os

import numpy as np
import pytest
from proof_files import refused
from support import blobs, sampled

import fsopt
from fsopt.cli import main
from fsopt.errors import DataError, FsoptError, ParameterError
from fsopt.studies.comparison import compare
from fsopt.studies.study import StudyMethod

pytestmark = pytest.mark.usefixtures("in_process")
LONG = bool(os.environ.get("FSOPT_LIMITS"))
"""Also with folds and with tuning, by `make limits`."""
DATA = fsopt.Dataset(blobs(16, 6, gap=0.4).X, blobs(16, 6).y, ("mean radius", "x11", "Größe", "x1", "a, b", "x2"))
MORE = fsopt.Dataset(blobs(60, 6, gap=0.4).X, blobs(60, 6).y, DATA.features)
VALUES = {
    "r_plus": 2.0,
    "r_minus": 2.0,
    "scale": "none",
    "c_plus": 2.0,
    "c_minus": 2.0,
    "tolerance": 1e-3,
    "c": 0.5,
    "ridge": 0.1,
    "kernel": "gaussian",
    "width": 2.0,
    "lam": 0.2,
    "theta": 0.5,
    "delta": 0.2,
    "approx": "log",
    "alpha": 2.0,
    "n_starts": 2,
    "seed": 1,
    "m": 2,
    "costs": [1.0, 2.0, 1.0, 2.0, 1.0, 1.0],
    "budget": 3.0,
    "include": ["Größe"],
    "implies": [["x11", "x1"]],
    "conflicts": [["x11", "x1"]],
    "preset": "printed",
    "initial": ["x11"],
    "max_nodes": 7,
    "jobs": 2,
    "master_solver": "highs",
    "max_cuts": 40,
    "w_cap": 2.0,
    "scaling": "global",
    "max_iterations": 3,
    "step": 2,
    "loss": "squared-hinge",
    "n_partitions": 3,
    "groups": [["x11", "x1"]],
    "positive": ["x1"],
    "negative": ["x1"],
    "lower": {"x1": -1.0},
    "upper": {"x1": 1.0},
}
"""Parameter -> a value that is not its default."""
OTHERS = {
    ("gmeb", "route"): "theta-cuts",
    ("l0-mpm", "start"): [0.5, 0.5, 0.0, 0.0, 0.0, 0.0],
    ("gbd", "start"): "zero",
    ("gbd-lambda", "start"): "zero",
}
KINDS = ("best-subset", "svm", "pmm", "ks")
"""Methods that differ in kind: with parameters of comparisons, of a program, a loop, a filter."""
OTHER_METHODS = [name for name in fsopt.METHODS if name not in KINDS]
BUDGETED = ("gbd", "gbd-lambda", "best-subset", "best-subset-penalised")
NEED_ANOTHER = {(method, name) for method in BUDGETED for name in ("costs", "budget")}
"""Costs need a budget: refused alone by fit, and in the same words by a study."""


def given(method, name):
    return {name: OTHERS.get((method, name), VALUES.get(name))}


def by_fit(method, params):
    """Return the error of the fit by itself, empty where there is none."""
    try:
        fsopt.fit(method, DATA, **params)
    except fsopt.FsoptError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("method", sampled([*KINDS, *OTHER_METHODS], len(KINDS)))
def test_every_parameter_given_alone_goes_through_a_study(method):
    alone = [given(method, name) for name in fsopt.METHODS[method].parameters]
    for params in alone:
        assert params != {k: fsopt.METHODS[method].parameters[k] for k in params}, "a value that is given"
    study = {"data": [DATA], "folds": 0, "methods": [{"name": method, "params": params} for params in alone]}
    rows = fsopt.run_study(study).rows
    assert len(rows) == len(alone)
    for params, row in zip(alone, rows, strict=True):
        refused = (method, *params) in NEED_ANOTHER
        assert (row["status"] == "none", row["error"]) == (refused, by_fit(method, params) if refused else "")


if LONG:  # make limits

    @pytest.mark.parametrize("tuned", [False, True])
    @pytest.mark.parametrize("method", fsopt.METHODS)
    def test_folds_and_tuning_take_every_parameter_too(method, tuned):
        for name in fsopt.METHODS[method].parameters:
            params = given(method, name)
            [row] = compare(MORE, methods=[method], folds=2, params={method: params}, tune=tuned).rows
            assert (row["error"] != "") == ((method, name) in NEED_ANOTHER), (params, row["error"])


@pytest.mark.slow
def test_the_loop_as_printed_is_compared():
    params = {"gbd": {"preset": "printed", "m": 2, "c": 0.5}, "gbd-lambda": {"max_cuts": 60}}
    rows = compare(DATA, methods=list(params), folds=2, params=params, tune=True).rows
    assert [row["lacking"] for row in rows] == ["", ""]
    assert {row["status"] for row in rows} == {"optimal"}


def test_a_comparison_gives_solver_and_changed_models_to_the_methods_that_have_them():
    given = {"folds": 2, "solver": "clarabel"}
    [changed] = compare(DATA, methods=["gbd"], customise={"fsp-master": last_feature}, **given).rows
    assert tuple(changed[k] for k in ("lacking", "status", "solver")) == ("", "optimal", "highs+clarabel")
    [other] = compare(DATA, methods=["best-subset"], **given).rows
    assert (other["lacking"], other["solver"]) == ("", "branch-and-benders")
    asked = {"name": "best-subset", "solver": "clarabel"}
    [row] = fsopt.run_study({"data": [DATA], "folds": 0, "methods": [asked]}).rows
    assert "'best-subset' calls no solver" in row["error"]


def last_feature(model):
    """Add a variable of its own to a master."""
    import pyomo.environ as pyo

    model.half = pyo.Var(bounds=(0, 1))
    model.rule = pyo.Constraint(expr=model.sigma[0] + model.half <= 1.5)


def in_comparisons(name, p, **params):
    return StudyMethod(name=name, params=params).choices(p)[0][0]


def test_a_feature_that_is_constant_in_each_class_leaves_s_mpm_an_answer_at_the_ridge_of_comparisons():
    data = fsopt.Dataset(np.column_stack([DATA.X[:, :1], DATA.y]), DATA.y, name="told")
    with pytest.raises(fsopt.errors.InfeasibleError, match=r"ridge=0\.01"):
        fsopt.fit("s-mpm", data)
    assert fsopt.fit("s-mpm", data, **in_comparisons("s-mpm", 2)).certificate.ok


def test_parameters_in_comparisons_go_with_all_that_the_user_gives():
    assert in_comparisons("gbd", 4, c=2.0) == {"max_cuts": 20, "tolerance": 1e-4, "c": 2.0}
    assert in_comparisons("best-subset", 4, max_nodes=7) == {"max_nodes": 7, "tolerance": 1e-3}
    assert in_comparisons("best-subset", 4)["max_nodes"] == 2000
    assert [in_comparisons("s-mpm", p) for p in (40, 4000)] == [{"ridge": 0.01}, {"ridge": 0.1, "lam": 0.5}]
    asked = {"name": "gbd", "params": {"max_nodes": 3}}
    with pytest.raises(fsopt.errors.ParameterError, match="has no parameter 'max_nodes'"):
        fsopt.run_study({"data": [DATA], "folds": 0, "methods": [asked]})


@pytest.fixture(scope="module")
def data():
    return blobs(n=20, p=4, seed=4, gap=0.4)


def confirmed(claim):
    return not refused(claim.part)


def test_all_other_selections_cost_more_than_the_limit(data):
    found = fsopt.alternatives(data, 2, within=0.3)
    (claim,) = fsopt.verify(found, data, exact=True).claims
    assert found.complete
    assert claim.holds
    assert confirmed(claim)
    assert found.limit <= float(claim.lower) <= found.others.bound * (1 + 1e-9) + 1e-9
    # A claim on the optimum may not leave the known selections out.
    statement = claim.part["statement"]
    assert refused({**claim.part, "statement": {**statement, "status": "interval", "upper": 10**9}})


REFUSALS_DATA = blobs(20, 3)
REFUSED = [
    (
        {"name": "svm", "grid": {"c": [1.0, -1.0]}},
        r"parameter 'c' of 'svm' is -1\.0: give a value inside \[1e-100, 1e100\]",
    ),
    ({"name": "svm", "params": {"c": 0}}, "'c' of 'svm' is 0: "),
    ({"name": "svm", "grid": {"c": [1.0, "large"]}}, "'c' of 'svm' is 'large': its type is float"),
    ({"name": "svm", "grid": {"c": [float("nan")]}}, "'c' of 'svm' is nan: "),
    ({"name": "best-subset", "grid": {"m": [1, 2.5]}}, "'m' of 'best-subset' is 2.5: its type is int"),
    ({"name": "gmeb", "grid": {"scale": ["standard", "unit"]}}, "'scale' of 'gmeb' is 'unit': give a value of .*none"),
    ({"name": "fsv", "grid": {"lam": [0.5, 2]}, "tune": True}, r"'lam' of 'fsv' is 2: give a value inside \[0, 1\]"),
    ({"name": "sklearn-l1-svc", "grid": {"c": [-1]}}, "'c' of 'sklearn-l1-svc' is -1: "),
]


@pytest.mark.parametrize(("method", "message"), REFUSED, ids=[str(method) for method, _ in REFUSED])
def test_a_value_that_no_data_make_right_is_refused_before_the_first_unit(tmp_path, method, message):
    ran = []
    with pytest.raises(ParameterError, match=message):
        fsopt.run_study(
            {"data": [REFUSALS_DATA], "methods": [{"name": "pearson"}, method]},
            store=tmp_path / "s.sqlite",
            progress=ran.append,
        )
    assert not ran
    assert not list(tmp_path.iterdir())
    values = {**method.get("params", {}), **{k: v[-1] for k, v in method.get("grid", {}).items()}}
    if not method["name"].startswith("sklearn"):
        with pytest.raises(FsoptError):  # the method refuses it too
            fsopt.fit(method["name"], REFUSALS_DATA, **values)


def test_what_methods_take_is_taken():
    costs = [1.0, 2.0, 1.0]
    how = {"params": {"costs": costs, "budget": 2}, "grid": {"c": [1, 0.1], "loss": ["hinge"]}}
    StudyMethod(name="best-subset", **how).check()
    StudyMethod(name="fsv", params={"approx": "log"}, grid={"scale": ["none", "center"]}).check()
    for name, spec in fsopt.METHODS.items():
        StudyMethod(name=name, params={k: v for k, v in spec.parameters.items() if v is not None}).check()
        StudyMethod(name=name, grid=spec.candidates).check()


@pytest.mark.parametrize("data", ["nowhere.csv", ["wdbc", "nowhere"]])
def test_an_unknown_data_set_leaves_no_store(tmp_path, monkeypatch, capsys, data):
    monkeypatch.chdir(tmp_path)
    listed = data if isinstance(data, list) else [data]
    with pytest.raises(DataError, match="nowhere"):
        fsopt.run_study({"data": listed, "methods": [{"name": "svm"}]}, store="s.sqlite")
    (tmp_path / "study.toml").write_text(f'data = {json.dumps(listed)}\n[[methods]]\nname = "svm"\n')
    for wrong in ("", "grid = { c = [-1] }\n"):
        with (tmp_path / "study.toml").open("a") as file:
            file.write(wrong)
        with pytest.raises(SystemExit) as ended:
            main(["study", "study.toml", "--store", "s.sqlite", "--jobs", "1"])
        said = capsys.readouterr().err.strip()
        assert (ended.value.code, said.count("\n")) == (2, 0)
        assert ("'c' of 'svm' is -1: give a value inside" if wrong else "nowhere") in said
    assert [file.name for file in tmp_path.iterdir()] == ["study.toml"]
    with pytest.raises(ParameterError, match="folds are not possible"):
        fsopt.run_study({"data": [REFUSALS_DATA], "methods": [{"name": "svm"}], "folds": 11}, store="s.sqlite")
    assert [file.name for file in tmp_path.iterdir()] == ["study.toml"]
