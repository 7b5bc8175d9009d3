"""Output of the command line: results on stdout, remarks on stderr, one JSON object with --json."""

from __future__ import annotations

import io
import json
import os
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from fsopt.answers.certificate import certificate_line, status_line
from fsopt.common.files import write_text
from fsopt.common.texts import one_line, printable
from fsopt.errors import FileError, FsoptError, OutOfTimeError, StoreLost

if TYPE_CHECKING:
    from fsopt.answers.fits import Fit

EXIT_SOLVED = 0
EXIT_NOT_SOLVED = 1
EXIT_BAD_INPUT = 2
EXIT_INTERRUPTED = 130
WIDE = 160
"""Columns of an output that is no terminal."""
WORD, PHRASE = 30, 18
"""Signs of the longest word that no table cuts, and of a column of texts."""


class UnsavedError(FileError):
    """An answer was printed and could not be saved."""


def prepare_streams() -> None:
    """Make stdout and stderr take every text, and closed ones take nothing."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # the lowest free descriptor is the closed one: no file that is opened later takes its place
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - as long as the process
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # names beyond the alphabet of the terminal


def abandon(stream: TextIO) -> None:
    """Send what a stream still holds, which the interpreter would write at its end, to nowhere."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def emit(text: str) -> None:
    """Write a text on stdout; where its reader has left, as ``head`` does, this and all others go to nowhere."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        abandon(sys.stdout)
        if not isinstance(error, BrokenPipeError):
            hint = "send it elsewhere, or save the answer with -o"
            raise UnsavedError(f"cannot write to stdout: {error.strerror}", hint) from error


def remark(text: str) -> None:
    """Print a remark of one line on stderr, if it takes one."""
    try:
        print(one_line(text), file=sys.stderr, flush=True)
    except (OSError, ValueError):
        abandon(sys.stderr)


def report_error(error: FsoptError, *, as_json: bool) -> int:
    """Print an error as one line on stderr, with ``as_json`` as one object on stdout; return the exit code."""
    if as_json and not isinstance(error, UnsavedError):
        print_json({"error": {"kind": error.kind, "message": error.message, "hint": error.hint}})
    remark(f"fsopt: {error}")
    return EXIT_NOT_SOLVED if isinstance(error, OutOfTimeError | StoreLost) else EXIT_BAD_INPUT


def deliver(
    record: Any, output: Path | None, *, as_json: bool, present: Callable[[], Any], text: str | None = None
) -> None:
    """Save an answer if there is a path, as JSON or as a text of its own, and print it, also where it is not saved."""
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


def width() -> int:
    """Return the columns of the output: those of the terminal, else of the variable COLUMNS, else 160."""
    known = sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdigit()
    return max(shutil.get_terminal_size((WIDE, 24)).columns, 1) if known else WIDE


def show(*texts: str) -> None:
    """Print texts on stdout, longer lines wrapped at their words."""
    lines = [line for text in texts for line in printable(text).split("\n")]
    wrapped = textwrap.TextWrapper(width(), break_long_words=False, break_on_hyphens=False, subsequent_indent="  ")
    emit("".join((wrapped.fill(one) if len(one) > width() else one) + "\n" for one in lines))


def listing(
    title: str, heads: Sequence[str], rows: Sequence[Mapping[str, Any]], more: str = "", *, as_json: bool
) -> None:
    """Print records, or these entries of them as a table with a remark below."""
    if as_json:
        print_json({title: rows})
        return
    cells = [["yes" if row[k] is True else row[k] or None for k in heads] for row in rows]
    show(table(title, heads, cells), *filter(None, [more]))


def table(title: str, heads: Sequence[str], rows: Iterable[Sequence[Any]], *, names: int = 1) -> str:
    """Return a table; a column whose head begins with ``>`` has numbers, on the right, which are never cut.

    One that is wider than the output is parts, one below the other, each with the first columns, as many as ``names``.
    """
    from fsopt.answers.records import worded

    number = [head.startswith(">") for head in heads]
    texts = [[head.lstrip(">") for head in heads], *([one_line(worded(value)) for value in row] for row in rows)]
    columns = list(zip(*texts, strict=True))
    whole = [max(map(len, column)) for column in columns]
    words = [max(len(word) for text in column for word in text.split(" ")) for column in columns]
    sizes = zip(whole, words, number, strict=True)
    least = [size if right else max(min(word, WORD), min(size, PHRASE)) for size, word, right in sizes]
    parts = [list(range(names))]
    for k in range(names, len(heads)):
        if len(parts[-1]) > names and sum(least[j] + 2 for j in (*parts[-1], k)) > width() + 2:
            parts.append(list(range(names)))
        parts[-1].append(k)
    shown = [_wrapped(texts, {k: (least[k], whole[k]) for k in part}, number) for part in parts]
    return "\n\n".join([one_line(title)] * bool(title) + shown)


def _wrapped(texts: Sequence[Sequence[str]], ends: Mapping[int, tuple[int, int]], number: Sequence[bool]) -> str:
    """Return columns, each between its least and its whole size, under a rule; texts that are too wide are wrapped."""
    over, sizes = sum(whole + 2 for _, whole in ends.values()) - width() - 2, dict[int, int]()
    for k, (least, whole) in sorted(ends.items(), key=lambda end: end[1][0] - end[1][1]):
        sizes[k] = max(least, whole - max(over, 0))
        over -= whole - sizes[k]
    lines: list[str] = []
    for row in texts:
        cells = [textwrap.wrap(row[k], sizes[k], break_on_hyphens=False) or [""] for k in ends]
        for line in zip_longest(*cells, fillvalue=""):
            placed = [f"{t:{'>' if number[k] else '<'}{sizes[k]}}" for k, t in zip(ends, line, strict=True)]
            lines.append("  ".join(placed).rstrip())
        lines += ["-" * (sum(sizes.values()) + 2 * len(sizes) - 2)] * (row is texts[0])
    return "\n".join(lines)


def pairs(items: Iterable[Sequence[Any]]) -> str:
    """Return lines of ``name  value``, or of more values, aligned."""
    from fsopt.answers.records import aligned, worded

    return "\n".join(aligned([[worded(value) for value in row] for row in items]))


def seconds(value: float) -> str:
    """Return seconds as a text: a time that two digits do not show is less than the smallest that they do."""
    return f"{value:.2f}" if value >= 0.005 else "< 0.01"


def exit_code(answer: Any) -> int:
    """Return the exit code of an answer; an interruption is a remark."""
    if answer.stop == "interrupted":
        remark(f"interrupted: the incumbent is shown, its status is {answer.status}")
        return EXIT_INTERRUPTED
    return EXIT_SOLVED if answer.status.solved else EXIT_NOT_SOLVED


def print_exact(found: Mapping[str, Any]) -> None:
    """Print what rational arithmetic shows of an answer: each claim with its interval, rounded outward."""
    show(f"\n{found['word']}: {found['about']}")
    for claim in found["claims"]:
        lower, upper = claim["interval"]
        interval = "" if (lower, upper) == (None, None) else f"[{lower or '-inf'}, {upper or 'inf'}]"
        lines = [("claim", claim["claim"]), ("", claim["verified"]), ("interval", interval)]
        lines += [("relative width", claim["relative_width"]), ("reason", claim["reason"])]
        show(pairs(line for line in lines if line[1] not in ("", None)))


def print_fit(fitted: Fit, record: Mapping[str, Any]) -> None:
    """Print a fit, with the certificate of its record."""
    show(fitted.told(record["certificate"]))
    for note in (record["certificate"] or {"notes": ()})["notes"]:
        remark(note)


def print_solve(record: Mapping[str, Any]) -> None:
    """Print the answer to a model."""
    from fsopt.formats.read import told

    found = record["certificate"] or {"notes": ()}
    status = status_line(record["status"], found.get("bound_source", ""), found["notes"])
    known = {**record, "status": status, "file": told(record["file"]) if "file" in record else ""}
    names = ("model", "data", "scale", "solver", "status", "stop", "objective", "bound", "iterations", "file")
    lines = [(name, known[name]) for name in names if known.get(name) not in (None, "")]
    lines.append(("seconds", ", ".join(f"{k} {seconds(v)}" for k, v in record["seconds"].items())))
    lines += [(f"verify {k}", v) for k, v in (record.get("verify") or {}).items()]
    show(pairs([*lines, ("certificate", certificate_line(record["certificate"]))]))
    for note in found["notes"]:
        remark(note)
    if record["status"] == "infeasible":
        remark("in Python fsopt.explain_infeasibility(model) names constraints and bounds that contradict each other")


@contextmanager
def progress_bar(description: str, total: int | None = None) -> Iterator[Any]:
    """Yield a function (completed, text) that updates a progress bar, and does nothing where there is no terminal."""
    if not sys.stderr.isatty():
        yield lambda completed, text: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    bar = [BarColumn()] if total is not None else []
    columns = [SpinnerColumn(), TextColumn("{task.description}", markup=False), *bar, TimeElapsedColumn()]
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(printable(description), total=total)
        yield lambda completed, text: progress.update(task, completed=completed, description=printable(text))
