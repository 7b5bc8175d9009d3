"""Output of the command line: results on stdout, remarks on stderr, one JSON object with --json."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from fsopt.errors import FsoptError, OutOfTime

if TYPE_CHECKING:
    from rich.table import Table

EXIT_SOLVED = 0
EXIT_NOT_SOLVED = 1
EXIT_BAD_INPUT = 2
EXIT_INTERRUPTED = 130


def remark(text: str) -> None:
    """Print a remark on stderr."""
    print(text, file=sys.stderr)


def report_error(error: FsoptError, *, as_json: bool) -> int:
    """Print an error as one line on stderr, with ``as_json`` as one object on stdout; return the exit code."""
    if as_json:
        print_json({"error": {"kind": error.kind, "message": error.message, "hint": error.hint}})
    print(f"fsopt: {error}".replace("\n", " "), file=sys.stderr)
    return EXIT_NOT_SOLVED if isinstance(error, OutOfTime) else EXIT_BAD_INPUT


def print_json(record: Any) -> None:
    """Print one JSON object on stdout."""
    print(json.dumps(record, allow_nan=False))


def dump_json(record: Any) -> str:
    """Return a record as the text of a JSON file."""
    return json.dumps(record, allow_nan=False, indent=1) + "\n"


def table(title: str, columns: Sequence[tuple[str, str]]) -> Table:
    """Return an empty table with (heading, 'left' or 'right') columns."""
    from rich import box
    from rich.table import Table

    result = Table(title=title or None, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for heading, justify in columns:
        result.add_column(heading, justify="right" if justify == "right" else "left", overflow="fold")
    return result


def show(*renderables: Any) -> None:
    """Print tables and texts on stdout, 160 columns wide if stdout is no terminal, so that nothing is cut."""
    from rich.console import Console

    console = Console(width=None if sys.stdout.isatty() else 160, highlight=False)
    for item in renderables:
        console.print(item, markup=False) if isinstance(item, str) else console.print(item)


def cell(value: Any) -> str:
    """Return a value as the text of a table cell, a dash for None."""
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.6g}"
    return ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def escape(value: Any) -> str:
    """Return a value as the text of a table cell, with its brackets escaped so that rich reads no markup."""
    from rich.markup import escape as rich_escape

    return rich_escape(cell(value))


def pairs(items: Iterable[tuple[str, Any]]) -> str:
    """Return lines of ``name  value``, aligned."""
    listed = [(name, cell(value)) for name, value in items]
    width = max(len(name) for name, _ in listed)
    return "\n".join(f"{name:<{width}}  {value}" for name, value in listed)


def open_gap(certificate: Mapping[str, Any]) -> bool:
    """Return whether the gap alone exceeds the tolerance of a certificate: the bounds hold and do not meet."""
    tolerance = certificate["tolerance"]
    # A residual that is not finite is a word in the record, and nan is no number <= tolerance: both fail.
    return [k for k, v in certificate["residuals"].items() if not (isinstance(v, float) and v <= tolerance)] == ["gap"]


@contextmanager
def progress_bar(description: str, total: int | None = None) -> Iterator[Any]:
    """Yield a function (completed, text) that updates a progress bar; it does nothing if stderr is no terminal."""
    if not sys.stderr.isatty():
        yield lambda completed, text: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
    )

    bar = [BarColumn(), MofNCompleteColumn()] if total is not None else []
    columns = [SpinnerColumn(), TextColumn("{task.description}", markup=False), *bar, TimeElapsedColumn()]
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(description, total=total)

        def update(completed: int, text: str) -> None:
            progress.update(task, completed=completed, description=text)

        yield update
