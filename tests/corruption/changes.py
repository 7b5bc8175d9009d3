"""What a kind of change of a saved answer is, and whether a changed file states something false.

A change is false if it alters a statement that fsopt prints or a number that ``predict`` uses; such a file must not be
verified. A change is harmless if the statements stay true, for example the number of seconds; such a file may be
verified or refused. Changes of parameters and of the method are judged by fitting again: the file stays true if the
same answer comes out. A change of the question of a search may leave a false bound behind that nobody can recompute,
and a point that answers the new question as well: such a file may be verified as feasible, with the bound named as the
word of a solver (:data:`WORD`), and not as more.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from fsopt.answers.records import sealed

Record = dict[str, Any]
WORD = "word"
"""The truth of a file in which nothing is false but the bound of a search."""


@dataclass(frozen=True)
class Changed:
    """A changed file.

    Attributes
    ----------
    what : the change, beside its kind: the parameter, the key or the value, and what was done to the digest.
    text : the content of the file.
    false : whether a statement in it is false, or :data:`WORD`.
    """

    what: str
    text: str
    false: bool | str


def digest_kept(record: Record) -> Record:
    """Return a changed record with the digest of the record before the change."""
    return record


def digest_renewed(record: Record) -> Record:
    """Return a changed record with its own digest, as anybody can write it."""
    return sealed(record)


NOT_RECOMPUTED = ("certificate: ", "details: ", "file: ", "history: ", "stop: ")
"""Kinds of statements that only the digest shows to be changed; others can be recomputed from the data."""
Maker = Callable[[Record, np.random.Generator, Any], Iterator[tuple[str, Any, bool | str]]]
FIT_KINDS: dict[str, Maker] = {}
SOLVE_KINDS: dict[str, Maker] = {}


def _of(name: str, kinds: tuple[dict[str, Maker], ...]) -> Callable[[Maker], Maker]:
    """Enter a kind of change of fits, of solves, or of both."""

    def enter(maker: Maker) -> Maker:
        for entered in kinds:
            entered[name] = maker
        return maker

    return enter


of_fits, of_solves = partial(_of, kinds=(FIT_KINDS,)), partial(_of, kinds=(SOLVE_KINDS,))
of_both = partial(_of, kinds=(FIT_KINDS, SOLVE_KINDS))


def changed_files(kind: str, record: Record, rng: np.random.Generator, data: Any) -> list[Changed]:
    """Return the files of a kind of change of a saved answer, none where it does not apply or changes nothing."""
    maker = (FIT_KINDS if "method" in record else SOLVE_KINDS)[kind]
    digests = [digest_kept] if kind.startswith(NOT_RECOMPUTED) else [digest_kept, digest_renewed]
    found = []
    for what, content, false in maker(copy.deepcopy(record), rng, data):
        if isinstance(content, str):
            found.append(Changed(what, content, false))
        elif not isinstance(content, dict):
            found.append(Changed(what, json.dumps(content), false))
        elif content != record:
            found += [Changed(_described(what, seal), json.dumps(seal(content)), false) for seal in digests]
    return found


def _described(what: str, seal: Callable[[Record], Record]) -> str:
    note = "" if seal is digest_kept else seal.__name__.replace("_", " ")
    return ", ".join(part for part in (what, note) if part)


def edited(record: Record, *path: Any, value: Any) -> Record:
    """Return a copy of a record with another value at a path of keys and places."""
    result = copy.deepcopy(record)
    inner = result
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return result


def without(record: Record, *path: Any) -> Record:
    """Return a copy of a record without the key at the end of a path."""
    result = copy.deepcopy(record)
    inner = result
    for key in path[:-1]:
        inner = inner[key]
    del inner[path[-1]]
    return result


def scaled(value: Any, factor: float) -> Any:
    """Return plain data with every number multiplied by a factor."""
    if isinstance(value, bool) or not isinstance(value, (int, float, list, dict)):
        return value
    if isinstance(value, list):
        return [scaled(v, factor) for v in value]
    if isinstance(value, dict):
        return {k: scaled(v, factor) for k, v in value.items()}
    return value * factor
