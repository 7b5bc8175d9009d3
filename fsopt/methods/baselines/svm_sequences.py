"""Support vector machines of many candidates on the same training samples, each begun where another one ended.

Cross-validation needs their hyperplanes alone. Those that it chooses among are fitted, with certificates, one by one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import fields
from itertools import groupby
from typing import Any

import numpy as np

from fsopt.answers.results import Status
from fsopt.data import Dataset
from fsopt.data.hyperplanes import midpoint_intercept
from fsopt.data.names import places_by_name
from fsopt.data.scaling import Preprocessing
from fsopt.drivers.run import DEFAULT_RUN
from fsopt.errors import OutOfTimeError, ParameterError, SolverError
from fsopt.methods.large_programs import generation_order
from fsopt.methods.preprocessing import Hyperplane, preprocess, raw_hyperplane
from fsopt.methods.selection import SelectionRule
from fsopt.models.blocks import hinge_cost, number, one_norm, whole
from fsopt.models.gbd.onsvm import build_onsvm
from fsopt.solvers.base import Session
from fsopt.svm.rfe import smallest_weights
from fsopt.svm.warm import WarmSvm
from fsopt.typing import Vector

DEFAULTS = {"c": 1.0, "scale": "standard"}
"""Of ``svm`` and ``rfe``."""
RawHyperplane = tuple[Vector, float]
"""Weights (p,) and intercept for raw features."""


def svm_hyperplanes(data: Dataset, candidates: Sequence[Mapping[str, Any]]) -> list[RawHyperplane] | None:
    """Return the hyperplanes of ``svm`` at candidates of C on one scale, the smallest C first; None for any others."""
    candidates = _without_rules(candidates)
    if not all(_usual({**DEFAULTS, **at}, {"c", "scale"}, data.p) for at in candidates):
        return None
    return _hyperplanes(data, [{**at, "m": data.p} for at in candidates])


def rfe_hyperplanes(data: Dataset, candidates: Sequence[Mapping[str, Any]]) -> list[RawHyperplane] | None:
    """Return the hyperplanes of ``rfe`` at candidates of m and C on one scale; None for any others.

    There is one elimination for each C, whose machines at the numbers of features m are the answers.
    """
    return _hyperplanes(data, candidates)


def onsvm_hyperplanes(data: Dataset, candidates: Sequence[Mapping[str, Any]]) -> list[RawHyperplane] | None:
    """Return the hyperplanes of ``onsvm`` at candidates of C on one scale; None for any others.

    One linear program stays loaded and gets one C after another, the smallest first: each begins at the last basis.
    """
    candidates = [{"c": 1.0, "scale": "standard", **at} for at in candidates]
    usual = all(_usual(at, {"c", "scale"}, data.p) for at in candidates)
    scales = {at["scale"] for at in candidates}
    if data.sparse or not usual or len(scales) > 1 or generation_order("auto", data, DEFAULT_RUN)[0]:
        return None
    work, map_ = preprocess(data, scales.pop())
    values = sorted({float(at["c"]) for at in candidates})
    model = build_onsvm(work, c=values[0])
    norm, found = one_norm(model), {}
    try:
        session = Session(model)
        w, (b,) = session.columns(model.w), session.columns(model.b)
        for c in values:
            model.objective.set_value(norm + hinge_cost(model, work, c))
            session.update(model.objective)
            result = session.solve(load=False)
            if result.status is not Status.OPTIMAL or result.point is None:
                return None
            found[c] = raw_hyperplane(Hyperplane(result.point.x[w], float(result.point.x[b]), ()), map_)
    except OutOfTimeError:
        raise
    except SolverError:  # the fit has another route, or says at which candidate
        return None
    return [found[float(at["c"])] for at in candidates]


def l1_svm_hyperplanes(data: Dataset, candidates: Sequence[Mapping[str, Any]]) -> list[RawHyperplane] | None:
    """Return the hyperplanes of ``l1-svm`` at candidates of C on one scale; None for any others."""
    return onsvm_hyperplanes(data, _without_rules(candidates))


def _without_rules(candidates: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    """Return candidates without their selection rules, which change no hyperplane; as they are where one is wrong."""
    names = [field.name for field in fields(SelectionRule)]
    try:
        for at in candidates:
            SelectionRule(**{name: at[name] for name in names if name in at})
    except ParameterError:
        return candidates
    return [{name: value for name, value in at.items() if name not in names} for at in candidates]


def _hyperplanes(data: Dataset, candidates: Sequence[Mapping[str, Any]]) -> list[RawHyperplane] | None:
    candidates = [{**DEFAULTS, **at} for at in candidates]
    scale = candidates[0]["scale"]
    if data.sparse or not all(_usual(at, {"c", "scale", "m"}, data.p) and at["scale"] == scale for at in candidates):
        return None
    work, map_ = preprocess(data, scale)
    found: dict[tuple[float, int], RawHyperplane] = {}
    machines: WarmSvm | None = None
    for c, group in groupby(sorted(candidates, key=lambda at: float(at["c"])), key=lambda at: float(at["c"])):
        machines = WarmSvm(work, c) if machines is None else machines.at(c)
        machines.solve(np.ones(data.p, dtype=bool))  # its multipliers are the beginning for the next C
        counts = {min(int(at["m"]), data.p) for at in group}
        answers = _elimination(copy(machines), counts, map_)
        if answers is None:
            return None
        found |= {(c, m): answer for m, answer in answers.items()}
    return [found[float(at["c"]), min(int(at["m"]), data.p)] for at in candidates]


def _usual(at: Mapping[str, Any], names: set[str], p: int) -> bool:
    """Return whether a candidate has these parameters and values in range: what is wrong with others, the fit says."""
    if at.keys() != names:
        return False
    try:
        number("svm", "c", at["c"])
        if "m" in names:
            whole("rfe", "m", at["m"], high=p)
    except ParameterError:
        return False
    return True


def _elimination(machines: WarmSvm, counts: set[int], map_: Preprocessing) -> dict[int, RawHyperplane] | None:
    """Return the hyperplanes at numbers of features of one elimination; None where a machine was not solved."""
    data, found = machines.data, {}
    places, selection = places_by_name(data.features), np.ones(data.p, dtype=bool)
    # Each pass removes one of the p features, or ends.
    while True:
        answer, left = machines.solve(selection), int(selection.sum())
        if answer is None:
            return None
        w = answer[0]
        if left in counts:
            b = midpoint_intercept(data.X @ w, data.y, data.weights)
            found[left] = raw_hyperplane(Hyperplane(w, b, ()), map_)
        if left <= min(counts):
            return found
        selection[smallest_weights(w, np.flatnonzero(selection), 1, places)] = False
