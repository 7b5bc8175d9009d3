"""Saved answers to be changed: a fit by every method, a solve of every problem class, and what each of them states."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

import fsopt
from fsopt.answers.fits import fit_record
from fsopt.answers.records import sealed
from fsopt.answers.saved import solve_record

Record = dict[str, Any]
SECONDS = 20
FITS: Mapping[str, Mapping[str, Any]] = {
    "fisher": {"m": 3},
    "gbd": {"m": 2},
    "best-subset": {"m": 2},
    "gmeb-penalised": {"c_plus": 0.25, "c_minus": 0.25},
    "infogain": {"m": 3},
    "ks": {"m": 3},
    "pearson": {"m": 3},
    "rfe": {"m": 2},
    "vs-ssvm": {"n_partitions": 3},
}
"""Parameters of methods whose defaults keep all of five features, or none, or take long."""
SOLVES: Mapping[str, Mapping[str, Any]] = {
    "onsvm": {},
    "svm": {},
    "gmeb-dual": {},
    "gmeb-sdp": {},
    "fsv-exact": {"lam": 0.2},
    "fsp-m-bigm": {"m": 1},
    "fsp-m-perspective": {"m": 1},
    "l1-mpm": {"delta": 0.999},
}
"""A model of every class that a solver proves, and an infeasible one."""
CASES = [
    *((f"fit {name}", name, FITS.get(name, {})) for name in fsopt.METHODS),
    *((f"fit {name} with a kernel", name, {"kernel": "gaussian"}) for name in ("l0-mpm", "rsvm")),
    ("fit svm of a table", "svm", {}),
    *((f"solve {slug}", slug, at) for slug, at in SOLVES.items()),
]


def _data() -> fsopt.Dataset:
    """Return two classes of 24 samples that no hyperplane separates."""
    rng = np.random.default_rng(11)
    y = np.where(np.arange(24) % 2 == 0, 1.0, -1.0)
    X = np.round(rng.standard_normal((24, 5)) + np.outer(y, [0.7, 0.5, 0.0, 0.0, 0.2]), 3)
    y[:4] *= -1.0
    names = ("age", "height", "pressure", "pulse", "weight")
    return fsopt.Dataset(X, y, features=names, labels=("fit", "sick"))


def _table() -> fsopt.Dataset:
    """Return a raw table: texts as 0/1 features, and gaps."""
    rng = np.random.default_rng(0)
    kinds = [("abc"[i % 3], "" if i % 9 else "gap") for i in range(40)]
    frame = {
        "color": [["red", "blue", "green"][k] for k in rng.integers(3, size=40)],
        "size": [math.nan if gap else round(rng.normal(2.0 * (kind == "a")), 3) for kind, gap in kinds],
        "kind": [kind for kind, _ in kinds],
    }
    return fsopt.load_dataset(pd.DataFrame(frame), target="kind", positive="a", onehot=True, missing="mean")


DATA, TABLE = _data(), _table()


def data_of(name: str) -> fsopt.Dataset:
    """Return the data of a case."""
    return TABLE if name.endswith("of a table") else DATA


@cache
def record_of(name: str) -> Record:
    """Return the saved answer of a case."""
    _, slug, at = next(case for case in CASES if case[0] == name)
    if name.startswith("fit"):
        data = data_of(name)
        return sealed(fit_record(fsopt.fit(slug, data, **at), data=data, source="d"))
    model = fsopt.build(slug, DATA, **at)
    result = fsopt.solve(model, time_limit=SECONDS)
    record = solve_record(model, result, slug=slug, data=DATA, source="d", params=dict(at))
    return sealed(record | {"scale": "none"})


def statement(record: Record) -> Record:
    """Return what an answer states and anybody can recompute; the rest is evidence, or the digest's."""
    keys = ("method", "model", "scale", "params", "status", "objective", "bound", "coef", "intercept", "features")
    keys += ("support", "columns", "labels", "preprocessing", "train", "kernel", "deviation", "encoding", "solution")
    found = {key: record.get(key) for key in (*keys, "data_sha256")}
    return found | {"worst_case": (record.get("details") or {}).get("worst_case")}


def differing(new: Record, old: Record) -> set[str]:
    """Return the statements of a changed answer that are others, beyond the tolerance of certificates."""
    before, now = statement(old), statement(new)
    return {key for key in before if not same(now[key], before[key])}


def same(now: Any, before: Any) -> bool:
    """Return whether plain data say the same, up to 2e-6."""
    if isinstance(before, dict) and isinstance(now, dict):
        return before.keys() == now.keys() and all(same(now[key], before[key]) for key in now)
    if isinstance(before, list) and isinstance(now, list):
        return len(before) == len(now) and all(map(same, now, before))
    if isinstance(before, float) and isinstance(now, (int, float)):
        return abs(now - before) <= 2e-6 * max(1.0, abs(before))
    return bool(now == before) and isinstance(now, type(before))


WEAKER = {"optimal": ("stationary", "feasible"), "stationary": ("feasible",)}
"""Status -> those that an answer of it has as well."""


def true(new: Record, old: Record, kind: str) -> bool:
    """Return whether other statements of an answer, verified by a certificate of a kind, are true as well."""
    others = differing(new, old)
    if others == {"bound"} and new["status"] != "optimal":  # a weaker bound
        return new["bound"] is None or new["bound"] < old["bound"] < old["objective"]
    if others == {"status"} and new["status"] in WEAKER.get(old["status"], ()):
        return True
    if new.get("method") in ("misclass", "pmm") and others <= {"coef", "intercept"}:
        return True  # other weights have as few errors
    if kind in ("mixed-integer", "global") and others == {"params"}:
        return True  # a feasible point, whose bound is the word of a solver
    return bool(others & {"params", "method", "model", "scale"}) and _true_again(new)


def _true_again(new: Record) -> bool:
    """Return whether the problem of a changed answer, solved again, has the answer that is stated."""
    at = {k: math.inf if v == "inf" else v for k, v in new["params"].items()}
    pairs = []
    if "method" in new:
        found = fsopt.fit(new["method"], DATA, **at)
        if list(found.support) != new["support"] or found.preprocessing.kind != new["preprocessing"]["kind"]:
            return False
        pairs = [(found.coef, new["coef"]), (found.intercept, new["intercept"])]
    else:
        found = fsopt.solve(fsopt.build(new["model"], DATA, **at), time_limit=SECONDS)
    pairs.append((math.nan if found.objective is None else found.objective, new["objective"] or math.nan))
    close = all(np.allclose(a, b, rtol=1e-4, atol=1e-5, equal_nan=True) for a, b in pairs)
    return close and str(found.status) == new["status"]
