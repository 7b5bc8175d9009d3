"""Saved answers to be changed: a fit by every method, a solve of every problem class, and what each of them states."""

import copy
import json
import math
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from forgery.engine import changed, one
from support import without_model

import fsopt
from fsopt.answers.fits import fit_record
from fsopt.answers.records import sealed
from fsopt.answers.saved import fit_from, intact, read_record, solve_record
from fsopt.search.branch_and_benders import evidence
from fsopt.verification.verify import verify_record

Record = dict[str, Any]
SECONDS = 20
FITS: Mapping[str, Mapping[str, Any]] = {
    "fisher": {"m": 3, "w_cap": 4.0},
    "gbd": {"m": 2},
    "best-subset": {"m": 2},
    "gmeb-penalised": {"c_plus": 0.25, "c_minus": 0.25},
    "infogain": {"m": 3},
    "ks": {"m": 3, "w_cap": 4.0},
    "misclass": {"alpha": 0.5},
    "mopfs": {"w_cap": 6.0, "c": 1.0},
    "pearson": {"m": 3, "w_cap": 4.0},
    "rfe": {"m": 2},
    "vs-ssvm": {"n_partitions": 3, "c": 4.0},
}
"""Parameters of methods whose defaults keep all of five features, or none, or bind nowhere."""
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
CASES = {
    **{f"fit {name}": (name, FITS.get(name, {})) for name in fsopt.METHODS},
    **{f"fit {name} with a kernel": (name, {"kernel": "gaussian"}) for name in ("l0-mpm", "rsvm")},
    "fit svm of a table": ("svm", {}),
    "fit misclass without a model": ("misclass", {"alpha": 0.5}),
    "fit mopfs by global scaling": ("mopfs", {"w_cap": 6.0, "c": 1.0, "scaling": "global"}),
    "fit best-subset of few nodes": ("best-subset", {"m": 2, "max_nodes": 0}),
    **{f"solve {slug}": (slug, at) for slug, at in SOLVES.items()},
}
"""Name -> method or model, and its parameters."""


