"""Changes of the claims: numbers that are none, objective, bound, status, stopping criterion, certificate, history."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from corruption.changes import Maker, Record, edited, of_both, of_fits

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


def _bad_values(field: str, bad: Any) -> Maker:
    def make(record: Record, rng: np.random.Generator, data: Any) -> Iterator[tuple[str, Any, bool]]:
        value = record[field]
        if bad is None and value is None:
            return
        # Without a bound nothing is stated, and infinity bounds an infeasible minimum from below.
        true = {"infeasible": (None, math.inf), "optimal": ()}.get(record["status"], (None,))
        false = field != "bound" or bad not in true
        if isinstance(value, list):
            yield "one entry", edited(record, field, int(rng.integers(len(value))), value=bad), false
            yield "all entries", edited(record, field, value=[bad] * len(value)), false
        yield "instead of it", edited(record, field, value=bad), false

    return make


for _name, _bad in BAD_VALUES.items():
    of_fits(f"coef: {_name}")(_bad_values("coef", _bad))
    of_fits(f"intercept: {_name}")(_bad_values("intercept", _bad))
    of_both(f"objective: {_name}")(_bad_values("objective", _bad))
    of_both(f"bound: {_name}")(_bad_values("bound", _bad))


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
        yield "far below", edited(record, "bound", value=record["objective"] - 10.0), True


@of_both("bound: moved away")
def _bound_moved(record, rng, data):
    bound = record["bound"]
    if isinstance(bound, float) and record["status"] == "optimal":
        for what, value in (("below", bound - 0.01 * max(1.0, abs(bound))), ("above", bound + 0.01)):
            yield what, edited(record, "bound", value=value), True


@of_both("status: upgraded")
def _upgraded(record, rng, data):
    stronger = {
        "feasible": ("optimal", "stationary"),
        "stationary": ("optimal",),
        "infeasible": ("optimal", "feasible"),
        "unbounded": ("optimal", "feasible", "infeasible"),
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
