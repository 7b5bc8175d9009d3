"""The kinds of change of a saved answer, and whether a changed file states something false.

A change is false if it alters a statement that fsopt prints or a number that ``predict`` uses; such a file must not be
verified. A change is harmless if the statements stay true, for example the number of seconds; such a file may be
verified or refused. Changes of parameters and of the method are judged by fitting again: the file stays true if the
same answer comes out.
"""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from corruption.answers import SECONDS, Hung, limited

import fsopt

Record = dict[str, Any]
HUGE = 10**400
"""An integer beyond the range of floats."""
BAD_VALUES = {
    "NaN": math.nan,
    "the word nan": "nan",
    "inf": math.inf,
    "400 digits": HUGE,
    "a word": "many",
    "null": None,
}
EVIDENCE = frozenset(
    {
        "alpha",
        "alphas",
        "below",
        "columns",
        "cuts",
        "leaves",
        "multipliers",
        "penalties",
        "point",
        "program",
        "program_params",
        "scaling",
        "sigma",
        "sparse_alpha",
        "sparse_b",
        "sparse_w",
        "starts",
        "units",
    }
)
"""Details that are evidence (multipliers, cuts, subproblems), not statements: an answer stays true without them."""


@dataclass(frozen=True)
class Changed:
    """A changed file.

    Attributes
    ----------
    what : the change, beside its kind: the parameter, the key or the value.
    text : the content of the file.
    false : whether a statement in it is false.
    """

    what: str
    text: str
    false: bool


Maker = Callable[[Record, np.random.Generator, Any], Iterator[tuple[str, Any, bool]]]
FIT_KINDS: dict[str, Maker] = {}
SOLVE_KINDS: dict[str, Maker] = {}


def of_fits(name: str) -> Callable[[Maker], Maker]:
    """Enter a kind of change of fits."""

    def enter(maker: Maker) -> Maker:
        FIT_KINDS[name] = maker
        return maker

    return enter


def of_solves(name: str) -> Callable[[Maker], Maker]:
    """Enter a kind of change of solves."""

    def enter(maker: Maker) -> Maker:
        SOLVE_KINDS[name] = maker
        return maker

    return enter


def of_both(name: str) -> Callable[[Maker], Maker]:
    """Enter a kind of change of fits and solves."""

    def enter(maker: Maker) -> Maker:
        FIT_KINDS[name] = SOLVE_KINDS[name] = maker
        return maker

    return enter


def changed_files(kind: str, record: Record, rng: np.random.Generator, data: Any) -> list[Changed]:
    """Return the files of a kind of change of a saved answer, none where it does not apply or changes nothing."""
    maker = (FIT_KINDS if "method" in record else SOLVE_KINDS)[kind]
    before = json.dumps(record)
    found = []
    for what, content, false in maker(copy.deepcopy(record), rng, data):
        text = content if isinstance(content, str) else json.dumps(content)
        if text != before:
            found.append(Changed(what, text, false))
    return found


def edited(record: Record, *path: Any, value: Any) -> Record:
    """Return a copy of a record with another value at a path of keys and places."""
    result = copy.deepcopy(record)
    inner = result
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return result


def without(record: Record, *path: Any) -> Record:
    """Return a copy of a record without the key at the end of a path."""
    result = copy.deepcopy(record)
    inner = result
    for key in path[:-1]:
        inner = inner[key]
    del inner[path[-1]]
    return result


def scaled(value: Any, factor: float) -> Any:
    """Return plain data with every number multiplied by a factor."""
    if isinstance(value, bool) or not isinstance(value, (int, float, list, dict)):
        return value
    if isinstance(value, list):
        return [scaled(v, factor) for v in value]
    if isinstance(value, dict):
        return {k: scaled(v, factor) for k, v in value.items()}
    return value * factor


# ---------------------------------------------------------------- numbers that are none


def _bad_values(field: str, name: str, bad: Any) -> Maker:
    def make(record: Record, rng: np.random.Generator, data: Any) -> Iterator[tuple[str, Any, bool]]:
        value = record[field]
        if bad is None and value is None:
            return
        false = not (bad is None and field == "bound" and record["status"] != "optimal")
        if isinstance(value, list):
            yield "one entry", edited(record, field, int(rng.integers(len(value))), value=bad), False or false
            yield "all entries", edited(record, field, value=[bad] * len(value)), false
        yield "instead of it", edited(record, field, value=bad), false

    return make


