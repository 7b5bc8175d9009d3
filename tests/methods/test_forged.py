"""Saved fits of every kind of evidence, changed by hand where random changes of saved answers seldom go."""

import base64
import copy
import zlib
from functools import cache, reduce
from operator import getitem

import numpy as np
import pytest
from saved_records import as_read, refuse_all
from support import blobs, reference, sampled, without_model

import fsopt
from fsopt.verification.verify import verify_record

DATA = blobs(40, 3, seed=7, gap=0.4)


def changed(change, *path):
    """Return a function that changes what a record has at a path."""

    def forge(record):
        place = reduce(getitem, path[:-1], record)
        place[path[-1]] = change(place[path[-1]] if isinstance(place, list) else place.get(path[-1]))

    return forge


def times(factor, *path):
    return changed(lambda value: (factor * np.array(value)).tolist(), *path)


def largest(factor, *path):
    """Return the same for the largest of some numbers alone."""
    return changed(lambda numbers: [v * (factor if abs(v) == max(map(abs, numbers)) else 1.0) for v in numbers], *path)


def to(value, *path):
    return changed(lambda _: value, *path)


def first(change):
    """Return a change of the first entry of a list."""
    return lambda entries: [change(entries[0]), *entries[1:]]


BELOW, LEAVES, SCALING = ("details", "below"), ("details", "leaves"), ("details", "scaling")
POINT = ("details", "point")
OF_A_STEP = {
    "objective": times(0.999, "objective"),
    "weights": times(1.001, "coef"),
    "multipliers": largest(1.01, *POINT, "y"),
}
OF_A_SUBSET = {
    "a feature less": changed(lambda m: m - 1, "params", "m"),
    "another feature": changed(lambda coef: [1e-3 if w == 0.0 else w for w in coef], "coef"),
    "multipliers": times(0.9, "details", "alpha"),
}
OF_A_RANKING = {
    "swapped": changed(lambda order: order[::-1], "details", "ranking"),
    "reversed scores": changed(lambda scores: scores[::-1], "details", "scores"),
    "larger scores": times(1.001, "details", "scores"),
}
CASES = {
    "pmm": {
        "fewer errors": changed(lambda errors: errors - 1, "objective"),
        "more errors": changed(lambda errors: errors + 1, "objective"),
        "parameter": changed(lambda d: d - 1, *BELOW, "d"),
        "loss": times(1.01, *BELOW, "value"),
        "hyperplane": changed(first(lambda w: w + 0.01), *BELOW, "w"),
        "multipliers": times(0.9, *BELOW, "alpha"),
        "no proof": to(None, *BELOW, "alpha"),
    },
    "gmeb-penalised c_plus=0.1 c_minus=0.1": {
        "bound": changed(lambda bound: bound + 3e-6, "bound"),
        "multipliers": changed(
            lambda leaves: [{**leaf, "mu": [[0.5 * m for m in mu] for mu in leaf["mu"]]} for leaf in leaves], *LEAVES
        ),
        "missing": changed(lambda leaves: leaves[:-1], *LEAVES),
        "shifted": changed(lambda leaves: [{**leaf, "left": leaf["left"] + 1e-9} for leaf in leaves], *LEAVES),
        "outside": changed(first(lambda leaf: {**leaf, "share": 0.0}), *LEAVES),
        "none": to([], *LEAVES),
        "scales": times(1.001, "details", "sigma"),
        "penalty weight": times(0.99, "params", "c_plus"),
    },
    "mopfs w_cap=4.0 c=0.0 scaling=global": {
        "loss": changed(lambda E: [*E[:-1], 0.999 * E[-1]], "details", "E"),
        "rising loss": changed(first(lambda E: 0.9 * E), "details", "E"),
        "product": changed(lambda H: [*H[:-1], 0.999 * H[-1]], "details", "H"),
        "multipliers": times(0.9, "details", "alpha"),
        "capacity": times(0.99, "details", "cap"),
        "scales": times(1.01, "details", "scales"),
        "scales of the last step": times(0.99, *SCALING, "s"),
        "slack": times(1.01, *SCALING, "e_cap"),
        "hyperplane": times(1.01, *SCALING, "w"),
        "bound": times(1.001, *SCALING, "bound"),
        "no cuts": to([], *SCALING, "cuts"),
    },
    "l0-mpm delta=0.1 alpha=0.5": {
        "steepness": times(1.01, "params", "alpha"),
        "accuracy": times(5.0, "params", "delta"),
        "ridge": to(0.1, "params", "ridge"),
        "another penalty": to("capped-l1", "params", "approx"),
        "gradient": changed(first(lambda v: v + 0.01), "details", "v"),
        "multipliers": largest(1.01, *POINT, "y"),
    },
    "misclass alpha=0.5": OF_A_STEP,
    "fsv": {
        **OF_A_STEP,
        "steepness": to(0.5, "params", "alpha"),
        "another penalty": to("log", "params", "approx"),
        "weight": to(0.07, "params", "lam"),
    },
    "misclass without a model alpha=0.5": {
        "multipliers": times(0.9, "details", "alpha"),
        "steepness": to(0.6, "params", "alpha"),
        "weights": times(1.001, "coef"),
    },
    "rfe m=2": OF_A_SUBSET,
    "pearson m=2": {**OF_A_SUBSET, **OF_A_RANKING},
    "infogain m=2": {**OF_A_SUBSET, **OF_A_RANKING},
    "vs-ssvm n_partitions=3 c=0.5": {
        "multipliers": times(0.9, "details", "alpha"),
        "a larger capacity": times(4.0, "details", "w_cap"),
    },
    "rsvm w_cap=2.0": {
        "half of the multipliers": changed(
            lambda a: [v * (0.5 + 0.5 * (i % 2)) for i, v in enumerate(a)], "details", "alpha"
        ),
        "a larger capacity": times(4.0, "params", "w_cap"),
        **{
            name: changed(lambda v: (1.0 + np.array(v)).tolist(), "details", name)
            for name in ("capacity", "radius", "h_over_l", "gamma", "b_interval")
        },
    },
    "rsvm w_cap=1e3 kernel=gaussian": {
        "fewer support vectors": changed(lambda support: support[1:], "support"),
        "another weight": changed(first(lambda w: w + 1.0), "coef"),
        "another width": to(9.0, "params", "width"),
    },
    "gbd m=2": {
        "a sign": to(["x1"], "params", "negative"),
        "a bound": to({"x1": 1e-3}, "params", "upper"),
        "groups": to([["x1", "x3"]], "params", "groups"),
    },
}
"""Method with its parameters -> changes of its saved fit."""


