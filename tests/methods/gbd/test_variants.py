"""The variants of gbd: which one runs, the same optimum from both, and the saved tree against forgeries."""

import base64
import copy
import json
import zlib

import numpy as np
import pytest
from support import all_values, blobs, keeps, reference

import fsopt
from fsopt.answers.saved import fit_record, numbers
from fsopt.errors import FileError, ParameterError
from fsopt.methods.gbd.variants import BRANCH, PAPER
from fsopt.solvers.base import Session
from fsopt.verification.checking import check_record

CASES = {
    "m": ("gbd", {"m": 3, "c": 4.0}),
    "budget": ("gbd", {"costs": [1.0, 2.0, 3.0, 1.0, 2.0, 3.0], "budget": 6.0, "c": 4.0, "conflicts": [[4, 5]]}),
    "rules": ("gbd", {"m": 4, "c": 4.0, "include": [0], "exclude": [3], "implies": [[1, 2]]}),
    "default": ("gbd", {"c": 0.5}),
    "few nodes": ("gbd", {"m": 2, "c": 4.0, "max_nodes": 0}),
    "lambda": ("gbd-lambda", {"lam": 2.0, "c": 4.0, "tolerance": 1e-4}),
    "lambdas": ("gbd-lambda", {"lam": [0.5, 1, 2, 3, 4, 5], "c": 4.0, "implies": [[0, 1]]}),
}


def record_of(case):
    """Return the saved record of a fit, as it is read from a file."""
    method, params = CASES[case]
    data = reference("gbd_n6")
    fit = fsopt.fit(method, data, scale="none", **params)
    return data, numbers(json.loads(json.dumps(fit_record(fit, data=data, source="test"))))


@pytest.mark.parametrize("case", [c for c in CASES if c != "few nodes"])
def test_both_variants_have_the_optimum(case):
    method, params = CASES[case]
    data = reference("gbd_n6")
    fits = [fsopt.fit(method, data, scale="none", variant=name, **params) for name in (BRANCH, PAPER)]
    assert all(fit.status == "optimal" for fit in fits)
    assert fits[0].objective == pytest.approx(fits[1].objective, rel=2e-4)
    rules = {k: v for k, v in params.items() if k not in ("c", "lam", "tolerance")} or {"m": 5}
    lam = np.broadcast_to(params.get("lam", 0.0), (6,))
    rules = {} if "lam" in params and rules == {"m": 5} else rules
    values = all_values(data, params["c"])
    best = min(v + lam @ np.array(s) for s, v in values.items() if keeps(np.array(s), **rules))
    assert fits[0].objective == pytest.approx(best, rel=1e-4 if "tolerance" in params else 2e-6)


@pytest.mark.parametrize(
    ("options", "solver"),
    [
        ({}, "branch-and-benders"),
        ({"max_nodes": 10}, "branch-and-benders"),
        ({"max_cuts": 20}, "search"),
        ({"start": [0.5] * 6}, "search"),
        ({"validation": 0.25}, "search"),
        ({"solver": "libsvm"}, "libsvm"),
        ({"variant": "paper"}, "search"),
    ],
    ids=str,
)
def test_the_variant_follows_from_the_parameters(options, solver):
    fit = fsopt.fit("gbd", reference("gbd_n6"), m=2, **options)
    assert solver in fit.solver
    assert ("evidence" in fit.details) == (solver == "branch-and-benders")


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"variant": "print"}, "variant"),
        ({"variant": "paper", "jobs": 2}, "'jobs' belongs to variant 'branch-and-benders'"),
        ({"variant": "paper", "initial": [0]}, "initial"),
        ({"variant": "branch-and-benders", "max_cuts": 20}, "'max_cuts' belongs to variant 'paper'"),
        ({"variant": "branch-and-benders", "solver": "clarabel"}, "solver"),
        ({"max_nodes": 3, "root_cuts": 5}, "max_nodes"),
        ({"initial": [0, 1, 2]}, "initial"),
        ({"initial": ["nix"]}, "nix"),
        ({"jobs": 0}, "jobs"),
        ({"max_nodes": -1}, "max_nodes"),
        ({"tolerance": -1.0}, "tolerance"),
    ],
    ids=str,
)
def test_parameters_of_the_other_variant_are_refused_by_name(options, word, monkeypatch):
    monkeypatch.setattr(Session, "solve", lambda *args, **keywords: pytest.fail("a solver was called"))
    with pytest.raises(ParameterError, match=word):
        fsopt.fit("gbd", reference("gbd_n6"), **{"m": 2, **options})


def test_a_selection_to_start_from_is_given_by_names():
    data = blobs(60, 12, seed=5)
    best = fsopt.fit("gbd", data, m=3, c=2.0)
    started = fsopt.fit("gbd", data, m=3, c=2.0, initial=list(best.features), max_nodes=0)
    assert started.objective == pytest.approx(best.objective, rel=1e-9)


def test_no_heuristic_is_better():
    data = blobs(120, 20, seed=3, gap=0.3)
    best = fsopt.fit("gbd", data, m=4, max_nodes=0)
    assert best.objective <= fsopt.fit("rfe", data, m=4).objective * (1 + 1e-9)


def test_a_resumed_fit_takes_the_variant_of_its_checkpoint(tmp_path):
    data = blobs(60, 10, seed=7)
    for variant in (BRANCH, PAPER):
        path = tmp_path / f"{variant}.npz"
        fsopt.fit("gbd", data, m=3, variant=variant, checkpoint=path)
        assert ("evidence" in fsopt.fit("gbd", data, m=3, resume=path).details) == (variant == BRANCH)
    with pytest.raises(FileError, match="no checkpoint"):
        fsopt.fit("gbd", data, m=3, variant=BRANCH, resume=tmp_path / "paper.npz")


def test_the_history_is_drawn():
    pytest.importorskip("matplotlib")
    fit = fsopt.fit("gbd", reference("gbd_n6"), m=2)
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
    assert found["verified"], found["certificate"]
    assert "each closed by its cut" in found["notes"][0]


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
@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_forged_record_is_not_verified(case, forgery):
    data, record = record_of(case)
    forged = copy.deepcopy(record)
    FORGERIES[forgery](forged)
    assert forged != record
    try:
        found = check_record(forged, data, "test")
    except FileError:
        return
    assert not found["verified"]


def test_an_open_gap_cannot_be_called_optimal():
    data, record = record_of("few nodes")
    assert record["status"] == "feasible"
    record["status"] = "optimal"
    assert not check_record(record, data, "test")["verified"]
    data, record = record_of("few nodes")
    record["bound"] += 0.1 * (record["objective"] - record["bound"])
    assert not check_record(record, data, "test")["verified"]