for _name, _bad in BAD_VALUES.items():
    of_fits(f"coef: {_name}")(_bad_values("coef", _name, _bad))
    of_fits(f"intercept: {_name}")(_bad_values("intercept", _name, _bad))
    of_both(f"objective: {_name}")(_bad_values("objective", _name, _bad))
    of_both(f"bound: {_name}")(_bad_values("bound", _name, _bad))


@of_both("objective: by 1e-3")
def _objective(record, rng, data):
    value = record["objective"]
    if value is not None:
        yield "up", edited(record, "objective", value=value + 1e-3 * max(1.0, abs(value))), True
        yield "down", edited(record, "objective", value=value - 1e-3 * max(1.0, abs(value))), True


@of_both("bound: doubled and halved")
def _bound(record, rng, data):
    bound, objective = record["bound"], record["objective"]
    if not isinstance(bound, float) or abs(bound) < 1e-3:
        return
    below = bound <= objective
    for what, value in (("doubled", 2 * bound), ("halved", bound / 2)):
        still_a_bound = (value <= objective) == below
        yield what, edited(record, "bound", value=value), record["status"] == "optimal" or not still_a_bound


@of_both("bound: invented")
def _bound_invented(record, rng, data):
    if record["bound"] is None and isinstance(record["objective"], float):
        yield "the objective", edited(record, "bound", value=record["objective"]), True


# ---------------------------------------------------------------- what a classifier is


@of_fits("labels: reversed")
def _labels_reversed(record, rng, data):
    yield "", edited(record, "labels", value=record["labels"][::-1]), True


@of_fits("labels: renamed")
def _labels_renamed(record, rng, data):
    yield "one", edited(record, "labels", 0, value="healthy"), True
    yield "equal", edited(record, "labels", value=[record["labels"][0]] * 2), True
    yield "one missing", edited(record, "labels", value=record["labels"][:1]), True
    yield "a number", edited(record, "labels", value=3), True


@of_fits("features: renamed")
def _features_renamed(record, rng, data):
    if record["features"]:
        yield "to a new name", edited(record, "features", 0, value="colour"), True
        others = [name for name in record.get("columns", []) if name not in record["features"]]
        if others:
            yield "to another feature", edited(record, "features", 0, value=others[0]), True


@of_fits("features: permuted")
def _features_permuted(record, rng, data):
    if len(record["features"]) > 1:
        yield "", edited(record, "features", value=record["features"][::-1]), True


@of_fits("features: duplicated")
def _features_duplicated(record, rng, data):
    if record["features"]:
        yield "one more", edited(record, "features", value=record["features"] + record["features"][:1]), True
    if len(record["features"]) > 1:
        yield "in place", edited(record, "features", 1, value=record["features"][0]), True


@of_fits("features: emptied")
def _features_emptied(record, rng, data):
    if record["features"]:
        yield "", edited(record, "features", value=[]), True
        yield "null", edited(record, "features", value=None), True


@of_fits("columns: permuted or renamed")
def _columns(record, rng, data):
    columns = record["columns"]
    yield "permuted", edited(record, "columns", value=columns[::-1]), True
    yield "renamed", edited(record, "columns", 0, value="colour"), True
    yield "one missing", edited(record, "columns", value=columns[:-1]), True


@of_fits("support: emptied")
def _support_emptied(record, rng, data):
    if record["support"]:
        yield "", edited(record, "support", value=[]), True
        yield "with the features", edited(edited(record, "support", value=[]), "features", value=[]), True


@of_fits("support: extended")
def _support_extended(record, rng, data):
    rest = [j for j in range(len(record["coef"])) if j not in record["support"]]
    if rest:
        longer = edited(record, "support", value=[*record["support"], rest[0]])
        yield "", longer, True
        name = _names(record)[rest[0]]
        yield "with the features", edited(longer, "features", value=[*record["features"], name]), True
    if record["support"]:
        yield "twice the same", edited(record, "support", value=record["support"] + record["support"][:1]), True


@of_fits("support: shortened")
def _support_shortened(record, rng, data):
    if len(record["support"]) > 1:
        shorter = edited(record, "support", value=record["support"][:-1])
        yield "", shorter, True
        yield "with the features", edited(shorter, "features", value=record["features"][:-1]), True


