"""Checkpoints of generalized Benders: what the loop holds, in one file that appears whole or not at all."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fsopt.certificates.residuals import relative_gap
from fsopt.compiler import Program
from fsopt.data import Dataset
from fsopt.drivers.gbd.master import Subproblem
from fsopt.drivers.gbd.state import Iterate, State, certify_gbd
from fsopt.errors import FileError
from fsopt.files import whole_file
from fsopt.typing import Vector

FORMAT = "fsopt gbd 1"


AGAIN = "start again without it"


def digest(*arrays: ArrayLike) -> str:
    """Return the SHA-256 of arrays and their shapes."""
    found = hashlib.sha256()
    for array in map(np.ascontiguousarray, arrays):
        found.update(repr(array.shape).encode() + array.tobytes())
    return found.hexdigest()


def identity(data: Dataset, program: Program, validation: Dataset | None, **settings: Any) -> dict[str, str]:
    """Return what a checkpoint must agree in with the run that goes on from it: name -> text."""
    A = program.A
    rows = (A.data, A.indices, A.indptr, program.lo, program.hi, program.lb, program.ub, program.c)
    known = {"format": FORMAT, "data": digest(data.X, data.y), "limits or prices of the features": digest(*rows)}
    held_out = "" if validation is None else digest(validation.X, validation.y)
    return known | {"validation rows": held_out} | {name: json.dumps(value) for name, value in settings.items()}


def save(path: Path, state: State, history: list[Mapping[str, Any]], problem: Mapping[str, str]) -> None:
    """Write a checkpoint in place of the last one; raises FileError."""
    arrays: dict[str, Any] = {"alphas": np.array(state.alphas), "lower": state.lower, "stale": state.stale}
    arrays["tried"] = np.array([np.frombuffer(key) for key in sorted(state.tried)])
    for name in ("best", "chosen"):
        kept: Iterate | None = getattr(state, name)
        if kept is not None:
            arrays |= {f"{name}_{k}": getattr(kept, k) for k in ("sigma", "w")}
            arrays[f"{name}_numbers"] = [kept.b, kept.value, kept.error]
    words = json.dumps({"problem": dict(problem), "history": history}).encode()
    with whole_file(path) as temporary, temporary.open("wb") as file:
        np.savez(file, words=np.frombuffer(words, dtype=np.uint8), **arrays)


def load(
    path: Path, problem: Mapping[str, str], sub: Subproblem, prices: Vector
) -> tuple[State, list[Mapping[str, Any]]]:
    """Read a checkpoint of the same problem, and check its cuts and machines against the data.

    The saved lower bound is for information: whoever goes on proves it again.

    Raises
    ------
    FileError : no checkpoint, a damaged one, or one of other data or settings.
    """
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            held = {name: arrays[name] for name in arrays.files}
        words = json.loads(held["words"].tobytes())
        found, history = dict(words["problem"]), list(words["history"])
    except OSError as error:
        raise FileError(f"cannot read the checkpoint '{path}': {error.strerror or error}", "check the path") from error
    except (ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile) as error:
        raise FileError(f"'{path}' is no checkpoint of gbd: {error}", AGAIN) from error
    for name, value in problem.items():
        if found.get(name) != value:
            shown = "" if len(value) > 20 else f" ({found.get(name)}, not {value})"
            raise FileError(
                f"the checkpoint '{path}' is of a run that differs in {name}{shown}",
                "resume with the data and settings of that run, or start again without it",
            )
    try:
        return _state(held, sub, prices), history
    except (ValueError, KeyError, TypeError) as error:
        raise FileError(f"the checkpoint '{path}' is damaged: {error}", AGAIN) from error


def _state(held: Mapping[str, Any], sub: Subproblem, prices: Vector) -> State:
    """Return the state in the arrays of a checkpoint; raises ValueError where a number is wrong."""
    data, c = sub.data, sub.c
    alphas = [np.array(a, dtype=float) for a in held["alphas"]]
    if any(a.shape != (data.n,) for a in alphas):
        raise ValueError("its cuts have another number of rows")
    feasible = certify_gbd(data, alphas, c, 0.0, 0.0, 1e-9)
    if not feasible.ok:
        raise ValueError(f"its cuts are not valid, by {feasible.worst:.1g}")
    state = State(np.zeros(data.p), lower=float(held["lower"]), alphas=alphas, stale=int(held["stale"]))
    tried = np.array(held["tried"], dtype=float)
    if tried.size and tried.shape[1:] != (data.p,):
        raise ValueError("its selections have another number of features")
    state.tried = {row.tobytes() for row in tried}
    for name in ("best", "chosen"):
        if f"{name}_sigma" in held:
            setattr(state, name, _iterate(held, name, sub, prices))
    return state


def _iterate(held: Mapping[str, Any], name: str, sub: Subproblem, prices: Vector) -> Iterate:
    sigma, w = (np.array(held[f"{name}_{k}"], dtype=float) for k in ("sigma", "w"))
    b, value, error = (float(v) for v in held[f"{name}_numbers"])
    if sigma.shape != (sub.data.p,) or w.shape != sigma.shape or not np.isin(sigma, (0.0, 1.0)).all():
        raise ValueError(f"its {name} selection is none")
    again = sub.iterate(sigma, w, prices, None)
    if not relative_gap(again.value, value) <= 1e-9 or np.any(w[sigma < 0.5]) or not 0.0 <= error <= 1.0:
        raise ValueError(f"the value of its {name} selection is {again.value:.9g}, not {value:.9g}")
    return Iterate(sigma, again.w, b, value, error)
