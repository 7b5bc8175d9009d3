"""Changes of the classifier: features, support, weights, intercept, scores and preprocessing."""

from __future__ import annotations

import numpy as np
from corruption.changes import Record, edited, of_fits, scaled


@of_fits("labels: changed")
def _labels(record, rng, data):
    yield "", edited(record, "labels", value=record["labels"][::-1]), True
    yield "one", edited(record, "labels", 0, value="healthy"), True
    yield "equal", edited(record, "labels", value=[record["labels"][0]] * 2), True
    yield "one missing", edited(record, "labels", value=record["labels"][:1]), True


@of_fits("features: changed")
def _features(record, rng, data):
    if record["features"]:
        yield "to a new name", edited(record, "features", 0, value="colour"), True
        others = [name for name in record.get("columns", []) if name not in record["features"]]
        if others:
            yield "to another feature", edited(record, "features", 0, value=others[0]), True
    if len(record["features"]) > 1:
        yield "", edited(record, "features", value=record["features"][::-1]), True
    if record["features"]:
        yield "one more", edited(record, "features", value=record["features"] + record["features"][:1]), True
    if len(record["features"]) > 1:
        yield "in place", edited(record, "features", 1, value=record["features"][0]), True
    if record["features"]:
        yield "", edited(record, "features", value=[]), True


@of_fits("columns: permuted or renamed")
def _columns(record, rng, data):
    columns = record["columns"]
    yield "permuted", edited(record, "columns", value=columns[::-1]), True
    yield "renamed", edited(record, "columns", 0, value="colour"), True
    yield "one missing", edited(record, "columns", value=columns[:-1]), True


@of_fits("deviation: changed")
def _deviation(record, rng, data):
    deviation = record["deviation"]
    yield "scaled", edited(record, "deviation", value=[2.0 * s for s in deviation]), True
    yield "one missing", edited(record, "deviation", value=deviation[:-1]), True


@of_fits("encoding: added")
def _encoding_added(record, rng, data):
    column = {"kind": "number", "levels": [], "fill": 3.0, "indicator": False}
    columns = [{"name": name, **column} for name in record["columns"]]
    yield "means", edited(record, "encoding", value={"missing": "mean", "columns": columns}), True
    yield "no columns", edited(record, "encoding", value={"missing": "mean", "columns": []}), True


@of_fits("support: changed")
def _support(record, rng, data):
    if record["support"]:
        yield "", edited(record, "support", value=[]), True
        yield "with the features", edited(edited(record, "support", value=[]), "features", value=[]), True
    rest = [j for j in range(len(record["coef"])) if j not in record["support"]]
    if rest:
        longer = edited(record, "support", value=[*record["support"], rest[0]])
        yield "", longer, True
        name = _names(record)[rest[0]]
        yield "with the features", edited(longer, "features", value=[*record["features"], name]), True
    if record["support"]:
        yield "twice the same", edited(record, "support", value=record["support"] + record["support"][:1]), True
    if len(record["support"]) > 1:
        shorter = edited(record, "support", value=record["support"][:-1])
        yield "", shorter, True
        yield "with the features", edited(shorter, "features", value=record["features"][:-1]), True
    p = len(record["coef"])
    if 0 < len(record["support"]) < p:
        shifted = sorted((j + 1) % p for j in record["support"])
        yield "", edited(record, "support", value=shifted), True
        names = [_names(record)[j] for j in shifted]
        yield "with the features", edited(edited(record, "support", value=shifted), "features", value=names), True
    if record["support"]:
        yield "out of range", edited(record, "support", 0, value=p), True
        yield "negative", edited(record, "support", 0, value=-1), True


def _names(record: Record) -> list[str]:
    """Return the names of the features, or of the samples of a kernel."""
    if record.get("kernel") is None:
        return record["columns"]
    return [f"row {i}" for i in range(len(record["coef"]))]


@of_fits("coef: changed")
def _coef(record, rng, data):
    coef = record["coef"]
    yield "rotated", edited(record, "coef", value=coef[1:] + coef[:1]), True
    counts_errors = record["method"] in ("misclass", "pmm")  # other weights may have the same errors
    for factor in (2.0, 0.5, 1.001):
        yield f"by {factor}", edited(record, "coef", value=scaled(record["coef"], factor)), not counts_errors
    sizes = np.abs(record["coef"])
    if sizes.max() > 0:
        yield "the largest", edited(record, "coef", int(sizes.argmax()), value=0.0), True
    sizes = np.abs(record["coef"])
    if sizes.max() > 0:
        yield "all", edited(record, "coef", value=scaled(record["coef"], -1.0)), True
        largest = int(sizes.argmax())
        yield "the largest", edited(record, "coef", largest, value=-record["coef"][largest]), True
    rest = [j for j, value in enumerate(record["coef"]) if value == 0 and j not in record["support"]]
    if rest:
        yield "", edited(record, "coef", rest[0], value=float(np.abs(record["coef"]).max() or 1.0)), True
    yield "shorter", edited(record, "coef", value=record["coef"][:-1]), True


@of_fits("intercept: moved")
def _intercept(record, rng, data):
    yield "by 1", edited(record, "intercept", value=record["intercept"] + 1.0), True
    yield "sign", edited(record, "intercept", value=-record["intercept"]), abs(record["intercept"]) > 0.05


@of_fits("train scores: changed")
def _train(record, rng, data):
    for name, value in record["train"].items():
        yield name, edited(record, "train", name, value=value - 0.1 if value > 0.5 else value + 0.1), True
        yield f"{name} NaN", edited(record, "train", name, value="nan"), True


@of_fits("worst_case: changed")
def _worst_case(record, rng, data):
    if "worst_case" in record["details"]:
        worst = record["details"]["worst_case"]
        yield "reversed", edited(record, "details", "worst_case", value=worst[::-1]), abs(worst[0] - worst[1]) > 1e-3
        yield "raised", edited(record, "details", "worst_case", value=[min(1.0, v + 0.05) for v in worst]), True


@of_fits("preprocessing: changed")
def _preprocessing(record, rng, data):
    shift = record["preprocessing"]["shift"]
    yield "moved", edited(record, "preprocessing", "shift", value=[v + 0.1 for v in shift]), True
    yield "NaN", edited(record, "preprocessing", "shift", 0, value="nan"), True
    scale = record["preprocessing"]["scale"]
    yield "doubled", edited(record, "preprocessing", "scale", value=scaled(scale, 2.0)), True
    yield "zero", edited(record, "preprocessing", "scale", 0, value=0.0), True
    yield "NaN", edited(record, "preprocessing", "scale", 0, value="nan"), True
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