@of_fits("support: shifted")
def _support_shifted(record, rng, data):
    p = len(record["coef"])
    if 0 < len(record["support"]) < p:
        shifted = sorted((j + 1) % p for j in record["support"])
        yield "", edited(record, "support", value=shifted), True
        names = [_names(record)[j] for j in shifted]
        yield "with the features", edited(edited(record, "support", value=shifted), "features", value=names), True
    if record["support"]:
        yield "out of range", edited(record, "support", 0, value=p), True
        yield "negative", edited(record, "support", 0, value=-1), True
        yield "a half", edited(record, "support", 0, value=record["support"][0] + 0.5), True


def _names(record: Record) -> list[str]:
    """Return the names of the features, or of the samples of a kernel."""
    if record.get("kernel") is None:
        return record["columns"]
    return [f"row {i}" for i in range(len(record["coef"]))]


@of_fits("coef: permuted")
def _coef_permuted(record, rng, data):
    coef = record["coef"]
    yield "rotated", edited(record, "coef", value=coef[1:] + coef[:1]), True


@of_fits("coef: scaled")
def _coef_scaled(record, rng, data):
    counts_errors = record["method"] in ("misclass", "pmm")  # other weights may have the same errors
    for factor in (2.0, 0.5, 1.001):
        yield f"by {factor}", edited(record, "coef", value=scaled(record["coef"], factor)), not counts_errors


@of_fits("coef: one weight zeroed")
def _coef_zeroed(record, rng, data):
    sizes = np.abs(record["coef"])
    if sizes.max() > 0:
        yield "the largest", edited(record, "coef", int(sizes.argmax()), value=0.0), True


@of_fits("coef: signs flipped")
def _coef_flipped(record, rng, data):
    sizes = np.abs(record["coef"])
    if sizes.max() > 0:
        yield "all", edited(record, "coef", value=scaled(record["coef"], -1.0)), True
        largest = int(sizes.argmax())
        yield "the largest", edited(record, "coef", largest, value=-record["coef"][largest]), True


@of_fits("coef: one weight added")
def _coef_added(record, rng, data):
    rest = [j for j, value in enumerate(record["coef"]) if value == 0 and j not in record["support"]]
    if rest:
        yield "", edited(record, "coef", rest[0], value=float(np.abs(record["coef"]).max() or 1.0)), True


@of_fits("coef: of another length")
def _coef_length(record, rng, data):
    yield "shorter", edited(record, "coef", value=record["coef"][:-1]), True
    yield "nested", edited(record, "coef", value=[record["coef"]]), True


@of_fits("intercept: moved")
def _intercept(record, rng, data):
    yield "by 1", edited(record, "intercept", value=record["intercept"] + 1.0), True
    yield "sign", edited(record, "intercept", value=-record["intercept"]), abs(record["intercept"]) > 0.05


@of_fits("train scores: changed")
def _train(record, rng, data):
    for name, value in record["train"].items():
        yield name, edited(record, "train", name, value=value - 0.1 if value > 0.5 else value + 0.1), True
        yield f"{name} NaN", edited(record, "train", name, value="nan"), True
    yield "missing", edited(record, "train", value={}), False


@of_fits("worst_case: changed")
def _worst_case(record, rng, data):
    if "worst_case" in record["details"]:
        worst = record["details"]["worst_case"]
        yield "reversed", edited(record, "details", "worst_case", value=worst[::-1]), abs(worst[0] - worst[1]) > 1e-3
        yield "raised", edited(record, "details", "worst_case", value=[min(1.0, v + 0.05) for v in worst]), True


@of_fits("preprocessing: shift")
def _shift(record, rng, data):
    shift = record["preprocessing"]["shift"]
    yield "moved", edited(record, "preprocessing", "shift", value=[v + 0.1 for v in shift]), True
    yield "NaN", edited(record, "preprocessing", "shift", 0, value="nan"), True


@of_fits("preprocessing: scale")
def _scale(record, rng, data):
    scale = record["preprocessing"]["scale"]
    yield "doubled", edited(record, "preprocessing", "scale", value=scaled(scale, 2.0)), True
    yield "zero", edited(record, "preprocessing", "scale", 0, value=0.0), True
    yield "NaN", edited(record, "preprocessing", "scale", 0, value="nan"), True


