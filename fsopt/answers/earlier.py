"""Fits of earlier versions in the words of today.

``gbd`` was two algorithms; one of them is ``best-subset`` now. The last machine of ``rfe`` was a solve of ``fsp-sub``;
its multipliers of the margins are those of ``svm`` on the features that are left.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

SEARCHES = {"gbd": "best-subset", "gbd-lambda": "best-subset-penalised"}
"""Method of versions before 0.3 -> its name where branch and Benders made the fit."""
OF_LOOP = ("start", "root_cuts", "stabilisation", "master_solver", "max_cuts", "validation", "patience", "seed")
OF_SEARCH = ("initial", "max_nodes", "jobs")
"""The parameters of one algorithm, which a fit of the other had at their defaults."""
BRANCH = "branch-and-benders"
ADDED: Mapping[str, Mapping[str, Any]] = {
    "best-subset": {"loss": "hinge"},
    "best-subset-penalised": {"loss": "hinge"},
    "fsv": {"approx": "exp"},
    "pmm": {"generate": False},
}
"""Method -> parameters that it did not have before 0.3, at the values of fits from then."""


def present(method: str, params: Mapping[str, Any], *, searched: bool) -> tuple[str, Mapping[str, Any]]:
    """Return method and parameters of a saved fit as they are called today.

    Parameters
    ----------
    searched : whether the fit has the tree of branch and Benders for evidence.
    """
    if method not in SEARCHES or not (searched or "variant" in params):
        return method, {**ADDED.get(method, {}), **params}
    dropped = ("variant", *(OF_LOOP if searched else OF_SEARCH))
    name = SEARCHES[method] if searched else method
    return name, {**ADDED.get(name, {}), **{k: v for k, v in params.items() if k not in dropped}}


def without_variant(method: str, params: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return method and parameters of a call in the words of version 0.2, with a warning that names those of today.

    The parameters are unchanged, but for ``variant``: one that the method of today does not have is refused there.
    """
    if method not in SEARCHES or "variant" not in params:
        return method, dict(params)
    variant = params["variant"]
    rest = {k: v for k, v in params.items() if k != "variant"}
    name = SEARCHES[method] if variant == BRANCH else method
    what = f"is method '{name}' now" if variant == BRANCH else f"is gone: method '{name}' is the cut loop alone"
    warnings.warn(f"variant={variant!r} of '{method}' {what}", DeprecationWarning, stacklevel=4)
    return name, rest


def evidence(method: str, details: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the details of a saved fit as the method writes them today.

    Raises
    ------
    KeyError, TypeError, ValueError : they are damaged.
    """
    if method != "rfe" or details.get("program") != "fsp-sub":
        return details
    at = details["program_params"]
    sigma, y = at["sigma"], details["point"]["y"]
    kept = [j for j, inside in enumerate(sigma) if inside]
    return {"c": at["c"], "alpha": y[: len(y) - len(sigma)], "chosen": kept, "machine": "svm"}
