"""Changes of the claims: numbers that are none, objective, bound, status, stopping criterion, certificate, history."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from corruption.changes import Maker, Record, edited, of_both, of_fits

HUGE = 10**400
"""An integer beyond the range of floats."""
BAD_VALUES = {"NaN": math.nan, "the word nan": "nan", "inf": math.inf, "400 digits": HUGE, "null": None}


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


@of_both("bound: moved or invented")
def _bound(record, rng, data):
    bound, objective = record["bound"], record["objective"]
    optimal = record["status"] == "optimal"
    if bound is None and isinstance(objective, float):
        yield "the objective", edited(record, "bound", value=objective), True
        yield "far below", edited(record, "bound", value=objective - 10.0), True
    if not isinstance(bound, float):
        return
    if optimal:
        for what, value in (("below", bound - 0.01 * max(1.0, abs(bound))), ("above", bound + 0.01)):
            yield what, edited(record, "bound", value=value), True
    if abs(bound) >= 1e-3:
        for what, value in (("doubled", 2 * bound), ("halved", bound / 2)):
            still_a_bound = (value <= objective) == (bound <= objective)
            yield what, edited(record, "bound", value=value), optimal or not still_a_bound


@of_both("status: changed")
def _status(record, rng, data):
    stronger = {
        "feasible": ("optimal", "stationary"),
        "stationary": ("optimal",),
        "infeasible": ("optimal", "feasible"),
        "unbounded": ("optimal", "feasible"),
    }
    for status in (*stronger.get(record["status"], ()), "infeasible", "unbounded", "none", "excellent"):
        if status != record["status"]:
            yield f"{record['status']} to {status}", edited(record, "status", value=status), True


@of_both("stop: changed")
def _stop(record, rng, data):
    for stop in ("optimal", "time-limit"):
        if record["stop"] != stop:
            yield f"{record['stop']} to {stop}", edited(record, "stop", value=stop), True


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


@of_fits("history: edited")
def _history(record, rng, data):
    for key, value in (record["history"] or [{}])[-1].items():
        if isinstance(value, float) and not key.startswith("seconds"):
            yield f"last {key}", edited(record, "history", -1, key, value=value + 0.1 * max(1.0, abs(value))), True