@of_fits("preprocessing: kind")
def _kind(record, rng, data):
    for kind in ("none", "center", "standard", "unit-rows", "whiten"):
        if kind != record["preprocessing"]["kind"]:
            yield kind, edited(record, "preprocessing", "kind", value=kind), True


@of_fits("kernel: changed")
def _kernel(record, rng, data):
    kernel = record["kernel"]
    if kernel is None:
        columns = [[0.0] * len(record["columns"])]
        yield "invented", edited(record, "kernel", value={"name": "linear", "patterns": columns}), True
        return
    yield "width", edited(record, "kernel", "width", value=2 * kernel["width"]), True
    yield "patterns", edited(record, "kernel", "patterns", value=scaled(kernel["patterns"], 1.01)), True
    yield "removed", edited(record, "kernel", value=None), True


# ---------------------------------------------------------------- what is claimed of it


@of_both("status: upgraded")
def _upgraded(record, rng, data):
    stronger = {
        "feasible": ("optimal", "stationary"),
        "stationary": ("optimal",),
        "infeasible": ("optimal", "feasible"),
    }
    for status in stronger.get(record["status"], ()):
        yield f"{record['status']} to {status}", edited(record, "status", value=status), True


@of_both("status: downgraded")
def _downgraded(record, rng, data):
    weaker = {"optimal": ("feasible", "stationary"), "stationary": ("feasible",)}
    for status in weaker.get(record["status"], ()):
        yield f"{record['status']} to {status}", edited(record, "status", value=status), False


@of_both("status: none")
def _none(record, rng, data):
    for status in ("infeasible", "unbounded", "none"):
        if status != record["status"]:
            yield status, edited(record, "status", value=status), True


@of_both("status: nonsense")
def _nonsense(record, rng, data):
    for status in ("excellent", "", None, 3, ["optimal"], "Optimal"):
        yield repr(status), edited(record, "status", value=status), True


@of_both("stop: changed")
def _stop(record, rng, data):
    for stop in ("optimal", "time-limit"):
        if record["stop"] != stop:
            yield f"{record['stop']} to {stop}", edited(record, "stop", value=stop), True


@of_both("solver: renamed")
def _solver(record, rng, data):
    yield "", edited(record, "solver", value="mosek"), False
    yield "nonsense", edited(record, "solver", value={"a": 1}), False


@of_both("iterations and seconds: changed")
def _effort(record, rng, data):
    yield "iterations", edited(record, "iterations", value=10**6), False
    yield "iterations a word", edited(record, "iterations", value="many"), False
    yield "seconds", edited(record, "seconds", value={"total": 0.0}), False


@of_both("certificate: edited")
def _certificate(record, rng, data):
    certificate = record["certificate"]
    if certificate is None:
        return
    yield "ok", edited(record, "certificate", "ok", value=not certificate["ok"]), True
    yield "kind", edited(record, "certificate", "kind", value="gbd"), certificate["kind"] != "gbd"
    for name in ("objective", "bound"):
        if isinstance(certificate[name], float):
            changed = certificate[name] + 1e-3 * max(1.0, abs(certificate[name]))
            yield name, edited(record, "certificate", name, value=changed), True
    for name in certificate["residuals"]:
        yield f"residual {name}", edited(record, "certificate", "residuals", name, value=0.5), True
    yield "tolerance", edited(record, "certificate", "tolerance", value=1e-12), True
    yield "removed", edited(record, "certificate", value=None), False


@of_fits("history: edited")
def _history(record, rng, data):
    for key, value in (record["history"] or [{}])[-1].items():
        if isinstance(value, float) and not key.startswith("seconds"):
            yield f"last {key}", edited(record, "history", -1, key, value=value + 0.1 * max(1.0, abs(value))), True
    if record["history"]:
        yield "emptied", edited(record, "history", value=[]), False
    yield "a number", edited(record, "history", value=3), False


# ---------------------------------------------------------------- what was asked


@of_fits("params: changed")
def _params(record, rng, data):
    for name, value in record["params"].items():
        for other in other_values(name, value):
            changed = edited(record, "params", name, value=other)
            yield f"{name}: {value!r} to {other!r}", changed, not true_again(changed, record, data)


@of_fits("params: removed")
def _params_removed(record, rng, data):
    for name in record["params"]:
        changed = without(record, "params", name)
        yield name, changed, not true_again(changed, record, data)
    yield "all", edited(record, "params", value={}), not true_again(edited(record, "params", value={}), record, data)


