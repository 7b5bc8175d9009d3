"""Checkpoints of generalized Benders: the state of the loop, in one file that appears whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fsopt.certificates.points import relative_gap
from fsopt.common.checkpoints import digest, undamaged
from fsopt.common.files import check_readable, checkpoint_of, whole_file
from fsopt.compiler import Program
from fsopt.data import Dataset
from fsopt.drivers.gbd.state import Selection, State
from fsopt.drivers.gbd.subproblem import Subproblem, certify_gbd
from fsopt.errors import FileError
from fsopt.typing import Vector

FORMAT = "fsopt gbd 2"
ITERATES = {"best": "best", "chosen": "validated"}
"""Prefix of the arrays of an iterate in the file -> its attribute of the state."""


def identity(data: Dataset, program: Program, validation: Dataset | None, **settings: Any) -> dict[str, str]:
    """Return the identity of a problem, name -> text, which a checkpoint shares with the run that resumes from it.

    The names are those of the file format.
    """
    A = program.A
    constraints = (A.data, A.indices, A.indptr, program.lo, program.hi, program.lb, program.ub, program.c)
    known = {"format": FORMAT, "data": digest(data.X, data.y), "limits or prices of the features": digest(*constraints)}
    held_out = "" if validation is None else digest(validation.X, validation.y)
    return known | {"validation rows": held_out} | {name: json.dumps(value) for name, value in settings.items()}


@dataclass(frozen=True)
class Saved:
    """A run in a checkpoint, between two iterations or within a step of the master.

    Attributes
    ----------
    state : of the loop.
    master : the arrays of its master, see :mod:`fsopt.drivers.gbd.master`.
    history : the records of the iterations that were complete.
    solvers : names of the solvers so far.
    stepping : whether the time ended in a step of the master, which is then to be completed.
    tolerance : of the run.
    """

    state: State
    master: Mapping[str, Any]
    history: list[Mapping[str, Any]]
    solvers: list[str]
    stepping: bool
    tolerance: float


def save(path: Path, run: Saved, problem: Mapping[str, str]) -> None:
    """Write a checkpoint in place of the last one; raises FileError."""
    state = run.state
    arrays: dict[str, Any] = {"alphas": np.array(state.alphas), "stale": state.stale, **run.master}
    arrays["tried"] = np.array([np.frombuffer(key) for key in sorted(state.tried)])
    for prefix, attribute in ITERATES.items():
        iterate: Selection | None = getattr(state, attribute)
        if iterate is not None:
            arrays |= {f"{prefix}_{k}": getattr(iterate, k) for k in ("sigma", "w")}
            arrays[f"{prefix}_numbers"] = [iterate.b, iterate.value, iterate.error]
    said = {"history": run.history, "solvers": run.solvers, "stepping": run.stepping, "tolerance": run.tolerance}
    words = json.dumps({"problem": dict(problem), **said}).encode()
    with whole_file(path) as temporary, temporary.open("wb") as file:
        np.savez(file, words=np.frombuffer(words, dtype=np.uint8), **arrays)


def load(path: Path, problem: Mapping[str, str], sub: Subproblem, penalties: Vector) -> Saved:
    """Read a checkpoint of the same problem, and check its cuts and hyperplanes against the data.

    The state has no lower bound and no selection to go on with: its master proves the one and finds the other again.

    Raises
    ------
    FileError : no checkpoint, a damaged one, or one of other data or settings.
    """
    with checkpoint_of("gbd", path):
        with check_readable(path, "the checkpoint").open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            held = {name: arrays[name] for name in arrays.files}
        if "text" in held:
            raise FileError(
                f"'{path}' is a checkpoint of branch and Benders",
                "resume it with best-subset or best-subset-penalised: 'gbd' is the cut loop alone",
            )
        words = json.loads(held["words"].tobytes())
        found, history = dict(words["problem"]), list(words["history"])
        solvers, stepping = [str(name) for name in words["solvers"]], bool(words["stepping"])
        tolerance = float(words["tolerance"])
    for name, value in problem.items():
        if found.get(name) != value:
            shown = "" if len(value) > 20 else f" ({found.get(name)}, not {value})"
            raise FileError(
                f"the checkpoint '{path}' is of a run that differs in {name}{shown}",
                "resume with the data and settings of that run, or start again without it",
            )
    with undamaged(path):
        return Saved(_state(held, sub, penalties), held, history, solvers, stepping, tolerance)


def _state(held: Mapping[str, Any], sub: Subproblem, penalties: Vector) -> State:
    """Return the state in the arrays of a checkpoint; raises ValueError where a number is wrong."""
    data, c = sub.data, sub.c
    alphas = [np.array(a, dtype=float) for a in held["alphas"]]
    if any(a.shape != (data.n,) for a in alphas):
        raise ValueError("its cuts have another number of samples")
    valid = certify_gbd(data, alphas, c, 0.0, 0.0, 1e-9)
    if not valid.ok:
        raise ValueError(f"its cuts are not valid, by {valid.worst:.1g}")
    lower = float(np.minimum(penalties, 0.0).sum())
    state = State(np.zeros(data.p), feasible=False, lower=lower, alphas=alphas, stale=int(held["stale"]))
    tried = np.array(held["tried"], dtype=float)
    if tried.size and tried.shape[1:] != (data.p,):
        raise ValueError("its selections have another number of features")
    state.tried = {row.tobytes() for row in tried}
    for prefix, attribute in ITERATES.items():
        if f"{prefix}_sigma" in held:
            setattr(state, attribute, _iterate(held, prefix, sub, penalties))
    return state


def _iterate(held: Mapping[str, Any], name: str, sub: Subproblem, penalties: Vector) -> Selection:
    """Return an iterate of a checkpoint, whose value is computed again from the data."""
    sigma, w = (np.array(held[f"{name}_{k}"], dtype=float) for k in ("sigma", "w"))
    b, value, error = (float(v) for v in held[f"{name}_numbers"])
    if sigma.shape != (sub.data.p,) or w.shape != sigma.shape or not np.isin(sigma, (0.0, 1.0)).all():
        raise ValueError(f"its {name} selection is not one of the features")
    again = sub.iterate(sigma, w, penalties, None)
    if not relative_gap(again.value, value) <= 1e-9 or np.any(w[sigma < 0.5]) or not 0.0 <= error <= 1.0:
        raise ValueError(f"the value of its {name} selection is {again.value:.9g}, not {value:.9g}")
    return Selection(sigma, again.w, b, value, error)
