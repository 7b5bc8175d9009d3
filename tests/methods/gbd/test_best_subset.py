"""Methods best-subset and best-subset-penalised: the optimum of the loops, refusals, forgeries of the saved tree."""

import base64
import copy
import zlib
from functools import cache

import numpy as np
import pyomo.environ as pyo
import pytest
from saved_records import as_read, refuse_all
from support import all_values, blobs, keeps, reference

import fsopt
from fsopt.errors import FileError, ParameterError
from fsopt.solvers.base import Session
from fsopt.verification.checking import check_record

CASES = {
    "m": ("best-subset", {"m": 3, "c": 4.0}),
    "budget": (
        "best-subset",
        {"costs": [1.0, 2.0, 3.0, 1.0, 2.0, 3.0], "budget": 6.0, "c": 4.0, "conflicts": [[4, 5]]},
    ),
    "rules": ("best-subset", {"m": 4, "c": 4.0, "include": [0], "exclude": [3], "implies": [[1, 2]]}),
    "default": ("best-subset", {"c": 0.5}),
    "few nodes": ("best-subset", {"m": 2, "c": 4.0, "max_nodes": 0}),
    "logistic": ("best-subset", {"m": 3, "c": 4.0, "loss": "logistic"}),
    "squared": ("best-subset", {"m": 3, "c": 4.0, "loss": "squared-hinge"}),
    "lambda": ("best-subset-penalised", {"lam": 2.0, "c": 4.0, "tolerance": 1e-4}),
    "lambdas": ("best-subset-penalised", {"lam": [0.5, 1, 2, 3, 4, 5], "c": 4.0, "implies": [[0, 1]]}),
}
LOOPS = {"best-subset": "gbd", "best-subset-penalised": "gbd-lambda"}


@cache
def saved(case):
    method, params = CASES[case]
    data = reference("gbd_n6")
    return as_read(fsopt.fit(method, data, scale="none", **params), data)


def record_of(case):
    """Return the data and the saved record of a fit, as it is read from a file."""
    return reference("gbd_n6"), copy.deepcopy(saved(case))


@pytest.mark.parametrize("case", [c for c in CASES if c not in ("few nodes", "squared", "logistic")])
def test_the_loop_and_the_search_have_the_optimum(case):
    method, params = CASES[case]
    data = reference("gbd_n6")
    fits = [fsopt.fit(name, data, scale="none", **params) for name in (method, LOOPS[method])]
    assert all(fit.status == "optimal" for fit in fits)
    assert fits[0].objective == pytest.approx(fits[1].objective, rel=2e-4)
    rules = {k: v for k, v in params.items() if k not in ("c", "lam", "tolerance")} or {"m": 5}
    lam = np.broadcast_to(params.get("lam", 0.0), (6,))
    rules = {} if "lam" in params and rules == {"m": 5} else rules
    values = all_values(data, params["c"])
    best = min(v + lam @ np.array(s) for s, v in values.items() if keeps(np.array(s), **rules))
    tolerance = 1e-4 if "tolerance" in params else 2e-6
    assert (fits[0].objective, fits[0].bound) == pytest.approx((best, best), rel=tolerance)


def test_wrong_parameters_are_refused(monkeypatch):
    monkeypatch.setattr(Session, "solve", lambda *args, **keywords: pytest.fail("a solver was called"))
    for options, word in (
        ({"initial": [0, 1, 2]}, "initial"),
        ({"initial": ["nix"]}, "nix"),
        ({"jobs": 0}, "jobs"),
        ({"max_nodes": -1}, "max_nodes"),
        ({"solver": "clarabel"}, "calls no solver, and is given solver='clarabel'"),
        ({"options": {"verbose": True}}, "calls no solver, and is given options"),
    ):
        with pytest.raises(ParameterError, match=word):
            fsopt.fit("best-subset", reference("gbd_n6"), **{"m": 2, **options})


@pytest.mark.parametrize(("method", "loop"), LOOPS.items())
def test_a_parameter_of_the_other_method_is_refused_with_its_name(method, loop):
    data = reference("gbd_n6")
    for name, params, other in (
        (method, {"max_cuts": 20}, loop),
        (method, {"stabilisation": "none"}, loop),
        (loop, {"max_nodes": 3}, method),
        (loop, {"initial": [0]}, method),
    ):
        with pytest.raises(ParameterError, match=f"method '{name}' has no parameter '{next(iter(params))}'") as caught:
            fsopt.fit(name, data, **params)
        assert other in caught.value.hint.split(": ")[1].split(", ")


def test_a_master_with_variables_of_its_own_is_for_the_loop():
    def rule(model):
        model.half = pyo.Var(bounds=(0, 1))
        model.rule = pyo.Constraint(expr=model.sigma[0] + model.half <= 1.5)

    with pytest.raises(ParameterError, match="variables or cuts of its own") as caught:
        fsopt.fit("best-subset", reference("gbd_n6"), customise={"fsp-master": rule})
    assert "'gbd'" in caught.value.hint
    assert fsopt.fit("gbd", reference("gbd_n6"), customise={"fsp-master": rule}).status == "optimal"


@pytest.mark.slow
def test_wdbc_is_solved_to_the_optimum():
    """With C = 1, by which the search and the loop were compared."""
    fit = fsopt.fit("best-subset", fsopt.load_dataset("wdbc"), m=5, tolerance=1e-3)
    assert fit.status == "optimal"
    assert fit.objective == pytest.approx(44.2601, rel=1e-3)


