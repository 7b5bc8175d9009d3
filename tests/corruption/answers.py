"""Saved answers to be changed: a fit by every method, and a solve of every problem class, made on the command line."""

from __future__ import annotations

import contextlib
import io
import json
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import fsopt
from fsopt.cli import main

NAMES = ("age", "height", "pressure", "pulse", "weight")
SECONDS = 20
"""Longest solve of a changed model."""


@dataclass(frozen=True)
class Case:
    """An answer to be saved: the words of the command line behind ``fsopt``."""

    name: str
    words: tuple[str, ...]

    @property
    def is_fit(self) -> bool:
        """Whether it is a fit; else it is a solve."""
        return self.words[0] == "fit"


def _case(verb: str, slug: str, note: str = "", solver: str = "", **params: Any) -> Case:
    words = [verb, slug] + (["--solver", solver] if solver else [])
    for name, value in params.items():
        words += ["--param", f"{name}={json.dumps(value) if not isinstance(value, str) else value}"]
    return Case(f"{verb} {slug}{note}", tuple(words))


SMALL: Mapping[str, Mapping[str, Any]] = {
    "fisher": {"m": 3},
    "gbd": {"m": 2},
    "best-subset": {"m": 2},
    "gmeb-penalised": {"c_plus": 0.25, "c_minus": 0.25},
    "infogain": {"m": 3},
    "ks": {"m": 3},
    "pearson": {"m": 3},
    "relief": {"m": 3},
    "rfe": {"m": 2},
    "r2w2": {"m": 2},
    "vs-ssvm": {"n_partitions": 3},
}
"""Parameters of methods whose defaults keep all of five features, or none, or take long."""
SOLVES = {
    "LP": ("onsvm", {}),
    "QP": ("svm", {}),
    "SOCP": ("gmeb-dual", {}),
    "SDP": ("gmeb-sdp", {}),
    "MILP": ("fsv-exact", {"lam": 0.2}),
    "MIQP": ("fsp-m-bigm", {"m": 1}),
    "MISOCP": ("fsp-m-perspective", {"m": 1}),
    "NLP": ("kernel-scaling", {}),
    "MINLP": ("fsp-m", {"m": 1}),
}
"""Problem class -> a model of it, and its parameters."""


def cases() -> list[Case]:
    """Return the answers: of every method, of some methods on other ways, and a model of every class."""
    fits = [_case("fit", name, **SMALL.get(name, {})) for name in fsopt.METHODS]
    fits += [
        _case("fit", "l0-mpm", " (kernel)", kernel="gaussian"),
        _case("fit", "rsvm", " (kernel)", kernel="gaussian"),
        _case("fit", "rsvm", " (kernel, capacity to spare)", kernel="gaussian", w_cap=1e6),
        _case("fit", "onsvm", " (generated)", generate=True),
        _case("fit", "fsv", " (generated)", generate=True),
    ]
    solves = [_case("solve", slug, f" ({c})", **params) for c, (slug, params) in SOLVES.items()]
    solves += [
        _case("solve", "l1-mpm", " (infeasible)", delta=0.999),
    ]
    if fsopt.SOLVERS["ipopt"].available:
        solves.append(_case("solve", "gmeb-nonconvex", " (stationary)", solver="ipopt"))
    return [*fits, *solves]


