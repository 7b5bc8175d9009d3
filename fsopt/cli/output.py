"""Output of the command line: results on stdout, remarks on stderr, one JSON object with --json."""

from __future__ import annotations

import errno
import io
import json
import os
import shutil
import sys
import textwrap
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from fsopt.answers.certificate import TOLERANCE
from fsopt.common.files import write_text
from fsopt.common.texts import one_line, printable
from fsopt.errors import FileError, FsoptError, OutOfTimeError, StoreLost

if TYPE_CHECKING:
    from fsopt.answers.fits import Fit

EXIT_SOLVED = 0
EXIT_NOT_SOLVED = 1
EXIT_BAD_INPUT = 2
EXIT_INTERRUPTED = 130
LEFT = (errno.EPIPE, errno.EINVAL) if sys.platform == "win32" else (errno.EPIPE,)
"""Errors of a write to a pipe whose reader has left."""
WIDE = 160
"""Columns of an output that is no terminal."""
WORD, PHRASE = 30, 18
"""Signs of the longest word that no table cuts, and of a column of texts."""
FIRST_LINE = 10.0
"""Seconds after which a log gets its first line of progress; each later one waits for half as long again."""


MOST_WEIGHTS = 30
"""Weights up to which a table lists them."""


class UnsavedError(FileError):
    """An answer was printed and could not be saved."""