@pytest.mark.parametrize("case", CASES)
def test_a_changed_part_of_the_evidence_is_refused_without_a_solver(case, monkeypatch):
    method, *words = case.replace(" without a model", "").split()
    params = {
        name: float(value) if value[0].isdigit() and name != "m" else value
        for name, value in (word.split("=") for word in words)
    }
    params |= {name: int(value) for name, value in params.items() if name in ("m", "n_partitions")}
    record = as_read((without_model if "model" in case else fsopt.fit)(method, DATA, **params), DATA)
    monkeypatch.setattr(fsopt.Session, "solve", lambda *args, **keywords: pytest.fail("a solver was called"))
    assert verify_record(record, DATA, "test").verified
    refuse_all(record, DATA, CASES[case])


SEARCHED = {
    "cuts, m": ("gbd", {"m": 2, "c": 4.0}),
    "cuts, lambda": ("gbd-lambda", {"lam": 2.0, "c": 1.0, "tolerance": 1e-4}),
    "few cuts": ("gbd", {"m": 2, "c": 4.0, "max_cuts": 4}),
    "tree, m": ("best-subset", {"m": 3, "c": 4.0}),
    "tree, lambda": ("best-subset-penalised", {"lam": 2.0, "c": 4.0, "tolerance": 1e-4}),
    "few nodes": ("best-subset", {"m": 2, "c": 4.0, "max_nodes": 0}),
}
SELECTIONS = reference("gbd_n6")


@cache
def saved(case):
    method, params = SEARCHED[case]
    return as_read(fsopt.fit(method, SELECTIONS, scale="none", **params), SELECTIONS)


def record_of(case):
    return copy.deepcopy(saved(case))


def check(record):
    return verify_record(record, SELECTIONS, "test")


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


OF_SELECTIONS = {
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


@pytest.mark.parametrize("case", sampled(["cuts, m", "tree, m", "cuts, lambda", "tree, lambda"], 2))
def test_a_forged_search_over_selections_is_not_verified(case, monkeypatch):
    record = record_of(case)
    monkeypatch.setattr(fsopt.Session, "solve", lambda *args, **keywords: pytest.fail("a solver was called"))
    found = check(record)
    assert found.verified, found.certificate
    assert ("since the loop leaves none" if "cuts" in case else "of the search:") in found.certificate.notes[0]
    damages = {"bound nan": "bound is not a number", "no cuts": "list of cuts"} if "cuts" in case else None
    refuse_all(record, SELECTIONS, OF_SELECTIONS | (OF_CUTS if "cuts" in case else OF_TREES), damages)


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