@dataclass(frozen=True)
class Outcome:
    """The end of one command.

    Attributes
    ----------
    code : exit code; None after an exception that would be a traceback.
    out, err : standard output and error.
    raised : the exception.
    """

    code: int | None
    out: str
    err: str
    raised: str = ""

    @property
    def verified(self) -> bool:
        """Whether ``fsopt check`` verified the file."""
        return self.code == 0

    @property
    def by_word(self) -> bool:
        """Whether it is verified as feasible at most, and what more it claims is named as the word of a solver."""
        found = json.loads(self.out) if self.verified else {}
        named = str(found.get("certificate", {}).get("bound_source", "")).startswith("the word of ")
        return named and found["recomputed"] == "feasible"

    @property
    def fault(self) -> str:
        """What is wrong with the way it ended: a traceback, an unknown exit code, an unclear message; else empty.

        The lines that start with ``data:`` tell the labels in any case.
        """
        if self.code is None:
            return f"traceback: {self.raised}"
        if self.code not in (0, 1, 2):
            return f"exit code {self.code}"
        try:
            found = json.loads(self.out)
        except ValueError:
            return f"no JSON object on stdout: {self.out[:80]!r}"
        if self.code == 2:
            error = found.get("error", {})
            lines = [line for line in self.err.splitlines() if line.strip() and not line.startswith("data: ")]
            if not error.get("message") or not error.get("hint"):
                return f"exit code 2 without a message and a hint: {found}"
            if len(lines) != 1 or "Traceback" in self.err or len(lines[0]) > MOST_CHARACTERS:
                return f"not one clear line: {self.err[:200]!r}"
        elif found.get("verified", self.verified) is not self.verified:
            return f"exit code {self.code}, but verified is {found['verified']}"
        return ""


MOST_CHARACTERS = 600
"""Length of an error message that is still clear."""


def run(*words: str) -> Outcome:
    """Run a command line in this process."""
    out, err = io.StringIO(), io.StringIO()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            main(list(words))
    except SystemExit as end:
        return Outcome(end.code if isinstance(end.code, int) else 0, out.getvalue(), err.getvalue())
    except Exception as error:
        return Outcome(None, out.getvalue(), err.getvalue(), f"{type(error).__name__}: {str(error)[:120]}")
    return Outcome(0, out.getvalue(), err.getvalue())


@dataclass(frozen=True)
class Answers:
    """The saved answers in a folder, beside their data."""

    folder: Path

    @property
    def data(self) -> Path:
        """The file of the data."""
        return self.folder / "data.csv"

    def data_words(self) -> list[str]:
        """Return the options of the command line that name the data."""
        return ["--data", str(self.data), "--label", "state"]

    def write_data(self) -> None:
        """Write two classes of 24 samples that no hyperplane separates, with words for labels and names of features."""
        rng = np.random.default_rng(11)
        y = np.where(np.arange(24) % 2 == 0, 1.0, -1.0)
        X = np.round(rng.standard_normal((24, 5)) + np.outer(y, [0.7, 0.5, 0.0, 0.0, 0.2]), 3)
        y[:4] *= -1.0
        lines = [",".join([*NAMES, "state"])]
        lines += [",".join([*map(str, x), "sick" if s > 0 else "fit"]) for x, s in zip(X.tolist(), y, strict=True)]
        self.data.write_text("\n".join(lines) + "\n")

    @cache  # noqa: B019 - one object for each process
    def record(self, case: Case) -> dict[str, Any]:
        """Return the JSON object of an answer as it was saved."""
        path = self.folder / f"{case.name.replace(' ', '-')}.json"
        verb, name, *rest = case.words
        ended = run(verb, name, *self.data_words(), *rest, "--json", "-o", str(path))
        if not path.is_file():
            raise RuntimeError(f"'{case.name}' was not saved: {ended.err or ended.raised}")
        return json.loads(path.read_text())

    def check(self, text: str) -> Outcome:
        """Return the outcome of ``fsopt check`` on a file with this text."""
        return self._run("check", text)

    def predict(self, text: str) -> Outcome:
        """Return the outcome of ``fsopt predict`` with a file of this text."""
        return self._run("predict", text)

    def _run(self, verb: str, text: str) -> Outcome:
        path = self.folder / "changed.json"
        path.write_text(text)
        return run(verb, str(path), *self.data_words(), "--json")

    def dataset(self) -> Any:
        """Return the data as the command line reads them."""
        return fsopt.load_dataset(str(self.data), target="state")
