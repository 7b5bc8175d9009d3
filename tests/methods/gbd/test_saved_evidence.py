"""Saved fits of the searches over selections, by cuts and by trees: honest ones, and forgeries of their evidence."""

import base64
import copy
import zlib
from functools import cache

import numpy as np
import pytest
from saved_records import as_read, refuse_all
from support import reference

import fsopt
from fsopt.verification.verify import verify_record

CUTS = {
    "cuts, m": ("gbd", {"m": 2, "c": 4.0}),
    "cuts, budget": ("gbd", {"costs": [1, 2, 3, 1, 2, 3], "budget": 6.0, "implies": [[0, 1]], "conflicts": [[4, 5]]}),
    "few cuts": ("gbd", {"m": 2, "c": 4.0, "max_cuts": 4}),
    "cuts, lambda": ("gbd-lambda", {"lam": 2.0, "c": 4.0, "tolerance": 1e-4}),
}
TREES = {
    "tree, m": ("best-subset", {"m": 3, "c": 4.0}),
    "tree, budget": ("best-subset", {"costs": [1, 2, 3, 1, 2, 3], "budget": 6.0, "c": 4.0, "conflicts": [[4, 5]]}),
    "rules": ("best-subset", {"m": 4, "c": 4.0, "include": [0], "implies": [[1, 2]]}),
    "few nodes": ("best-subset", {"m": 2, "c": 4.0, "max_nodes": 0}),
    "logistic": ("best-subset", {"m": 3, "c": 4.0, "loss": "logistic"}),
    "squared": ("best-subset", {"m": 3, "c": 4.0, "loss": "squared-hinge"}),
    "tree, lambda": ("best-subset-penalised", {"lam": 2.0, "c": 4.0, "tolerance": 1e-4}),
    "lambdas": ("best-subset-penalised", {"lam": [0.5, 1, 2, 3, 4, 5], "c": 4.0, "implies": [[0, 1]]}),
}
DATA = reference("gbd_n6")


@cache
def saved(case):
    method, params = (CUTS | TREES)[case]
    return as_read(fsopt.fit(method, DATA, scale="none", **params), DATA)


def record_of(case):
    return copy.deepcopy(saved(case))


def check(record):
    return verify_record(record, DATA, "test")


@pytest.mark.parametrize("case", CUTS | TREES)
def test_an_honest_record_is_verified_without_a_solver(case, monkeypatch):
    record = record_of(case)
    monkeypatch.setattr(fsopt.Session, "solve", lambda *args, **keywords: pytest.fail("a solver was called"))
    found = check(record)
    assert found.verified, found.certificate
    assert ("since the loop leaves none" if case in CUTS else "of the search:") in found.certificate.notes[0]


def arrays(record, name, dtype):
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


FORGERIES = {
    "bound raised": lambda r: r.update(bound=1.001 * r["bound"]),
    "objective lowered": lambda r: r.update(objective=0.999 * r["objective"]),
    "both raised": lambda r: r.update(objective=1.01 * r["objective"], bound=1.01 * r["bound"]),
    "bound nan": lambda r: r.update(bound=float("nan")),
    "selection too large": lambda r: r["details"].update(sigma=[1.0] * 6),
    "selection without a used feature": lambda r: r["details"].update(sigma=[0.0] * 6),
    "another weight": lambda r: r["coef"].__setitem__(4, 1.01 * r["coef"][4] + 0.01),
    "another intercept": lambda r: r.update(intercept=r["intercept"] + 0.01),
    "penalty weight lowered": lambda r: r["params"].update(c=0.9 * r["params"]["c"]),
}
OF_CUTS = {
    "bound above objective": lambda r: r.update(bound=1.5 * r["objective"], status="feasible"),
    "cut unbalanced": lambda r: r["details"]["alphas"][0].__setitem__(0, r["details"]["alphas"][0][0] + 0.01),
    "cuts scaled": lambda r: r["details"].update(alphas=(3.0 * np.array(r["details"]["alphas"])).tolist()),
    "cut negative": lambda r: r["details"].update(alphas=[[-v for v in a] for a in r["details"]["alphas"]]),
    "no cuts": lambda r: r["details"].update(alphas=[]),
}
OF_TREES = {
    "bound lowered below the gap": lambda r: r.update(bound=0.9 * r["bound"]),
    "multipliers doubled": _grids(lambda g: 2 * g),
    "one leaf": _tree(lambda t: [-2, 0]),
    "no tree": _tree(lambda t: []),
    "tree cut short": _tree(lambda t: t[:-1]),
    "tree too long": _tree(lambda t: [*t, -4]),
    "all empty": _tree(lambda t: [-4]),
    "unknown cut": _tree(lambda t: [-2, 99]),
    "unknown mark": _tree(lambda t: [-9]),
    "pegs without a cut": _tree(lambda t: [-1, 0, 6, 1, 2, 3, 4, 5, 6, -4]),
    "another format": lambda r: r["details"]["evidence"].update(format="tree 0"),
    "no multipliers": lambda r: r["details"]["evidence"].pop("alpha"),
    "text instead": lambda r: r["details"]["evidence"].update(alpha="%%%"),
}


@pytest.mark.parametrize("case", ["cuts, m", "cuts, lambda", "tree, m", "tree, lambda"])
def test_a_forged_record_is_not_verified(case):
    if case in CUTS:
        damages = {"bound nan": "bound is not a number", "no cuts": "list of cuts"}
        refuse_all(record_of(case), DATA, FORGERIES | OF_CUTS, damages)
    else:
        refuse_all(record_of(case), DATA, FORGERIES | OF_TREES)


def test_an_open_gap_is_no_optimum_and_no_bound_within_it_is_believed():
    record = record_of("few nodes")
    assert record["status"] == "feasible"
    assert not check(record | {"status": "optimal"}).verified
    assert not check(record | {"bound": record["bound"] + 0.1 * (record["objective"] - record["bound"])}).verified


def test_of_an_open_loop_the_bounds_up_to_the_optimum_are_believed():
    record, best = record_of("few cuts"), record_of("cuts, m")["objective"]
    assert record["status"] == "feasible"
    assert record["bound"] < best
    assert not check(record | {"status": "optimal"}).verified
    assert check(record | {"bound": best * (1 - 1e-6)}).verified
    assert (
        check(record | {"bound": best * (1 + 1e-5), "objective": 2 * best}).certificate.residuals["stated bound"] > 5e-6
    )


def test_a_bound_that_the_search_had_no_nodes_for_is_not_verified(monkeypatch):
    """What was not proved counts for nothing, though the fit is honest."""
    monkeypatch.setattr("fsopt.methods.gbd.problems.CLOSED_NODES", 0)
    assert not check(record_of("cuts, m")).verified
