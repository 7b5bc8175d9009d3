"""Option ``--path`` of ``select``: the best selection of every size, for every C, and a lower bound on each."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fsopt.cli.output import EXIT_INTERRUPTED, EXIT_SOLVED, progress_bar, show, table
from fsopt.common.files import brief
from fsopt.errors import ParameterError

if TYPE_CHECKING:
    from fsopt.data import Dataset


def selection_path(source: Dataset, numbers: str, own: Mapping[str, Any]) -> tuple[dict[str, Any], int]:
    """Return the path of a data set as a record, and the exit code.

    Parameters
    ----------
    numbers : of features, as ``1,2,5`` or ``1-10``; ``all`` for all.
    own : the keywords of :func:`fsopt.selection_path` that are given.
    """
    from fsopt.analysis.selection_paths import selection_path as run
    from fsopt.answers.records import plain

    m = _numbers(numbers, source.p)
    with progress_bar("path") as update:

        def report(entry: Mapping[str, Any]) -> None:
            shown = f"objective {entry['objective']:.6g}, bound {entry['bound']:.6g}"
            update(entry["iteration"], f"path: C = {entry['c']:g}, m = {entry['m']}, {shown}")

        found = run(source, m=m, progress=report, **own)
    record = plain({"data": source.name, "n": source.n, "p": source.p, **found.heading, "rows": found.to_records()})
    wanted = (source.p + 1 if m is None else len(set(m))) * len(set(own.get("c", (1.0,))))
    return record, EXIT_SOLVED if len(found.m) == wanted else EXIT_INTERRUPTED


def _numbers(text: str, p: int) -> list[int] | None:
    """Return the numbers of features in ``1,2,5`` or ``1-10``, or both; None for ``all``; raises ParameterError."""
    if text == "all":
        return None
    found: list[int] = []
    for part in text.split(","):
        ends = re.fullmatch(r"(\d{1,9})(?:-(\d{1,9}))?", part.strip(), re.ASCII)
        first, last = (0, -1) if ends is None else (int(ends[1]), int(ends[2] or ends[1]))
        if first > last:
            raise ParameterError(f"--path is '{brief(text)}'", "give numbers of features, as 1,2,5 or 1-10, or all")
        if last > p:
            raise ParameterError(f"--path is '{brief(text)}', and the data have {p} features", "give smaller numbers")
        found += range(first, last + 1)
    return found


def print_path(record: Mapping[str, Any]) -> None:
    """Print a path as a table."""
    heads = (">C", ">M", ">objective", ">lower bound", ">gap", ">nodes", "features")
    rows = []
    for row in record["rows"]:
        gap = "closed" if row["optimal"] else f"{row['gap']:.2%}"
        names = ", ".join(row["features"]) or "none"
        rows.append((f"{row['c']:g}", row["m"], row["objective"], row["bound"], gap, row["nodes"], names))
    show(table("", heads, rows))
