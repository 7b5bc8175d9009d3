"""Options that several verbs share, the readers of their texts, and those of a table, which are defined once."""

from __future__ import annotations

import csv
import inspect
import json
import re
import tomllib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import fields
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from fsopt.cli.output import remark
from fsopt.common.files import brief, check_readable, check_writable
from fsopt.common.texts import counted
from fsopt.data.layout import DEFAULT_TARGET, LISTS, MISSING, SUFFIXES, WHOLE, Layout
from fsopt.errors import OptionError, ParameterError, foreign

if TYPE_CHECKING:
    from fsopt.data import Dataset


Model = Annotated[str, typer.Argument(help="a slug of 'fsopt models', or a file .lp or .mps, which HiGHS reads")]
DATA_HELP = f"wdbc, a file ({' '.join(SUFFIXES)}), or a name in FSOPT_DATA"
Data = Annotated[str, typer.Option("--data", help=DATA_HELP)]
OptionalData = Annotated[str | None, Data.__metadata__[0]]
Params = Annotated[list[str] | None, typer.Option("--param", help="k=v, a number, JSON value or word; repeat for more")]
Solver = Annotated[str | None, typer.Option("--solver", help="registry name or pyomo:NAME; else the preferred one")]
Options = Annotated[Path | None, typer.Option("--options", help="TOML file with options of the solver")]
TimeLimit = Annotated[float | None, typer.Option("--time-limit", help="seconds")]
Jobs = Annotated[int, typer.Option("--jobs", help="processes; -1 takes all processors")]
Folds = Annotated[int, typer.Option("--folds", help="of the stratified cross-validation")]
Seed = Annotated[int, typer.Option("--seed", help="of folds, halves and permuted labels")]
Scheduler = Annotated[str | None, typer.Option("--scheduler", help="Dask scheduler, tcp://HOST:PORT")]
Json = Annotated[bool, typer.Option("--json", help="print one JSON object")]


def only(context: typer.Context, mode: str, names: Collection[str]) -> None:
    """Raise ParameterError for a given option that has no meaning in this mode of the command."""
    for parameter in context.command.params:
        source = getattr(context.get_parameter_source(str(parameter.name)), "name", "")
        if source == "COMMANDLINE" and parameter.name not in names:
            raise ParameterError(f"{parameter.opts[-1]} has no meaning {mode}", "leave it out")


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
Checkpoint = Annotated[Path | None, file("replace this file while best-subset runs", "--checkpoint")]
Resume = Annotated[Path | None, typer.Option("--resume", help="go on from a checkpoint of the same run")]
Exact = Annotated[bool, typer.Option("--exact", help="also in rational arithmetic, with no tolerance anywhere")]
Proof = Annotated[Path | None, file("write the exact evidence for fsopt-verify: .json or .json.gz", "--proof")]
Tee = Annotated[bool, typer.Option("--tee", help="show the solver's log")]


OWN = {"checkpoint", "customise", "data", "name", "options", "progress", "resume", "slug", "solver"}
OWN |= {"time_limit"}
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
        params[name] = _value(value)
    return params


def _value(text: str) -> Any:
    for read in (json.loads, float):
        try:
            return read(text)
        except (ValueError, RecursionError):
            continue
    return text


def read_options(path: Path | None) -> dict[str, Any] | None:
    """Read a TOML file of solver options."""
    if path is None:
        return None
    source = check_readable(path, "the options file")
    with foreign("TOML", f"the options file '{path}' is not TOML", "write lines such as threads = 1", OptionError):
        options = tomllib.loads(source.read_text(encoding="utf-8"))
    return options


KEYWORDS = tuple(field.name for field in fields(Layout))
"""Keys of ``--read``."""
_LIST = "separated by commas; repeat for more"
_TEXT, _TEXTS = str | None, list[str] | None
_HELP: Mapping[str, tuple[Any, Any, str]] = {
    "target": (str, DEFAULT_TARGET, "name of the label's column"),
    "positive": (_TEXTS, None, f"label that is +1, all others are -1; several {_LIST}"),
    "drop": (_TEXTS, None, f"columns to leave out, {_LIST}"),
    "id": (_TEXT, None, "column that names the samples"),
    "group": (_TEXT, None, "column of the person, animal or batch of each sample, whose samples stay together"),
    "onehot": (bool, False, "make 0/1 features of columns of texts"),
    "missing": (_TEXT, None, f"{', '.join(MISSING)}: the treatment of missing values"),
    "weights": (_TEXT, None, "column of sample weights"),
    "class_weight": (_TEXTS, None, f"balanced, or CLASS=WEIGHT, {_LIST}"),
    "read": (_TEXTS, None, "KEY=VALUE of fsopt.load_dataset, such as decimal=,; pandas has it; repeat for more"),
}
OPTIONS = tuple(
    inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[kind, typer.Option(f"--{name.replace('_', '-')}", help=text)],
    )
    for name, (kind, default, text) in _HELP.items()
)
OF_VERBS: Mapping[str, tuple[str, ...]] = {"predict": ("id", "read")} | dict.fromkeys(
    ("solve", "export", "check"), ("target", "read")
)
"""Verb -> its options of a table, where it has not all: a saved fit knows the rest, and ``--read`` says the others."""


