"""Checkpoints of branch and Benders: the whole state of the search, in one file that appears whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fsopt.algorithms.branch_and_benders.problem import SelectionProblem
from fsopt.algorithms.branch_and_benders.search import SelectionSearch
from fsopt.algorithms.branch_and_benders.settings import BranchSettings
from fsopt.algorithms.branch_and_benders.state import restored, snapshot
from fsopt.common.files import checkpoint_of, whole_file
from fsopt.data.losses import HINGE
from fsopt.data.matrices import parts_of
from fsopt.drivers.gbd.checkpoint import digest, undamaged
from fsopt.errors import FileError

FORMAT = "fsopt branch and benders 4"


def identity(problem: SelectionProblem) -> dict[str, str]:
    """Return the identity of a problem, name -> text, which a checkpoint shares with the run that resumes from it."""
    fixed = problem.fixed
    return {
        "format": FORMAT,
        "data": digest(*parts_of(problem.X), problem.y),
        "limits or prices of the features": digest(problem.R, problem.r, problem.lam, fixed.inside, fixed.outside),
        "c": json.dumps(problem.c),
        **({} if problem.weights is None else {"weights of the samples": digest(problem.weights)}),
        **({} if problem.loss is HINGE else {"loss": problem.loss.name}),
    }


@dataclass(frozen=True)
class SavedSearch:
    """A run in a checkpoint, between two nodes or two stages of the root.

    Attributes
    ----------
    search : its state.
    history : the records of the slices that were complete.
    slice_end : number of nodes at which the slice ends that was begun.
    elapsed : seconds so far.
    initial : the digest of the selection that it was given to start from, empty for none.
    """

    search: SelectionSearch
    history: list[Mapping[str, Any]]
    slice_end: int
    elapsed: float
    initial: str


def save(path: Path, run: SavedSearch) -> None:
    """Write a checkpoint in place of the last one; raises FileError."""
    arrays, words = snapshot(run.search)
    said = {name: getattr(run, name) for name in ("history", "slice_end", "elapsed", "initial")}
    text = json.dumps({"problem": identity(run.search.problem), "words": words, **said}).encode()
    with whole_file(path) as temporary, temporary.open("wb") as file:
        np.savez(file, text=np.frombuffer(text, dtype=np.uint8), **arrays)


def load(path: Path, problem: SelectionProblem, settings: BranchSettings) -> SavedSearch:
    """Read a checkpoint of the same problem; bounds, values and the tree are computed again.

    Raises
    ------
    FileError : no checkpoint, a damaged one, or one of other data or settings.
    """
    with checkpoint_of("branch and Benders", path):
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            saved = {name: arrays[name] for name in arrays.files}
        if "words" in saved:
            raise FileError(f"'{path}' is a checkpoint of the cut loop", "resume it with gbd or gbd-lambda")
        words = json.loads(saved["text"].tobytes())
        found, history = dict(words["problem"]), list(words["history"])
    wanted = identity(problem)
    for name in {**wanted, **found}:
        value = wanted.get(name, "")
        if found.get(name) != value:
            shown = "" if not value or len(value) > 30 else f" ({found.get(name)}, not {value})"
            raise FileError(
                f"the checkpoint '{path}' is of a run that differs in {name}{shown}",
                "resume with the data and settings of that run, or start again without it",
            )
    with undamaged(path):
        search = restored(problem, settings, saved, words["words"])
        return SavedSearch(search, history, int(words["slice_end"]), float(words["elapsed"]), str(words["initial"]))