def _data(seed: int) -> fsopt.Dataset:
    """Return two classes of 24 samples that no hyperplane separates."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(24) % 2 == 0, 1.0, -1.0)
    X = np.round(rng.standard_normal((24, 5)) + np.outer(y, [0.7, 0.5, 0.0, 0.0, 0.2]), 3)
    y[:4] *= -1.0
    names = ("age", "height", "pressure", "pulse", "weight")
    return fsopt.Dataset(X, y, features=names, labels=("fit", "sick"))


def _table(seed: int) -> fsopt.Dataset:
    """Return a raw table: texts as 0/1 features, and gaps."""
    rng = np.random.default_rng(seed)
    kinds = [("abc"[i % 3], "" if i % 9 else "gap") for i in range(40)]
    frame = {
        "color": [["red", "blue", "green"][k] for k in rng.integers(3, size=40)],
        "size": [math.nan if gap else round(rng.normal(2.0 * (kind == "a")), 3) for kind, gap in kinds],
        "kind": [kind for kind, _ in kinds],
    }
    return fsopt.load_dataset(pd.DataFrame(frame), target="kind", positive="a", onehot=True, missing="mean")


@cache
def data_of(name: str, other: bool = False) -> fsopt.Dataset:
    """Return the data of a case, or other ones with the same features."""
    return _table(2 * other) if name.endswith("of a table") else _data(11 + other)


@cache
def record_of(name: str, other: bool = False) -> Record:
    """Return the saved answer of a case, or that to its question about other data."""
    slug, at = CASES[name]
    data = data_of(name, other)
    if name.startswith("fit"):
        fit = (without_model if "without" in name else fsopt.fit)(slug, data, **at)
        return _plain(fit_record(fit, data=data, source="d"))
    model = fsopt.build(slug, data, **at)
    result = fsopt.solve(model, time_limit=SECONDS)
    return _plain(solve_record(model, result, slug=slug, data=data, source="d", params=dict(at)) | {"scale": "none"})


def _plain(record: Record) -> Record:
    """Return a record as its file has it."""
    return json.loads(json.dumps(sealed(record)))


PACKED = {"tree": np.int32, "alpha": np.int32, "mu": np.float64}
"""The packed arrays of a search, which are lists in the records here."""


def opened(record: Record) -> Record:
    """Return a copy of a record with the arrays of a search as lists, of which each number can be changed."""
    record = copy.deepcopy(record)
    if held := record.get("details", {}).get("evidence"):
        held |= {name: evidence._array(held[name], kind).tolist() for name, kind in PACKED.items()}
    return record


def packed(record: Any) -> Any:
    """Return a record as its file has it; lists that are no arrays stay as they are."""
    try:
        held = dict(record["details"]["evidence"])
        for name in PACKED:
            with suppress(KeyError, TypeError, ValueError, OverflowError):
                held[name] = evidence._text(np.array(held[name], PACKED[name]))
        return {**record, "details": {**record["details"], "evidence": held}}
    except (KeyError, TypeError, ValueError):
        return record


def resealed(record: Any) -> Any:
    """Return a changed record as its file, with its own digest, or as it is where it has none."""
    try:
        return sealed({key: value for key, value in packed(record).items() if key != "digest"})
    except (TypeError, ValueError, OverflowError, AttributeError):
        return record


def forged(seed: int) -> tuple[str, list[str], Record]:
    """Return the name of a case, the kinds of changes, and its changed record with a digest of its own."""
    rng = np.random.default_rng([7, seed])
    name = one(list(CASES), rng)
    other = record_of(name, True) if rng.random() < 0.5 else record_of(one(list(CASES), rng))
    kinds, new = changed(opened(record_of(name)), rng, opened(other))
    return name, kinds, resealed(new)


def judged(text: str | bytes, name: str) -> fsopt.Verification:
    """Do with the text of a file what ``fsopt check`` and ``fsopt predict`` do."""
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        file.write(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))
        file.flush()
        record, data = read_record(file.name), data_of(name)
        found = verify_record(record, data, file.name)
        if "method" in record and intact(record):
            fit_from(record, file.name).predict(data.X)
        return found


def falsely(text: str, name: str) -> set[str]:
    """Return what a changed file states otherwise where it is verified all the same, and that is not true."""
    new, old = json.loads(text), record_of(name)
    try:
        found = judged(text, name)
    except fsopt.FsoptError:
        return set()
    others = differing(new, old) if found.verified else set()
    return set() if not others or true(new, old, found.certificate.kind, data_of(name)) else others


def statement(record: Record) -> Record:
    """Return what an answer states and anybody can recompute; the rest is evidence, or the digest's."""
    keys = ("method", "model", "scale", "params", "status", "objective", "bound", "coef", "intercept", "features")
    keys += ("support", "columns", "labels", "preprocessing", "train", "kernel", "deviation", "encoding", "solution")
    found = {key: record[key] for key in (*keys, "data_sha256") if key in record}
    details = record.get("details") or {}
    return found | {key: details[key] for key in ("worst_case",) if key in details}


def differing(new: Record, old: Record) -> set[str]:
    """Return the statements of a changed answer that are others, beyond the tolerance of certificates."""
    before, now = statement(old), statement(new)
    return {key for key in before if not same(now.get(key), before[key])}


def same(now: Any, before: Any) -> bool:
    """Return whether plain data say the same, up to the largest tolerance of certificates."""
    if isinstance(before, dict) and isinstance(now, dict):
        return before.keys() == now.keys() and all(same(now[key], before[key]) for key in now)
    if isinstance(before, list) and isinstance(now, list):
        return len(before) == len(now) and all(map(same, now, before))
    if isinstance(before, float) and isinstance(now, (int, float)):
        return abs(now - before) <= 3e-5 * max(1.0, abs(before))
    return bool(now == before) and isinstance(now, type(before))


WEAKER = {"optimal": ("stationary", "feasible"), "stationary": ("feasible",)}
"""Status -> those that an answer of it has as well."""