def with_layout(verb: Callable[..., Any]) -> Callable[..., Any]:
    """Return a verb, for typer, with the options of a layout in the place of its parameter ``layout``.

    Data without a default stand in their place, FILE.
    """
    signature = inspect.signature(verb, eval_str=True)
    own = [option for option in OPTIONS if option.name in OF_VERBS.get(verb.__name__, _HELP)]

    @wraps(verb)
    def call(**given: Any) -> Any:
        if "layout" in signature.parameters:
            given["layout"] = read_layout({option.name: given.pop(option.name) for option in own})
        return verb(**given)

    shown: list[inspect.Parameter] = []
    for parameter in signature.parameters.values():
        keyword = parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        if parameter.name == "data" and parameter.default is inspect.Parameter.empty:
            kind, option = get_args(parameter.annotation)
            file = typer.Argument(metavar="FILE", help=f"{option.help}; --data FILE is the same", show_default=False)
            keyword = keyword.replace(annotation=Annotated[kind, file])
        shown += own if parameter.name == "layout" else [keyword]
    call.__signature__ = signature.replace(parameters=shown)  # type: ignore[attr-defined]
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in shown}
    return call


def in_place(given: Sequence[str], verb: Any) -> list[str]:
    """Return words with the data behind ``--data`` in their place, the last, for a verb that takes them there."""
    if verb is None or not any(one.name == "data" and one.param_type_name == "argument" for one in verb.params):
        return list(given)
    words: list[str] = []
    data: list[str] = []
    rest = iter(given)
    for word in rest:
        flag, equals, value = word.partition("=")
        if flag == "--data":
            data.append(value if equals else next(rest, ""))
        else:
            words.append(word)
    return [*words, *data]


def read_layout(given: Mapping[str, Any]) -> Layout:
    """Return the layout of the options by their names; raises ParameterError for one that has not its form."""
    stated = {name: value for name, value in given.items() if name != "read" and value not in (None, False)}
    for text in given.get("read") or ():
        name, equals, value = text.partition("=")
        if name not in KEYWORDS or not equals:
            raise ParameterError(f"'--read {text}' is not of the form KEY=VALUE", f"keys: {', '.join(KEYWORDS)}")
        if name in stated and not (name == "target" and stated[name] == DEFAULT_TARGET):
            raise ParameterError(f"'{name}' is given twice", "give it once")
        lists = name == "class_weight" or name in LISTS
        stated[name] = value.lower() in ("true", "1", "yes", "") if name == "onehot" else [value] if lists else value
    for name in {"class_weight", *LISTS} & stated.keys():  # one with a comma in it is in quotation marks
        rows = csv.reader(stated[name], skipinitialspace=True)
        stated[name] = tuple(item.strip() for row in rows for item in row if item.strip())
    if pairs := stated.get("class_weight"):
        stated["class_weight"] = "balanced" if pairs == ("balanced",) else tuple(map(_weight, pairs))
    return Layout(**stated)


def _weight(item: str) -> tuple[str, float]:
    name, _, text = item.rpartition("=")
    try:
        return (name, float(text))
    except ValueError:
        hint = "give balanced, or for example malignant=2"
        raise ParameterError(f"'--class-weight {item}' is no weight", hint) from None


def load(source: str, layout: Layout = WHOLE) -> Dataset:
    """Load a data set; its size, its labels and what became of its columns are remarks on stderr."""
    from fsopt.data.given import load_table

    data, _ = load_table(source, layout)
    remark(
        f"{data.name}: {counted(data.n, 'sample')}, {counted(data.p, 'feature')}; "
        f"+1 is '{data.labels[1]}', -1 is '{data.labels[0]}'"
    )
    for text in (*data.story[1:], *data.facts):
        remark(flagged(text))
    return data


def flagged(text: str) -> str:
    """Return a sentence of the library with the flags of a table in place of its keywords."""
    text = text.replace("class_weight='balanced'", "--class-weight balanced")
    return re.sub(r"\b(group|drop)=", r"--\1", text)
