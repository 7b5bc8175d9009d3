"""Output of the command line: results on stdout, remarks on stderr, one JSON object with --json."""

from __future__ import annotations

import io
import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fsopt.answers.certificate import TOLERANCE
from fsopt.cli.streams import abandon
from fsopt.common.files import write_text
from fsopt.common.texts import one_line, printable
from fsopt.errors import FileError, FsoptError, OutOfTimeError, StoreLost

if TYPE_CHECKING:
    from rich.console import Group

EXIT_SOLVED = 0
EXIT_NOT_SOLVED = 1
EXIT_BAD_INPUT = 2
EXIT_INTERRUPTED = 130
WIDE = 160
"""Columns of an output that is no terminal."""
WORD, PHRASE = 30, 18
"""Signs of the longest word that no table cuts, and of a column of texts."""
LEAST = 8
"""Signs of a column of texts where the output is too narrow for that."""
BORDERS = 3
"""Signs between two columns."""
FIRST_LINE = 10.0
"""Seconds after which a log gets its first line of progress; each later one waits for half as long again."""


class UnsavedError(FileError):
    """An answer was printed and could not be saved."""


def emit(text: str) -> None:
    """Write a text on stdout; raises FileError where stdout takes none."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except (OSError, ValueError) as error:  # of a closed stream
        abandon(sys.stdout)
        reason = getattr(error, "strerror", None) or error
        raise UnsavedError(
            f"cannot write to stdout: {reason}", "send it elsewhere, or save the answer with -o"
        ) from error


def remark(text: str) -> None:
    """Print a remark of one line on stderr, if it takes one."""
    try:
        print(one_line(text), file=sys.stderr, flush=True)
    except (OSError, ValueError):
        abandon(sys.stderr)


def report_error(error: FsoptError, *, as_json: bool) -> int:
    """Print an error as one line on stderr, with ``as_json`` as one object on stdout; return the exit code."""
    if as_json and not isinstance(error, UnsavedError):
        with suppress(UnsavedError):
            print_json({"error": {"kind": error.kind, "message": error.message, "hint": error.hint}})
    remark(f"fsopt: {error}")
    return EXIT_NOT_SOLVED if isinstance(error, OutOfTimeError | StoreLost) else EXIT_BAD_INPUT


def deliver(
    record: Any, output: Path | None, *, as_json: bool, present: Callable[[], None], text: str | None = None
) -> None:
    """Save an answer if there is a path, as JSON or as a text of its own, and print it in any case.

    Raises
    ------
    UnsavedError : it could not be saved, or not be printed; the other one was done.
    """
    try:
        if output is not None:
            write_text(output, dump_json(record) if text is None else text)
    except FileError as error:
        raise UnsavedError(error.message, error.hint) from error
    finally:
        print_json(record) if as_json else present()


def written(files: Sequence[Path], record: Mapping[str, Any], *, as_json: bool) -> None:
    """Say which files were written; with ``as_json`` in the record."""
    names = [str(path) for path in files]
    print_json({**record, "files": names}) if as_json else show(f"wrote {', '.join(names)}")


def print_json(record: Any) -> None:
    """Print one JSON object on stdout."""
    emit(json.dumps(record, allow_nan=False) + "\n")


def dump_json(record: Any) -> str:
    """Return a record as the text of a JSON file."""
    return json.dumps(record, allow_nan=False, indent=1) + "\n"


def table(title: str, heads: Sequence[str], rows: Iterable[Sequence[Any]], *, names: int = 1) -> Group:
    """Return a table of rows; a column whose head begins with ``>`` has numbers, on the right.

    A table that is wider than the output is one of several parts, one below the other: nothing is left out, and no
    number and no word of up to ``WORD`` signs is cut.

    Parameters
    ----------
    names : the first columns, which each part has.
    """
    from rich import box
    from rich.console import Group
    from rich.table import Table

    columns = list(zip(heads, *([cell(value) for value in row] for row in rows), strict=True))
    needed = [_needed(texts) for texts in columns]
    parts = []
    for part in _parts([phrase for _, _, phrase, _ in needed], names):
        one = Table(title=cell(title) or None, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
        for k, wide in zip(part, _shares([needed[k] for k in part]), strict=True):
            if heads[k].startswith(">"):  # a number is never cut in two
                one.add_column(heads[k][1:].replace(" ", "\n"), width=wide, justify="right", no_wrap=True)
            else:
                one.add_column(heads[k], width=wide, overflow="fold")
        for row in zip(*(columns[k][1:] for k in part), strict=True):
            one.add_row(*row)
        parts.append(one)
        title = ""
    return Group(*parts)


def _needed(texts: Sequence[str]) -> tuple[int, ...]:
    """Return widths of a column, head first: the least, of its words, that by which parts are made, of whole cells."""
    from rich.cells import cell_len

    head, *cells = texts
    whole = max(map(cell_len, cells), default=0)
    if head.startswith(">"):
        return (max(whole, *map(cell_len, head[1:].split(" "))),) * 4
    words = max(1, min(WORD, max((cell_len(word) for text in texts for word in text.split(" ")), default=0)))
    phrase = max(words, min(whole, PHRASE))
    return min(words, LEAST), words, phrase, max(phrase, whole, cell_len(head))


def _parts(needed: Sequence[int], names: int) -> list[list[int]]:
    """Return the places of the columns of each part of a table, in which all of them have the widths they need."""
    first = list(range(min(names, len(needed))))
    parts = [list(first)]
    for k in range(len(first), len(needed)):
        filled = parts[-1]
        if len(filled) > len(first) and sum(needed[j] for j in [*filled, k]) > _space(len(filled) + 1):
            parts.append([*first])
        parts[-1].append(k)
    return parts


def _space(count: int) -> int:
    """Return the signs that so many columns have for their cells: the others are borders."""
    return width() - BORDERS * count + 1


def _shares(needed: Sequence[tuple[int, ...]]) -> list[int]:
    """Return the widths of columns side by side: between two of those that they need, in the same proportion."""
    space, levels = _space(len(needed)), list(zip(*needed, strict=True))
    last = max(1, sum(sum(level) <= space for level in levels))
    near, far = levels[last - 1], levels[min(last, len(levels) - 1)]
    share = min(1.0, max(0.0, (space - sum(near)) / max(1, sum(far) - sum(near))))
    return [some + int(share * (more - some)) for some, more in zip(near, far, strict=True)]


def width() -> int:
    """Return the columns of the output: those of the terminal, else of the variable COLUMNS, else 160."""
    import shutil

    if sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdigit():
        return shutil.get_terminal_size((WIDE, 24)).columns
    return WIDE


def show(*renderables: Any) -> None:
    """Print tables and texts on stdout, 160 columns wide if stdout is no terminal and COLUMNS is not set."""
    from rich.console import Console

    terminal = sys.stdout.isatty()
    rendered = _Rendered()
    console = Console(file=rendered, force_terminal=terminal, width=width(), highlight=False, markup=False, emoji=False)
    for item in renderables:
        console.print(printable(item) if isinstance(item, str) else item)
    emit(rendered.getvalue())


class _Rendered(io.StringIO):
    """A text in the alphabet of stdout, by which rich chooses the lines of its tables."""

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return getattr(sys.stdout, "encoding", None) or "utf-8"


def cell(value: Any) -> str:
    """Return a value as the text of a table cell, on one line; a dash for None."""
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.6g}"
    return one_line(", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value))


def pairs(items: Iterable[Sequence[Any]]) -> str:
    """Return lines of ``name  value``, or of more values, aligned; a long last one goes on below its beginning."""
    import textwrap

    listed = [[one_line(name), *map(cell, values)] for name, *values in items]
    wide = [max(map(len, column)) for column in zip(*(row[:-1] for row in listed), strict=True)]
    left = sum(wide) + 2 * len(wide)
    wrapped = textwrap.TextWrapper(max(width() - left, WORD), break_on_hyphens=False)
    return "\n".join(
        "".join(f"{text:<{size}}  " for text, size in zip(heads, wide, strict=True))
        + f"\n{' ' * left}".join(wrapped.wrap(value) or [""])
        for *heads, value in listed
    )


def open_gap(objective: Any, bound: Any) -> str:
    """Return the optimality gap of an answer as a text ``gap 4.0e-01``, an empty one where it is closed or unknown."""
    known = isinstance(objective, float) and isinstance(bound, float)  # an infinite bound is a word in the record
    gap = abs(objective - bound) / max(1.0, abs(objective)) if known else 0.0
    return f"gap {gap:.1e}" if gap > TOLERANCE else ""


def status_of(record: Mapping[str, Any]) -> str:
    """Return the status of an answer, and whose word its bound is, or ``numerically``: ``optimal (bound: highs)``."""
    from fsopt.answers.certificate import status_line

    certificate = record["certificate"] or {}
    return status_line(record["status"], certificate.get("bound_source", ""), certificate.get("notes", ()))


def print_certificate(certificate: dict[str, Any] | None) -> None:
    """Print a certificate as a small table."""
    if certificate is None:
        show("certificate  none: the solver's claim was not verified")
        return
    gap = open_gap(certificate["objective"], certificate["bound"])
    held = ", ".join(filter(None, ("holds", gap))) if certificate["ok"] else "does NOT hold"
    show(f"\ncertificate ({certificate['kind']}, tolerance {certificate['tolerance']:g}) {held}")
    residuals = certificate["residuals"].items()
    show(table("", ("residual", ">value"), [(k, f"{v:.2e}" if isinstance(v, float) else v) for k, v in residuals]))
    for note in certificate["notes"]:
        remark(note)


def print_exact(found: Mapping[str, Any]) -> None:
    """Print what rational arithmetic shows of an answer: each claim with its interval, rounded outward."""
    show(f"\n{found['word']}: {found['about']}")
    for claim in found["claims"]:
        lower, upper = claim["interval"]
        lines: list[tuple[str, Any]] = [("claim", claim["claim"]), ("", claim["verified"])]
        if (lower, upper) != (None, None):
            lines.append(("interval", f"[{lower or '-inf'}, {upper or 'inf'}]"))
        if claim["relative_width"] is not None:
            lines.append(("relative width", claim["relative_width"]))
        if claim["reason"]:
            lines.append(("reason", claim["reason"]))
        show(pairs(lines))


class _LogLines:
    """Lines of progress for a log: the first after :data:`FIRST_LINE` seconds, the next ones at growing distances."""

    def __init__(self) -> None:
        self.started = time.monotonic()
        self.next = FIRST_LINE

    def __call__(self, completed: float, text: str) -> None:
        passed = time.monotonic() - self.started
        if passed >= self.next:
            self.next = 1.5 * passed
            remark(f"{text} ({passed:.0f} s)")


@contextmanager
def progress_bar(description: str, total: int | None = None) -> Iterator[Any]:
    """Yield a function (completed, text) that updates a progress bar; in a log it writes a line now and then."""
    if not sys.stderr.isatty():
        yield _LogLines()
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
        task = progress.add_task(printable(description), total=total)

        def update(completed: int, text: str) -> None:
            progress.update(task, completed=completed, description=printable(text))

        yield update