FREE = {
    *("params.seed", "params.step", "params.tolerance", "params.max_cuts", "params.max_iterations", "params.max_nodes"),
    "params.n_starts",
    *("details.starts", "details.point.x", "details.evidence.alpha", "details.evidence.mu", "evidence.x"),
    *("details.alphas less", "details.alphas reversed", "details.worst_case reversed"),
}
"""Parts that no statement depends on, and cuts, of which others prove as much; some only where they are so changed."""
WEAK = {
    "gmeb": {"params.r_plus"},
    "gmeb-penalised": {"details.leaves reversed", "details.leaves.mu more", "details.leaves.share more"},
    "misclass": {"params.alpha more", "params.alpha less", "details.point.y more"},
    "pmm": {"coef more", "intercept more"},
    "fsv": {"intercept more"},
    "mopfs": {"params.c", "params.w_cap"},
    "rfe": {"params.m more"},
    "rsvm": {"intercept more", "details.alpha reversed", "details.b_interval reversed"},
    "svm": {"details.alpha more"},
    "best-subset": {"bound less"},
    "vs-ssvm": {"params.c", "params.n_partitions"},
    "gmeb-dual": {"solution.mu_plus"},
}
"""Method or model -> parts of which another number is true as well: no active constraint, or a number between."""


def free(record: Record) -> set[str]:
    """Return the parts of which other values are true as well."""
    return FREE | WEAK.get(record.get("method") or record["model"], set())


def true(new: Record, old: Record, kind: str, data: fsopt.Dataset) -> bool:
    """Return whether other statements of an answer, verified by a certificate of a kind, are true as well."""
    others = differing(new, old)
    weaker = (old["status"], *WEAKER.get(old["status"], ()))
    if others <= {"status", "bound"} and new["status"] in weaker:
        bound = new.get("bound")
        loose = bound is None or (old["bound"] is not None and bound < old["bound"])
        return others == {"status"} or (new["status"] != "optimal" and loose)
    if others == {"kernel"}:  # parts that were left out have their defaults
        return same({**old["kernel"], **new["kernel"]}, old["kernel"])
    if others <= {"coef", "intercept"}:  # other weights have as few errors, or norms and losses that are as large
        return new["method"] in ("misclass", "pmm") or np.allclose(_measures(new, data), _measures(old, data), 1e-4)
    if others == {"params"}:  # a solver's word for a bound, or parameters that no statement depends on, or a loose one
        moved = {f"params.{k}" for k, value in new["params"].items() if not same(value, old["params"].get(k))}
        if kind in ("mixed-integer", "global", "mop") or moved <= {part.split()[0] for part in free(new)}:
            return True
    return bool(others & {"params", "method", "model", "scale"}) and _true_again(new, data)


def _measures(record: Record, data: fsopt.Dataset) -> tuple[float, float, float]:
    """Return the norms of a hyperplane, and the sum of its hinge losses."""
    w, scores = np.array(record["coef"]), fit_from(record, "").decision_function(data.X)
    return float(np.abs(w).sum()), float(np.linalg.norm(w)), float(np.maximum(0.0, 1.0 - data.y * scores).sum())


def _true_again(new: Record, data: fsopt.Dataset) -> bool:
    """Return whether the problem of a changed answer, solved again, has the answer that is stated."""
    at = {k: math.inf if v == "inf" else v for k, v in new["params"].items()}
    pairs = []
    if "method" in new:
        found = fsopt.fit(new["method"], data, **at)
        if list(found.support) != new["support"] or found.preprocessing.kind != new["preprocessing"]["kind"]:
            return False
        pairs = [(found.coef, new["coef"]), (found.intercept, new["intercept"])]
    else:
        found = fsopt.solve(fsopt.build(new["model"], data, **at), time_limit=SECONDS)
    pairs.append((math.nan if found.objective is None else found.objective, new["objective"] or math.nan))
    close = all(np.allclose(a, b, rtol=1e-4, atol=1e-5, equal_nan=True) for a, b in pairs)
    return close and str(found.status) == new["status"]