@of_both("params: unknown or damaged")
def _params_unknown(record, rng, data):
    yield "unknown", edited(record, "params", "colour", value="red"), True
    yield "a list", edited(record, "params", value=[1, 2]), True
    yield "null", edited(record, "params", value=None), True
    for name, value in record["params"].items():
        if isinstance(value, float):
            yield f"{name} NaN", edited(record, "params", name, value="nan"), True
            yield f"{name} 400 digits", edited(record, "params", name, value=HUGE), True
            yield f"{name} a list", edited(record, "params", name, value=[value]), True


@of_fits("method: renamed")
def _method(record, rng, data):
    yield "nonsense", edited(record, "method", value="nonsense"), True
    yield "null", edited(record, "method", value=None), True
    for name in fsopt.METHODS:
        if name != record["method"]:
            changed = edited(record, "method", value=name)
            yield name, changed, not true_again(changed, record, data)


def other_values(name: str, value: Any) -> list[Any]:
    """Return values of a parameter that it does not have."""
    words = {
        "scale": ("none", "center", "standard", "unit-rows"),
        "machine": ("svm", "rsvm"),
        "rule": ("relative", "absolute"),
        "units": ("raw", "scaled"),
        "scaling": ("local", "global"),
        "route": ("auto", "dual", "primal", "cuts"),
        "approx": ("exp", "log"),
        "kernel": ("gaussian", "polynomial", "linear"),
        "start": ("all", "none"),
        "stabilisation": ("in-out", "none"),
    }
    if name in words:
        return [word for word in words[name] if word != value][:2]
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value + 1]
    if isinstance(value, float):
        return [2 * value, value / 2] if value else [0.5]
    if isinstance(value, list):
        return [[0]]
    return ["nonsense"]


def true_again(changed: Record, record: Record, data: Any) -> bool:
    """Return whether the method and parameters of a changed record give the answer of the record."""
    try:
        with limited(SECONDS):
            fit = fsopt.fit(changed["method"], data, **_keywords(changed["params"]))
    except Hung:
        return True  # not known to be false
    except Exception:
        return False
    if len(fit.coef) != len(record["coef"]) or list(fit.support) != record["support"]:
        return False
    same = (
        np.array(fit.coef),
        np.array([fit.intercept]),
        np.array([np.nan if fit.objective is None else fit.objective]),
    )
    saved = (record["coef"], [record["intercept"]], [record["objective"]])
    close = all(np.allclose(a, b, rtol=1e-4, atol=1e-5) for a, b in zip(same, saved, strict=True))
    return close and str(fit.status) == record["status"] and fit.preprocessing.kind == record["preprocessing"]["kind"]


def _keywords(params: Record) -> Record:
    return {k: math.inf if v == "inf" else v for k, v in params.items()}


# ---------------------------------------------------------------- details


@of_fits("details: emptied")
def _details_emptied(record, rng, data):
    yield "", edited(record, "details", value={}), False


@of_fits("details: not a mapping")
def _details_damaged(record, rng, data):
    for value in ([], "details", 3, None):
        yield repr(value), edited(record, "details", value=value), False


@of_fits("details: key removed")
def _details_removed(record, rng, data):
    for key in record["details"]:
        yield key, without(record, "details", key), False


@of_fits("details: key of another type")
def _details_types(record, rng, data):
    for key in record["details"]:
        for value in (None, "word", [], {}, HUGE):
            shown = repr(value) if value != HUGE else "400 digits"
            yield f"{key}: {shown}", edited(record, "details", key, value=value), key not in EVIDENCE


@of_fits("details: numbers by 1e-3")
def _details_perturbed(record, rng, data):
    for key, value in record["details"].items():
        yield key, edited(record, "details", key, value=scaled(value, 1.001)), key not in EVIDENCE


@of_fits("details: NaN")
def _details_nan(record, rng, data):
    for key, value in record["details"].items():
        yield key, edited(record, "details", key, value=_all_nan(value)), key not in EVIDENCE


def _all_nan(value: Any) -> Any:
    if isinstance(value, list):
        return [_all_nan(v) for v in value]
    if isinstance(value, dict):
        return {k: _all_nan(v) for k, v in value.items()}
    return "nan" if isinstance(value, float) else value


