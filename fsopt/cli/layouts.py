"""The options that tell the meaning of the columns of a data file, which every verb that reads data has."""

from __future__ import annotations

import csv
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from fsopt.cli import options
from fsopt.common.texts import counted
from fsopt.data.layout import DEFAULT_TARGET, LISTS, MISSING, SPELLING, Layout
from fsopt.errors import FileError, ParameterError, shown

if TYPE_CHECKING:
    from fsopt.data import Dataset

WHOLE = Layout()
"""Every column but ``label`` is a feature: the default of the verbs."""
KEYWORDS = tuple(field.name for field in fields(Layout))
"""Keys of ``--read``."""
_LIST = "separated by commas; repeat for more"
_TEXT, _TEXTS = str | None, list[str] | None
_HELP: Mapping[str, tuple[Any, Any, str]] = {
    "target": (str, DEFAULT_TARGET, "name of the label's column"),
    "positive": (_TEXTS, None, f"label that is +1, all others are -1; several {_LIST}"),
    "drop": (_TEXTS, None, f"columns to leave out, {_LIST}"),
    "id": (_TEXT, None, "column that names the samples"),
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
    """Return a verb whose parameter ``layout`` is in its place the options of a layout, for typer."""
    signature = inspect.signature(verb, eval_str=True)
    if "data" not in signature.parameters:
        return verb
    own = [option for option in OPTIONS if option.name in OF_VERBS.get(verb.__name__, _HELP)]
    data = signature.parameters["data"]
    in_place = data.default is data.empty

    @wraps(verb)
    def call(**given: Any) -> Any:
        if "layout" in signature.parameters:
            given["layout"] = read_layout({option.name: given.pop(option.name) for option in own})
        if in_place:
            given["data"] = _one_source(given.pop(options.FILE), given["data"])
        return verb(**given)

    shown: list[inspect.Parameter] = []
    for parameter in signature.parameters.values():
        if in_place and parameter is data:
            shown += _both(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))
        else:
            keyword = parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
            shown += own if parameter.name == "layout" else [keyword]
    call.__signature__ = signature.replace(parameters=shown)  # type: ignore[attr-defined]
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in shown}
    return call


def _both(data: inspect.Parameter) -> list[inspect.Parameter]:
    """Return the data of a verb in their place, FILE, and as the option ``--data``."""
    kind, described = get_args(data.annotation)
    file = typer.Argument(metavar="FILE", help=described.help, show_default=False)
    option = typer.Option("--data", help="in place of FILE")
    return [
        data.replace(name=options.FILE, default=None, annotation=Annotated[kind | None, file]),
        data.replace(default=None, annotation=Annotated[kind | None, option]),
    ]


def _one_source(file: Any, data: Any) -> Any:
    """Return the data of a verb, given in their place or by the option."""
    if file and data:
        raise ParameterError("the data are given twice, in their place and with --data", "give them once")
    if not (file or data):
        raise ParameterError("no data are given", "name a file, wdbc, or a name in FSOPT_DATA")
    return file or data


def read_layout(given: Mapping[str, Any]) -> Layout:
    """Return the layout of the options by their names; raises ParameterError for one that has not its form."""
    stated = {name: value for name, value in given.items() if name != "read" and value not in (None, False)}
    for text in given.get("read") or ():
        name, equals, value = text.partition("=")
        if name not in KEYWORDS or not equals:
            raise ParameterError(f"'--read {text}' is not of the form KEY=VALUE", f"keys: {', '.join(KEYWORDS)}")
        if name in stated and not (name == "target" and stated[name] == DEFAULT_TARGET):
            raise ParameterError(f"'{name}' is given twice", "give it once")
        stated[name] = value.lower() in ("true", "1", "yes", "") if name == "onehot" else value
    for name in ("class_weight", *LISTS):
        if name in stated:
            stated[name] = _items([stated[name]] if isinstance(stated[name], str) else stated[name])
    if pairs := stated.get("class_weight"):
        stated["class_weight"] = "balanced" if pairs == ("balanced",) else tuple(map(_weight, pairs))
    return Layout(**stated)


def _items(given: Iterable[str] | None) -> tuple[str, ...]:
    """Return the items of texts with commas between them; one with a comma in it is in quotation marks."""
    rows = csv.reader(list(given or ()), skipinitialspace=True)
    return tuple(item.strip() for row in rows for item in row if item.strip())


def _weight(item: str) -> tuple[str, float]:
    name, _, text = item.rpartition("=")
    try:
        return (name, float(text))
    except ValueError:
        hint = "give balanced, or for example malignant=2"
        raise ParameterError(f"'--class-weight {item}' is no weight", hint) from None


def load(source: str, layout: Layout = WHOLE) -> Dataset:
    """Load a data set; its size, its labels and what became of its columns are remarks on stderr."""
    from fsopt.cli.output import remark
    from fsopt.data.given import load_table

    data = load_table(source, layout, remark)
    remark(
        f"{data.name}: {counted(data.n, 'sample')}, {counted(data.p, 'feature')}; "
        f"+1 is '{data.labels[1]}', -1 is '{data.labels[0]}'"
    )
    if data.constant:
        remark(f"{counted(len(data.constant), 'constant feature')}: {_first(data.constant)}")
    if data.encoded is not None:
        gone = [f"{name} ({count})" for name, count in data.encoded.source.isna().sum().items() if count]
        if gone:
            remark(f"missing values, treated by '{layout.missing}': {_first(gone)}")
    if data.weights is not None:
        totals = [float(data.weights[members].sum()) for members in (data.positive, data.negative)]
        remark(f"sums of the weights: {totals[0]:g} of '{data.labels[1]}', {totals[1]:g} of '{data.labels[0]}'")
    if data.identifiers:
        hint = "--id or --drop leaves an identifier out"
        remark(f"a different whole number in every row: {_first(data.identifiers)}; {hint}")
    return data


def _first(names: Sequence[str]) -> str:
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return ", ".join(names[:5]) + more


def checked_layout(record: Mapping[str, Any], given: Layout, path: Path) -> Layout:
    """Return the layout by which the data of a saved answer are loaded to check it.

    Raises
    ------
    FileError : the options that are given are not those that were saved, apart from identifier and spelling.
    """
    saved = Layout.saved(record)
    if given == WHOLE:
        return saved
    of_file: dict[str, Any] = dict.fromkeys(("id", *SPELLING))
    if "layout" in record and replace(saved, **of_file) != replace(given, **of_file):
        raise FileError(
            f"'{path}' was saved with other options of the data: {shown(saved.stated)}",
            "give the same, such as --target and --missing, or none: those of the file are taken then",
        )
    return given


def layout_record(layout: Layout) -> dict[str, Any]:
    """Return the part of a saved answer that tells how its data set is loaded again."""
    return {"layout": layout.stated}