def prepare_streams() -> None:
    """Make stdout and stderr take every text, and closed ones take nothing.

    A closed descriptor would be given to the next file that is opened, and whatever a solver prints would go there.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free descriptor, this one
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - as long as the process
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # names beyond the alphabet of the terminal


def abandon(stream: TextIO) -> None:
    """Send what a stream still holds, which the interpreter would write at its end, to nowhere."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def emit(text: str) -> bool:
    """Write a text on stdout and return whether its reader is still there; raises FileError where stdout takes none."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except (OSError, ValueError) as error:  # of a closed stream
        abandon(sys.stdout)
        if getattr(error, "errno", None) in LEFT:  # as ``head`` does
            return False
        reason = getattr(error, "strerror", None) or error
        hint = "send it elsewhere, or save the answer with -o"
        raise UnsavedError(f"cannot write to stdout: {reason}", hint) from error
    return True


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


def show(*texts: str) -> bool:
    """Print texts on stdout, longer lines wrapped at their words; return whether the reader is still there."""
    lines = [line for text in texts for line in printable(text).split("\n")]
    wrapped = textwrap.TextWrapper(width(), break_long_words=False, break_on_hyphens=False)
    return emit("".join((wrapped.fill(one) if len(one) > width() else one) + "\n" for one in lines))


def table(title: str, heads: Sequence[str], rows: Iterable[Sequence[Any]], *, names: int = 1) -> str:
    """Return a table; a column whose head begins with ``>`` has numbers, on the right, which are never cut.

    One that is wider than the output is parts, one below the other, each with the first columns, as many as ``names``.
    """
    texts = [[head.lstrip(">") for head in heads], *([cell(value) for value in row] for row in rows)]
    columns = list(zip(*texts, strict=True))
    least = [_least(column, head.startswith(">")) for head, column in zip(heads, columns, strict=True)]
    parts: list[list[int]] = [list(range(names))]
    for k in range(names, len(heads)):
        if len(parts[-1]) > names and sum(least[j] + 2 for j in (*parts[-1], k)) > width() + 2:
            parts.append(list(range(names)))
        parts[-1].append(k)
    shown = [_aligned([columns[k] for k in part], [least[k] for k in part], [heads[k] for k in part]) for part in parts]
    return "\n\n".join([one_line(title)] * bool(title) + shown)


def _least(column: Sequence[str], number: bool) -> int:
    """Return the signs that a column needs: a number all of its own, a text those of its words and of a phrase."""
    whole = max(map(len, column[1:]), default=0)
    word = max(len(word) for text in (column[:1] if number else column) for word in text.split(" "))
    return max(whole, word) if number else max(min(word, WORD), min(whole, PHRASE))


def _aligned(columns: Sequence[Sequence[str]], least: Sequence[int], heads: Sequence[str] = ()) -> str:
    """Return columns side by side, under a rule below their heads; the widest texts are wrapped until all have room."""
    number = [head.startswith(">") for head in heads] or [False] * len(columns)
    sizes = [
        low if right else max(low, *map(len, column)) for low, right, column in zip(least, number, columns, strict=True)
    ]
    while sum(sizes) + 2 * len(sizes) > width() + 2 and sizes != list(least):
        sizes[max(range(len(sizes)), key=lambda k: (sizes[k] > least[k], sizes[k]))] -= 1
    lines = []
    for k, row in enumerate(zip(*columns, strict=True)):
        cells = [textwrap.wrap(text, size, break_on_hyphens=False) for text, size in zip(row, sizes, strict=True)]
        high = max(1, *map(len, cells))
        for line in range(high):
            placed = [(cell[line : line + 1] or [""])[0] for cell in cells]
            aligned = [f"{t:{'>' if r else '<'}{s}}" for t, r, s in zip(placed, number, sizes, strict=True)]
            lines.append("  ".join(aligned).rstrip())
        if heads and k == 0:
            lines.append("-" * (sum(sizes) + 2 * len(sizes) - 2))
    return "\n".join(lines)


def pairs(items: Iterable[Sequence[Any]]) -> str:
    """Return lines of ``name  value``, or of more values, aligned; a long last one goes on below its beginning."""
    columns = list(zip(*([cell(value) for value in row] for row in items), strict=True))
    *fixed, last = [max(map(len, column)) for column in columns]
    return _aligned(columns, [*fixed, min(last, max(width() - sum(fixed) - 2 * len(fixed), WORD))])


def cell(value: Any) -> str:
    """Return a value as the text of a table cell, on one line; a dash for None."""
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.6g}"
    return one_line(", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value))


def seconds(value: float) -> str:
    """Return seconds as a text: a time that two digits do not show is less than the smallest that they do."""
    return f"{value:.2f}" if value >= 0.005 else "< 0.01"


def open_gap(objective: Any, bound: Any) -> str:
    """Return the optimality gap of an answer as a text ``gap 4.0e-01``, an empty one where it is closed or unknown."""
    known = isinstance(objective, float) and isinstance(bound, float)  # an infinite bound is a word in the record
    gap = abs(objective - bound) / max(1.0, abs(objective)) if known else 0.0
    return f"gap {gap:.1e}" if gap > TOLERANCE else ""


def exit_code(answer: Any) -> int:
    """Return the exit code of an answer; an interruption is a remark."""
    if answer.stop == "interrupted":
        remark(f"interrupted: the incumbent is shown, its status is {answer.status}")
        return EXIT_INTERRUPTED
    return EXIT_SOLVED if answer.status.solved else EXIT_NOT_SOLVED


def status_of(record: Mapping[str, Any]) -> str:
    """Return the status of an answer, and whose word its bound is, or ``numerically``: ``optimal (bound: highs)``."""
    from fsopt.answers.certificate import status_line

    certificate = record["certificate"] or {}
    return status_line(record["status"], certificate.get("bound_source", ""), certificate.get("notes", ()))


def print_answer(record: Mapping[str, Any], names: Sequence[str], more: Iterable[Sequence[Any]] = ()) -> None:
    """Print these entries of an answer, and further lines."""
    known = {**record, "status": status_of(record)}
    show(pairs([*((name, known[name]) for name in names if name in known), *more]))


def print_certificate(certificate: Mapping[str, Any] | None) -> None:
    """Print a certificate as a small table."""
    if certificate is None:
        show("certificate  none: the solver's claim was not verified")
        return
    gap = open_gap(certificate["objective"], certificate["bound"])
    held = ", ".join(filter(None, ("holds", gap))) if certificate["ok"] else "does NOT hold"
    show(f"\ncertificate ({certificate['kind']}, tolerance {certificate['tolerance']:g}) {held}")
    residuals = [(k, f"{v:.2e}" if isinstance(v, float) else v) for k, v in certificate["residuals"].items()]
    if residuals:
        show(table("", ("residual", ">value"), residuals))
    for note in certificate["notes"]:
        remark(note)


def print_exact(found: Mapping[str, Any]) -> None:
    """Print what rational arithmetic shows of an answer: each claim with its interval, rounded outward."""
    show(f"\n{found['word']}: {found['about']}")
    for claim in found["claims"]:
        lower, upper = claim["interval"]
        interval = "" if (lower, upper) == (None, None) else f"[{lower or '-inf'}, {upper or 'inf'}]"
        lines = [("", claim["verified"]), ("interval", interval), ("relative width", claim["relative_width"])]
        lines.append(("reason", claim["reason"]))
        show(pairs([("claim", claim["claim"]), *(line for line in lines if line[1] not in ("", None))]))


def print_fit(fitted: Fit, record: Mapping[str, Any], accuracy: Mapping[int, float] | None = None) -> None:
    """Print a fit and its record; with the training accuracy of each class beside the worst case."""
    from fsopt.answers.fits import OF_UNIT_ROWS

    weights, intercept = fitted.printed()
    noun, unit = ("feature", "weight (raw units)") if fitted.kernel is None else ("pattern", "weight")
    lines: list[tuple[str, Any]] = [("seconds", seconds(record["seconds"].get("total", 0.0)))]
    lines.append(("train", ", ".join(f"{k} {v:.4f}" for k, v in record["train"].items())))
    if "worst_case" in record["details"]:
        shown = zip((1, -1), record["details"]["worst_case"], strict=True)
        train = {} if accuracy is None else {sign: f" (train {share:.4f})" for sign, share in accuracy.items()}
        text = ", ".join(f"class {sign:+d} {worst:.4f}{train.get(sign, '')}" for sign, worst in shown)
        lines.append(("worst case", text))
    count, p = len(record["features"]), len(record["coef"])
    lines.append((f"{noun}s ({count} of {p}, {count / p:.1%})", ", ".join(record["features"]) or "none"))
    names = ("method", "data", "solver", "status", "stop", "objective", "bound", "iterations")
    print_answer(record, names, [*lines, ("intercept", intercept)])
    if 0 < len(weights) <= MOST_WEIGHTS:
        heads = {k: k for k in weights[0] if k != "standardised"} | {"feature": noun, "weight": unit}
        show("\n" + pairs([tuple(heads.values()), *([row[k] for k in heads] for row in weights)]))
        if fitted.of_unit_rows:
            show("\n" + OF_UNIT_ROWS)
    print_certificate(record["certificate"])


def print_solve(record: Mapping[str, Any]) -> None:
    """Print the answer to a model."""
    from fsopt.formats.read import told

    names = ("model", "data", "scale", "solver", "status", "stop", "objective", "bound", "iterations")
    spent = ", ".join(f"{k} {seconds(v)}" for k, v in record["seconds"].items())
    file = {"file": told(record["file"])} if "file" in record else {}
    print_answer(record, names, [*file.items(), ("seconds", spent)])
    if record.get("verify"):
        show(pairs([(f"verify {k}", v) for k, v in record["verify"].items()]))
    if members := record.get("explanation", {}).get("members"):
        rows = [(one["equation"], one["text"]) for one in members[:MOST_WEIGHTS]]
        more = f"and {len(members) - len(rows)} more: --json has all" if len(members) > len(rows) else ""
        show("\n" + table("contradict each other", ("equation", "constraint or bound"), rows), *filter(None, [more]))
    elif "explanation" in record:
        show(record["explanation"]["summary"])
    elif record["status"] == "infeasible":
        remark("'fsopt solve --explain' names constraints and bounds that contradict each other")
    print_certificate(record["certificate"])


def _log_lines() -> Callable[[float, str], None]:
    """Return what writes lines of progress into a log: the first after :data:`FIRST_LINE` seconds, then ever fewer."""
    started, due = time.monotonic(), [FIRST_LINE]

    def update(completed: float, text: str) -> None:
        passed = time.monotonic() - started
        if passed >= due[0]:
            due[0] = 1.5 * passed
            remark(f"{text} ({passed:.0f} s)")

    return update


@contextmanager
def progress_bar(description: str, total: int | None = None) -> Iterator[Any]:
    """Yield a function (completed, text) that updates a progress bar; in a log it writes a line now and then."""
    if not sys.stderr.isatty():
        yield _log_lines()
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    bar = [BarColumn(), MofNCompleteColumn()] if total is not None else []
    columns = [SpinnerColumn(), TextColumn("{task.description}", markup=False), *bar, TimeElapsedColumn()]
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(printable(description), total=total)
        yield lambda done, text: progress.update(task, completed=done, description=printable(text))