# ---------------------------------------------------------------- files


@of_both("data_sha256: replaced")
def _digest(record, rng, data):
    yield "", edited(record, "data_sha256", value="0" * 64), True
    yield "null", edited(record, "data_sha256", value=None), True


@of_both("file: truncated")
def _truncated(record, rng, data):
    text = json.dumps(record)
    for share in (0.0, 0.1, 0.5, 0.99):
        yield f"{share:.0%}", text[: int(share * len(text))], True


@of_both("file: not an object")
def _not_an_object(record, rng, data):
    yield "list", [record], True
    yield "number", "3", True
    yield "null", "null", True
    yield "word", '"optimal"', True


@of_both("file: deeply nested")
def _nested(record, rng, data):
    yield "lists", "[" * 100_000 + "]" * 100_000, True
    yield "objects", '{"a":' * 50_000 + "1" + "}" * 50_000, True
    inner = "[" * 50_000 + "]" * 50_000
    yield "in the record", json.dumps(edited(record, "message", value="@")).replace('"@"', inner), False


@of_both("file: bytes")
def _bytes(record, rng, data):
    yield "a null byte", "\0" + json.dumps(record), True
    yield "twice", json.dumps(record) * 2, True
    yield "byte order mark", "\ufeff" + json.dumps(record), False


@of_both("file: key removed")
def _key_removed(record, rng, data):
    needed = (
        "method",
        "model",
        "params",
        "status",
        "coef",
        "intercept",
        "support",
        "objective",
        "preprocessing",
        "point",
    )
    for key in record:
        yield key, without(record, key), key in needed and not (key == "objective" and record[key] is None)


@of_both("file: key twice")
def _key_twice(record, rng, data):
    yield "status", '{"status": "unbounded", ' + json.dumps(record)[1:], False
    yield "objective", json.dumps(record)[:-1] + ', "objective": 12345.0}', True


# ---------------------------------------------------------------- solves


@of_solves("solution: changed against the point")
def _solution(record, rng, data):
    for name, values in (record["solution"] or {}).items():
        yield name, edited(record, "solution", name, value=scaled(values, 1.01)), _some_number(values)
        yield f"{name} removed", without(record, "solution", name), False


def _some_number(values: Any) -> bool:
    flat = np.array(list(values.values()) if isinstance(values, dict) else values, dtype=object).ravel()
    return any(isinstance(v, (int, float)) and abs(v) > 1e-3 for v in flat)


@of_solves("point: perturbed")
def _point(record, rng, data):
    for name in ("x", "y", "z"):
        part = (record["point"] or {}).get(name)
        if part:
            false = name == "x" and max(map(abs, part)) > 1e-3
            yield f"{name} by 1e-3", edited(record, "point", name, value=scaled(part, 1.001)), false
            yield f"{name} NaN", edited(record, "point", name, 0, value="nan"), name == "x"
            yield f"{name} shorter", edited(record, "point", name, value=part[:-1]), name == "x"
            yield f"{name} a word", edited(record, "point", name, value="word"), name == "x"
    if record["point"]:
        yield "removed", edited(record, "point", value=None), True
        yield "a list", edited(record, "point", value=[1.0]), True


@of_solves("params: changed")
def _solve_params(record, rng, data):
    entry = fsopt.MODELS[record["model"]]
    default = {"c": 1.0, "r_plus": 3.0, "r_minus": 3.0, "lam": 0.05}
    for name in entry.parameters:
        if name in default or name in record["params"]:
            value = record["params"].get(name, default.get(name))
            other = value + 3 if isinstance(value, int) else 2 * value
            yield f"{name}: {value} to {other}", edited(record, "params", name, value=other), True


@of_solves("model: swapped")
def _model(record, rng, data):
    for slug in ("svm", "onsvm", "gmeb-dual", "gmeb-primal", "fsv-step", "rlp", "svm-norm", "nonsense", None):
        if slug != record["model"]:
            yield str(slug), edited(record, "model", value=slug), True


@of_solves("scale: changed")
def _solve_scale(record, rng, data):
    for scale in ("standard", "center", "nonsense", None):
        if scale != record["scale"]:
            yield str(scale), edited(record, "scale", value=scale), True


@of_solves("labels: changed")
def _solve_labels(record, rng, data):
    yield "reversed", edited(record, "labels", value=record["labels"][::-1]), True
