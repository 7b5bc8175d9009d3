"""The command line: ``fsopt VERB ...``; exit 0 solved, 1 not solved, 2 bad input, 130 interrupted."""

from __future__ import annotations

import os
import re
import signal
import sys
import warnings
from collections.abc import Mapping
from typing import Any

from fsopt.errors import FileError, FsoptError, InternalError

TRACEBACK_VARIABLE = "FSOPT_TRACEBACK"
"""Environment variable; if it is set, an error inside fsopt shows its traceback."""
ELSEWHERE: Mapping[str, str] = {
    "label": "name the column with --target",
    "data": "name a file, wdbc, or a name in FSOPT_DATA",
    "saved": "for example fsopt predict fit.json new.csv",
    **dict.fromkeys(("sep", "decimal", "thousands", "encoding", "sheet"), "give it as --read KEY=VALUE"),
}
"""Flag or argument that is looked for -> what does it."""


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit; a user's error is one line on stderr (an object on stdout with --json)."""
    alone = arguments is None
    given = (sys.argv[1:] if arguments is None else arguments) or ["--help"]
    if alone:  # processes that are killed have locks, since Pyomo makes one in each
        left = "ignore:resource_tracker:UserWarning"
        os.environ["PYTHONWARNINGS"] = ",".join(filter(None, (os.environ.get("PYTHONWARNINGS"), left)))
    try:
        code = _run(given)
        if alone and code == 130:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
    except KeyboardInterrupt:  # once more, while the first one was being reported
        code = 130
    sys.exit(code)


def _run(given: list[str]) -> int:
    """Run a command and return its exit code; nothing but an interruption leaves this function."""
    from fsopt.cli import output

    try:
        output.prepare_streams()
        warnings.showwarning = lambda message, *_: output.remark(f"warning: {message}")
        return _called(given)
    except KeyboardInterrupt:
        output.remark("interrupted")
        return output.EXIT_INTERRUPTED
    except FsoptError as error:
        refused = error
    except OSError as error:
        place = "" if error.filename is None else f" ('{error.filename}')"
        said = f"the operating system refused: {error.strerror or error}{place}"
        refused = FileError(said, "free space or choose a place")
    except MemoryError as error:
        said = f"there is not enough memory{f': {error}' if str(error) else ''}"
        refused = FsoptError(said, "take fewer samples or features, or another method")
    except Exception as error:
        if os.environ.get(TRACEBACK_VARIABLE):
            raise
        refused = InternalError.of(error, TRACEBACK_VARIABLE)
    return output.report_error(refused, as_json="--json" in given)


def _called(given: list[str]) -> int:
    """Call a verb and return its exit code; an error names the flags of the verb."""
    import typer

    from fsopt.cli.app import command
    from fsopt.cli.options import in_place
    from fsopt.cli.output import abandon

    if sys.flags.optimize > 1:
        raise FsoptError("fsopt reads its docstrings, which python -OO removes", "run Python without -OO")
    verb = command().commands.get(given[0])
    try:
        code = command()(in_place(given, verb), standalone_mode=False)
        return code if isinstance(code, int) else 0
    except SystemExit:  # of typer, where the reader of a help has left
        abandon(sys.stdout)
        return 0
    except typer.TyperException as error:
        message = error.format_message().rstrip(".").replace("\n", " ")
        raise FsoptError(message, _remedy(error, given[0], verb)) from error
    except FsoptError as error:
        error.message, error.hint = (in_flags(text, verb) for text in (error.message, error.hint))
        raise


def _remedy(error: Any, name: str, verb: Any) -> str:
    """Return what to do about words that are none of a verb, or no verb."""
    missing = getattr(error, "param", None)
    word = str(getattr(error, "option_name", name if missing is None else missing.name)).lstrip("-")
    if word in ELSEWHERE:
        return ELSEWHERE[word]
    if verb is None:
        return "'fsopt --help' lists the verbs"
    flags = {text for one in verb.params for text in one.opts}
    if "--param" in flags and name != word and word.isidentifier() and missing is None:
        return f"a parameter of a model or method is --param {word}=VALUE ('fsopt {name} --help' has the flags)"
    extra = "unexpected extra" in error.message and "--data" in flags
    return "the data are given by --data" if extra else f"see 'fsopt {name} --help'"


_KEYWORD = re.compile(r"(?<![\w.\-'{])([a-z_]+)=('[^']*'|[\w.+-]+)?")
"""``name=value`` or ``name=`` as messages have it; not at the beginning of a quotation, which a user wrote."""


def in_flags(text: str, verb: Any) -> str:
    """Return a message with the flags of a verb in place of keywords: ``folds=1`` is ``--folds 1``.

    A keyword that is no flag of the verb stays; where a value is asked for, ``m=...``, it is one of ``--param``.
    """
    from fsopt.cli.options import KEYWORDS

    flags = {one.name: one.opts[-1] for one in getattr(verb, "params", ()) if one.opts[-1].startswith("--")}

    def flag(found: re.Match[str]) -> str:
        name, value = found.groups()
        if name in flags:
            return flags[name] if value in (None, "True") else f"{flags[name]} {value.strip(chr(39))}"
        if "read" in flags and name in KEYWORDS:
            return f"--read {found[0]}"
        return f"--param {found[0]}" if value == "..." and "param" in flags else found[0]

    return _KEYWORD.sub(flag, text)
