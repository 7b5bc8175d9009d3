"""The methods of a study: those of the registry, and the peers of other packages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fsopt.answers.fits import Fit
from fsopt.data import Dataset
from fsopt.drivers.run import Progress
from fsopt.errors import UnknownNameError, unknown
from fsopt.methods.registry import METHODS, check_changes, fit
from fsopt.methods.spec import MethodSpec
from fsopt.studies.peers import PEERS, Peer, fit_peer


def study_spec(name: str) -> MethodSpec | Peer:
    """Return the entry of a method or peer; raises UnknownNameError."""
    if name in PEERS:
        return PEERS[name]
    try:
        return METHODS[name]
    except UnknownNameError:
        raise unknown("method", name, [*METHODS, *PEERS], "fsopt methods", METHODS.words) from None


def comparison_params(name: str, p: int, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a method or peer in studies and comparisons: those given, and defaults beside them.

    Parameters
    ----------
    p : number of features.
    given : parameters by their names.

    Raises
    ------
    UnknownNameError : there is no such method.
    """
    return {**study_spec(name).compare(p), **given}


def study_fit(
    name: str,
    data: Dataset,
    *,
    solver: str | None = None,
    time_limit: float | None = None,
    progress: Progress | None = None,
    customise: Mapping[str, Any] | None = None,
    **params: Any,
) -> Fit:
    """Fit a method or peer; a peer has neither solver nor limit nor models to change.

    Raises
    ------
    FsoptError : as :func:`fsopt.fit`, or :func:`fsopt.studies.peers.fit_peer`.
    """
    if name in PEERS:
        return fit_peer(name, data, **params)
    rest: dict[str, Any] = {"progress": progress} if progress is not None else {}
    if customise:
        rest["customise"] = customise
    return fit(name, data, solver=solver, time_limit=time_limit, **rest, **params)


def check_study_changes(name: str, customise: Mapping[str, Any]) -> None:
    """Refuse a changed model that a method does not solve; raises UnknownNameError, ParameterError."""
    if name not in PEERS:
        check_changes(METHODS[name], customise)
    elif customise:
        raise unknown("model", next(iter(customise)), (), f"the peer '{name}' has no models")
