"""Options that several verbs share, and the readers of their texts."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

import fsopt
from fsopt.common.customising import Change, FromFile
from fsopt.common.files import brief, check_readable, check_writable
from fsopt.data.layout import SUFFIXES
from fsopt.errors import FileError, OptionError, ParameterError


def _names(registry: str) -> Callable[[str], list[str]]:
    """Return the completion of the shell: the names of a registry that begin with a text."""

    def completed(incomplete: str) -> list[str]:
        return [name for name in getattr(fsopt, registry) if name.startswith(incomplete)]

    return completed


models, methods = _names("MODELS"), _names("METHODS")


Model = Annotated[
    str,
    typer.Argument(help="a slug of 'fsopt models', or a file .lp or .mps, which HiGHS reads", autocompletion=models),
]
FILE = "file"
"""The data of a verb in their place; verbs know them as ``data``, the option ``--data``."""
DATA_HELP = f"wdbc, a file ({' '.join(SUFFIXES)}), or a name in FSOPT_DATA"
Data = Annotated[str, typer.Option("--data", help=DATA_HELP)]
OptionalData = Annotated[str | None, Data.__metadata__[0]]
Params = Annotated[list[str] | None, typer.Option("--param", help="k=v, a number, JSON value or word; repeat for more")]
Solver = Annotated[
    str | None,
    typer.Option(
        "--solver", help="registry name or pyomo:NAME; else the preferred one", autocompletion=_names("SOLVERS")
    ),
]
Options = Annotated[Path | None, typer.Option("--options", help="TOML file with options of the solver")]
TimeLimit = Annotated[float | None, typer.Option("--time-limit", help="seconds")]
Jobs = Annotated[int, typer.Option("--jobs", help="processes; -1 takes all processors")]
Scheduler = Annotated[str | None, typer.Option("--scheduler", help="Dask scheduler, tcp://HOST:PORT")]
Json = Annotated[bool, typer.Option("--json", help="print one JSON object")]


def given(context: typer.Context) -> dict[str, Any]:
    """Return the options and arguments of a command that the user gave: name -> value, without the defaults."""
    return {"data" if k == FILE else k: v for k, v in context.params.items() if _written(context, k)}


def _written(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def only(context: typer.Context, mode: str, names: Collection[str]) -> dict[str, Any]:
    """Return the given options; raises ParameterError for one that has no meaning in this mode of the command."""
    found = given(context)
    for parameter in context.command.params:
        if parameter.name in found and parameter.name not in names:
            flag = next(text for text in parameter.opts if text.startswith("--"))
            raise ParameterError(f"{flag} has no meaning {mode}", "leave it out")
    return found


def check_workers(jobs: int, scheduler: str | None) -> None:
    """Refuse processes on this machine, another number than -1, beside the workers of a scheduler."""
    if scheduler is not None and jobs != -1:
        raise ParameterError("both --jobs and --scheduler are given", "give one of them")


def file(help_: str, *flags: str, kinds: Sequence[str] = ()) -> Any:
    """Return an option with a file to be written; another kind, or a place that takes none, is refused at once."""

    def checked(path: Path | None) -> Path | None:
        if path is not None and kinds and path.suffix.lower() not in kinds:
            raise ParameterError(f"the type of '{brief(path)}' is not known", f"let it end in {', '.join(kinds)}")
        return None if path is None else check_writable(path)

    return typer.Option(*(flags or ("-o", "--output")), help=help_, callback=checked)


Output = Annotated[Path | None, file("save as JSON to this file")]
Report = Annotated[Path | None, file("write one self-contained HTML page to this file", "--report")]
Checkpoint = Annotated[Path | None, file("replace this file while gbd or best-subset runs", "--checkpoint")]
Resume = Annotated[Path | None, typer.Option("--resume", help="go on from a checkpoint of the same run")]
Exact = Annotated[bool, typer.Option("--exact", help="also in rational arithmetic, with no tolerance anywhere")]
Proof = Annotated[Path | None, file("write the exact evidence for fsopt-verify: .json or .json.gz", "--proof")]
Tee = Annotated[bool, typer.Option("--tee", help="show the solver's log")]

Customise = Annotated[
    list[str] | None,
    typer.Option("--customise", help="SLUG=FILE.py:FUNCTION, which changes the models of this slug; repeat for more"),
]


OWN = {
    "checkpoint",
    "customise",
    "data",
    "executor",
    "name",
    "options",
    "progress",
    "resume",
    "slug",
    "solver",
    "time_limit",
}
"""What the commands give to a builder or a fit beside its parameters."""


def parse_params(given: list[str] | None) -> dict[str, Any]:
    """Return the parameters of ``--param k=v``; a value is JSON, a number in another spelling, or else a word."""
    params: dict[str, Any] = {}
    for text in given or []:
        name, equals, value = text.partition("=")
        if not equals or not name.isidentifier():
            raise ParameterError(f"'--param {brief(text)}' is not of the form k=v", "for example --param c=1.0")
        if name in params:
            raise ParameterError(f"the parameter '{name}' is given twice", "give it once")
        if name in OWN:
            raise ParameterError(f"'{name}' is no parameter of a model or method", "--help has the flags of a command")
        try:
            params[name] = _value(value)
        except RecursionError as error:
            raise ParameterError(f"'--param {brief(text)}' has too many brackets in brackets", "give a list") from error
    return params


def _value(text: str) -> Any:
    for read in (json.loads, float):
        try:
            return read(text)
        except ValueError:
            continue
    return text


def read_changes(given: list[str] | None, models: Sequence[str]) -> dict[str, Change] | None:
    """Return the functions of ``--customise``: slug -> function of a file.

    Parameters
    ----------
    given : texts ``SLUG=FILE.py:FUNCTION``; without a slug the function is for the only model that there is, and a
        mapping of slugs to functions is for its slugs.
    models : slugs of the models that are solved.
    """
    changes: dict[str, Change] = {}
    for text in given or []:
        slug, equals, place = text.partition("=") if "=" in text else ("", "", text)
        path, colon, name = place.rpartition(":")
        if not colon or not name.isidentifier() or (equals and not slug):
            raise ParameterError(
                f"'--customise {brief(text)}' is not of the form SLUG=FILE.py:FUNCTION",
                "for example --customise fsp-master=rules.py:rule",
            )
        found = FromFile(path, name).load()
        if isinstance(found, Mapping):
            changes |= {key: FromFile(path, name, key) for key in found}
        elif slug or len(models) == 1:
            changes[slug or models[0]] = FromFile(path, name)
        else:
            raise ParameterError(
                f"'--customise {brief(text)}' does not say which model it changes",
                f"write SLUG={brief(text)} with one of {', '.join(models)}",
            )
    return changes or None


def read_options(path: Path | None) -> dict[str, Any] | None:
    """Read a TOML file of solver options."""
    if path is None:
        return None
    try:
        return tomllib.loads(check_readable(path, "the options file").read_text(encoding="utf-8"))
    except FileError as error:
        raise OptionError(error.message, error.hint) from error
    except OSError as error:
        raise OptionError(f"cannot read the options file '{path}': {error.strerror}", "check the path") from error
    except (ValueError, RecursionError) as error:
        raise OptionError(
            f"the options file '{path}' is not TOML: {error}", "write lines such as threads = 1"
        ) from error
