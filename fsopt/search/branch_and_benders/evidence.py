"""The evidence of a search as plain data, and its verification: every cut in integers, every leaf by its cut."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fsopt.answers.certificate import Certificate, Kind
from fsopt.certificates.points import of_bounds
from fsopt.search.branch_and_benders.cuts import Grid, valid_grid
from fsopt.search.branch_and_benders.incumbents import Incumbent
from fsopt.search.branch_and_benders.problem import SelectionProblem
from fsopt.search.branch_and_benders.replay import Replayed, cuts_by_name, replay
from fsopt.search.branch_and_benders.search import SelectionSearch
from fsopt.search.branch_and_benders.tree import FORGOTTEN, LEAF, PEG, size_of
from fsopt.typing import Vector

FORMAT = "tree 1"
LEVEL = 1
"""Level of compression: multipliers at 0 and C, the most of them, compress at any."""
LARGEST = 2**28
"""Bytes of a part of the evidence, above those that a search keeps: a few kilobytes may expand to gigabytes."""


def pack(search: SelectionSearch) -> dict[str, Any]:
    """Return the evidence behind the bound of a search: strings and numbers alone."""
    leaves = {node.number: node.cut.name for node in search.frontier.nodes}
    used: dict[int, int] = {}
    stream = renumbered(search.tree.stream(leaves), used, search.tree.cuts)
    cuts = [search.tree.cuts[name] for name in used]
    grids = np.array([grid for grid, _ in cuts], dtype=np.int32).reshape(len(cuts), search.problem.n)
    mu = np.array([multipliers for _, multipliers in cuts]).reshape(len(cuts), len(search.problem.r))
    return {
        "format": FORMAT,
        "tree": _text(np.array(stream, dtype=np.int32)),
        "alpha": _text(grids),
        "mu": _text(mu),
        "cuts": len(cuts),
    }


def renumbered(stream: list[int], used: dict[int, int], known: Mapping[int, Any]) -> list[int]:
    """Return a stream whose cuts are numbered from 0 in the order of their first use, which ``used`` is given."""
    out, place = list(stream), 0
    while place < len(out):
        mark = out[place]
        if mark in (PEG, LEAF):
            name = out[place + 1]
            out[place + 1] = used.setdefault(name, len(used)) if name in known else FORGOTTEN
        place += size_of(out, place)
    return out


def verify(problem: SelectionProblem, evidence: Mapping[str, Any]) -> Replayed:
    """Replay packed evidence, without a search; a leaf whose cut was not kept is bounded by its relaxation again.

    Raises
    ------
    ValueError, KeyError, TypeError : the evidence is damaged, or is of another problem.
    """
    stream, cuts = unpacked(problem, evidence)
    return replay(problem, stream, cuts_by_name(problem, dict(enumerate(cuts))))


def unpacked(problem: SelectionProblem, evidence: Mapping[str, Any]) -> tuple[list[int], list[tuple[Grid, Vector]]]:
    """Return the stream of packed evidence, and the multipliers of its cuts: on the grid (n,), and mu (k,).

    Raises
    ------
    ValueError, KeyError, TypeError : the evidence is damaged, or is of another problem.
    """
    if evidence["format"] != FORMAT:
        raise ValueError(f"its format is {evidence['format']!r}")
    count = evidence["cuts"]
    if not isinstance(count, int) or isinstance(count, bool) or count < 0:
        raise ValueError(f"its number of cuts is {count!r}")
    grids = _array(evidence["alpha"], np.int32).reshape(count, problem.n)
    mu = _array(evidence["mu"], np.float64).reshape(count, len(problem.r))
    return _array(evidence["tree"], np.int32).tolist(), list(zip(grids, mu, strict=True))


def certify(search: SelectionSearch, answer: Incumbent, lower: float) -> Certificate:
    """Certify the bounds: every cut that closes a leaf is dual feasible in integers, and the gap is closed."""
    y, tops = search.problem.y, search.problem.tops
    cuts = search.tree.cuts.items()
    wrong = sum(not valid_grid(grid, y, tops) for name, (grid, _) in cuts if name in search.tree.used)
    residuals, tolerance = {"infeasible cuts": float(wrong)}, search.settings.tolerance
    return of_bounds(Kind.GBD, residuals, answer.value, lower, tolerance=tolerance, source="branch and bound")


def useful_cuts(search: SelectionSearch) -> list[Grid]:
    """Return the multipliers of the cuts in the pool."""
    return [search.tree.cuts[name][0] for name in search.pool.names.tolist() if name in search.tree.cuts]


def _text(array: NDArray[Any]) -> str:
    """Return the little-endian bytes of an array, compressed, as text."""
    little = array.astype(array.dtype.newbyteorder("<"))
    return base64.b64encode(zlib.compress(little.tobytes(), LEVEL)).decode("ascii")


def _array(text: Any, dtype: type) -> NDArray[Any]:
    """Return the array of :func:`_text`; raises ValueError where it is none."""
    stream = zlib.decompressobj()
    try:
        raw = stream.decompress(base64.b64decode(text, validate=True), LARGEST)
    except zlib.error as error:
        raise ValueError(str(error)) from error
    if stream.unconsumed_tail or not stream.eof:
        raise ValueError("a part of the evidence is too large, or ends early")
    return np.frombuffer(raw, dtype=np.dtype(dtype).newbyteorder("<")).astype(dtype)