def test_a_selection_to_start_from_is_given_by_names():
    data = blobs(60, 12, seed=5)
    best = fsopt.fit("best-subset", data, m=3, c=2.0)
    started = fsopt.fit("best-subset", data, m=3, c=2.0, initial=list(best.features), max_nodes=0)
    assert started.objective == pytest.approx(best.objective, rel=1e-9)


def test_no_heuristic_is_better():
    data = blobs(60, 10, seed=3, gap=0.3)
    best = fsopt.fit("best-subset", data, m=3, max_nodes=0)
    assert best.objective <= fsopt.fit("rfe", data, m=3).objective * (1 + 1e-9)


def test_a_checkpoint_of_the_other_method_is_refused_with_its_name(tmp_path):
    data = blobs(40, 6, seed=7)
    for method, other in (("best-subset", "gbd"), ("gbd", "best-subset")):
        path = tmp_path / f"{method}.npz"
        whole = fsopt.fit(method, data, m=3, checkpoint=path)
        assert fsopt.fit(method, data, m=3, resume=path).objective == pytest.approx(whole.objective, rel=1e-9)
        with pytest.raises(FileError, match="is a checkpoint of") as caught:
            fsopt.fit(other, data, m=3, resume=path)
        assert f"with {method} or" in caught.value.hint


def test_the_history_is_drawn():
    pytest.importorskip("matplotlib")
    fit = fsopt.fit("best-subset", reference("gbd_n6"), m=2)
    figure = fit.plot()
    assert [len(axes.lines) for axes in figure.axes] == [2, 2]
    with pytest.raises(ParameterError, match="no history"):
        fsopt.fit("svm", reference("gbd_n6")).plot("convergence")


# -- the saved tree ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", CASES)
def test_an_honest_record_is_verified_without_a_solver(case, monkeypatch):
    data, record = record_of(case)
    monkeypatch.setattr(Session, "solve", lambda *args, **keywords: pytest.fail("a solver was called"))
    found = check_record(record, data, "test")
    assert found.verified, found.certificate
    assert "each closed by its cut" in found.notes[0]


def arrays(record, name, dtype):
    """Return an array of the saved evidence."""
    return np.frombuffer(zlib.decompress(base64.b64decode(record["details"]["evidence"][name])), dtype).copy()


def put(record, name, array):
    record["details"]["evidence"][name] = base64.b64encode(zlib.compress(array.tobytes())).decode()


def _grids(change):
    def forge(record):
        put(record, "alpha", change(arrays(record, "alpha", "<i4")))

    return forge


def _tree(change):
    def forge(record):
        put(record, "tree", np.array(change(arrays(record, "tree", "<i4").tolist()), dtype="<i4"))

    return forge


def _unbalanced(grids):
    grids[0] += 1 if grids[0] == 0 else -1
    return grids


FORGERIES = {
    "bound raised": lambda r: r.update(bound=1.001 * r["bound"], objective=1.001 * r["objective"]),
    "bound lowered below the gap": lambda r: r.update(bound=0.9 * r["bound"]),
    "objective lowered": lambda r: r.update(objective=0.999 * r["objective"]),
    "multipliers doubled": _grids(lambda g: 2 * g),
    "multipliers negative": _grids(lambda g: -g),
    "multipliers unbalanced": _grids(_unbalanced),
    "multipliers of zeros": _grids(lambda g: 0 * g),
    "one leaf": _tree(lambda t: [-2, 0]),
    "no tree": _tree(lambda t: []),
    "tree cut short": _tree(lambda t: t[:-1]),
    "tree too long": _tree(lambda t: [*t, -4]),
    "all empty": _tree(lambda t: [-4]),
    "unknown cut": _tree(lambda t: [-2, 99]),
    "unknown mark": _tree(lambda t: [-9]),
    "pegs without a cut": _tree(lambda t: [-1, 0, 6, 1, 2, 3, 4, 5, 6, -4]),
    "selection too large": lambda r: r["details"].update(sigma=[1.0] * 6),
    "another weight": lambda r: r["coef"].__setitem__(4, 1.01 * r["coef"][4] + 0.01),
    "penalty weight lowered": lambda r: r["params"].update(c=0.9 * r["params"]["c"]),
    "another format": lambda r: r["details"]["evidence"].update(format="tree 0"),
    "no multipliers": lambda r: r["details"]["evidence"].pop("alpha"),
    "text instead": lambda r: r["details"]["evidence"].update(alpha="%%%"),
}


@pytest.mark.parametrize("case", ["m", "lambda"])
def test_a_forged_record_is_not_verified(case):
    data, record = record_of(case)
    refuse_all(record, data, FORGERIES)


def test_an_open_gap_cannot_be_called_optimal():
    data, record = record_of("few nodes")
    assert record["status"] == "feasible"
    record["status"] = "optimal"
    assert not check_record(record, data, "test").verified
    data, record = record_of("few nodes")
    record["bound"] += 0.1 * (record["objective"] - record["bound"])
    assert not check_record(record, data, "test").verified


def test_of_equal_optima_every_run_returns_the_same_and_the_alternatives_list_all():
    base = blobs(40, 3, seed=2)
    data = fsopt.Dataset(np.column_stack([base.X, base.X[:, :2]]), base.y)
    runs = [fsopt.fit("best-subset", data, m=1, c=2.0) for _ in range(2)]
    assert runs[0].support == runs[1].support
    found = fsopt.alternatives(data, 1, within=0.0, c=2.0)
    assert tuple(runs[0].support) in {tuple(one) for one in found.support}
    assert {tuple(one) for one in found.support} in ({(0,), (3,)}, {(1,), (4,)})
