"""The command line: ``fsopt VERB ...``; exit 0 solved, 1 not solved, 2 bad input, 130 interrupted."""

from __future__ import annotations

import os
import re
import signal
import sys
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from fsopt.errors import REMOVED, FileError, FsoptError, InternalError

TRACEBACK_VARIABLE = "FSOPT_TRACEBACK"
"""Environment variable; if it is set, an error inside fsopt shows its traceback."""
LEFT = "ignore:resource_tracker:UserWarning"
"""Filter of Python's warning that processes that were killed had locks: Pyomo makes one in each."""

GONE: Mapping[str, str] = {
    **REMOVED,
    "certify": "'fsopt check FILE.mps --solution FILE', or 'fsopt check MODEL --data NAME --solution FILE'",
    "data": "'fsopt fit' tells what a file holds, fsopt.data draws, and sklearn.datasets.fetch_openml fetches",
    "label": "name the column with --target",
    "separator": "give it as --read sep=...",
    **dict.fromkeys(("sep", "decimal", "thousands", "encoding", "sheet"), "give it as --read KEY=VALUE"),
    "doctor": "'fsopt solvers' says what is installed, and what is missing",
    "limits": "the worst-case accuracy of 'fsopt fit mpm' is the largest feasible delta",
    "plot": "fsopt.load_fit(FILE).plot() draws a fit in Python",
    "cpu-limit": "give --time-limit, or cpu_limit= of a study",
    "verbose": "--json and --report have all of each method",
    "unit": "-o rows.csv has all of each unit",
    "columns": "leave the other columns out with --drop",
    "numbers": "make numbers of the cells first, for example by pandas",
    "order": "make numbers of ordered words first, for example by pandas",
    "unlabelled": "rows without a label are left out, with a warning",
    "convert": "HiGHS does: highs A.lp --write_model_file B.mps; a model of fsopt is exported by its name",
}
"""Verb, flag or function of an earlier version -> what to do instead."""


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit; a user's error is one line on stderr (an object on stdout with --json)."""
    alone = arguments is None
    given = sys.argv[1:] if arguments is None else arguments
    if alone:
        os.environ["PYTHONWARNINGS"] = ",".join(filter(None, (os.environ.get("PYTHONWARNINGS"), LEFT)))
    try:
        code = _run(given)
        if alone and code == 130:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
    except KeyboardInterrupt:  # once more, while the first one was being reported
        code = 130
    sys.exit(code)


def _run(given: list[str]) -> int:
    """Run a command and return its exit code; nothing but an interruption leaves this function."""
    from fsopt.cli import output, streams

    try:
        streams.prepare_streams()
        warnings.showwarning = lambda message, *_: output.remark(f"warning: {message}")
        import typer

        from fsopt.cli.app import command

        try:
            code = command()(given, standalone_mode=False)
            return code if isinstance(code, int) else 0
        except typer.TyperException as error:
            message = error.format_message().rstrip(".").replace("\n", " ")
            word = getattr(error, "option_name", given[0] if given else "").lstrip("-")
            if word in GONE:
                raise FsoptError(f"'{word}' is no part of fsopt any more", GONE[word]) from error
            raise FsoptError(message, "see 'fsopt --help' or 'fsopt VERB --help'") from error
        except FsoptError as error:
            raise in_flags(error, command(), given) from error.__cause__
    except KeyboardInterrupt:
        output.remark("interrupted")
        return output.EXIT_INTERRUPTED
    except FsoptError as error:
        return output.report_error(error, as_json="--json" in given)
    except OSError as error:
        place = "" if error.filename is None else f" ('{error.filename}')"
        refused = FileError(
            f"the operating system refused: {error.strerror or error}{place}", "free space or choose a place"
        )
        return output.report_error(refused, as_json="--json" in given)
    except MemoryError as error:
        failed = FsoptError(
            f"there is not enough memory{f': {error}' if str(error) else ''}",
            "take fewer samples or features, or another method",
        )
        return output.report_error(failed, as_json="--json" in given)
    except Exception as error:
        if os.environ.get(TRACEBACK_VARIABLE):
            raise
        return output.report_error(InternalError.of(error, TRACEBACK_VARIABLE), as_json="--json" in given)


_KEYWORD = re.compile(r"(?<![\w.\-'{])([a-z_]+)=('[^']*'|[\w.+-]+)?")
"""``name=value`` or ``name=`` as messages have it; not at the beginning of a quotation, which a user wrote."""


def in_flags(error: FsoptError, command: Any, given: Sequence[str]) -> FsoptError:
    """Return an error whose texts name the flags of a command: ``folds=1`` is ``--folds 1``, ``tune=True`` ``--tune``.

    A keyword that is no flag of the command stays; where a value is asked for, ``m=...``, it is one of ``--param``.

    Parameters
    ----------
    command : the whole application of typer, as a command.
    given : words of the command line.
    """
    flags = _flags(command, given)
    error.message, error.hint = (_KEYWORD.sub(lambda m: _flag(m, flags), text) for text in (error.message, error.hint))
    return error


def _flags(command: Any, given: Sequence[str]) -> Mapping[str, str]:
    """Return the flags of the verb among the words of a command line: keyword -> flag."""
    for word in given:
        command = getattr(command, "commands", {}).get(word, command)
    named = {one.name: [text for text in one.opts if text.startswith("--")] for one in command.params}
    return {name: texts[0] for name, texts in named.items() if texts}


def _flag(found: re.Match[str], flags: Mapping[str, str]) -> str:
    from fsopt.cli.layouts import KEYWORDS

    name, value = found.groups()
    if name not in flags and "read" in flags and name in KEYWORDS:
        return f"--read {found[0]}"
    if name not in flags:
        return f"--param {found[0]}" if value == "..." and "param" in flags else found[0]
    if value in (None, "True"):
        return flags[name]
    return f"{flags[name]} {value.strip(chr(39)) if value.strip(chr(39)).isalnum() else value}"
