"""Saved fits of every kind of evidence, changed by hand where random changes of saved answers seldom go."""

from functools import reduce
from operator import getitem

import numpy as np
import pytest
from saved_records import as_read, refuse_all
from support import blobs, without_model

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
STEP, POINT = ("details", "program_params"), ("details", "point")
OF_A_STEP = {
    "objective": times(0.999, "objective"),
    "weights": times(1.001, "coef"),
    "multipliers": largest(1.01, *POINT, "y"),
}
OF_A_SUBSET = {
    "a feature less": changed(lambda m: m - 1, "params", "m"),
    "other features": changed(lambda chosen: sorted((j + 1) % 3 for j in chosen), "details", "chosen"),
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
        "slope": times(1.01, *STEP, "alpha"),
        "accuracy of the step": times(1.01, *STEP, "delta"),
        "accuracy": times(0.9, "details", "delta"),
        "another penalty": to("capped-l1", "params", "approx"),
        "gradient": changed(first(lambda v: v + 0.01), *STEP, "v"),
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
        "counts": changed(first(lambda count: count + 1), "details", "counts"),
        "weights": times(1.01, "details", "sparse_w"),
        "swapped": changed(lambda w: w[::-1], "details", "sparse_w"),
        "multipliers": times(0.99, "details", "sparse_alpha"),
        "last multipliers": times(0.9, "details", "alpha"),
        "fewer parts": to(2, "params", "n_partitions"),
        "penalty weight": to(0.6, "params", "c"),
    },
    "rsvm w_cap=2.0": {
        "half of the multipliers": changed(
            lambda a: [v * (0.5 + 0.5 * (i % 2)) for i, v in enumerate(a)], "details", "alpha"
        ),
        "a larger capacity": times(4.0, "details", "w_cap"),
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
    "svm": {"a bound": to({"x1": 1e-3}, "params", "upper"), "a sign": to({"x1": 0.0}, "params", "lower")},
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
