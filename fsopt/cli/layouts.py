"""The options that tell the meaning of the columns of a data file, which every verb with ``--data`` has."""

from __future__ import annotations

import csv
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin

import typer
from typer.models import ArgumentInfo

from fsopt.cli import options
from fsopt.common.texts import counted
from fsopt.data.tables.layout import DEFAULT_TARGET, LISTS, MISSING, SPELLING, Layout
from fsopt.errors import FileError, ParameterError, shown

if TYPE_CHECKING:
    from fsopt.data import Dataset

WHOLE = Layout()
"""Every column but ``label`` is a feature: the default of the verbs."""


def _option(name: str, kind: Any, default: Any, help_: str, *more: str) -> inspect.Parameter:
    annotation = Annotated[kind, typer.Option(f"--{name.replace('_', '-')}", *more, help=help_)]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


_LIST = "separated by commas; repeat for more"
OPTIONS = (
    _option("target", str, DEFAULT_TARGET, "name of the label's column", "--label"),
    _option("positive", list[str] | None, None, f"label that is +1, all others are -1; several {_LIST}"),
    _option("drop", list[str] | None, None, f"columns to leave out, {_LIST}"),
    _option("columns", list[str] | None, None, f"the columns that are features, {_LIST}"),
    _option("id", str | None, None, "column that names the samples"),
    _option("onehot", bool, False, "make 0/1 features of columns of texts"),
    _option("sep", str | None, None, "separator of a text file: a character, or tab", "--separator"),
    _option("encoding", str | None, None, "encoding of a text file, such as cp1252"),
    _option("decimal", str | None, None, "decimal mark of a text file: . or ,"),
    _option("thousands", str | None, None, "separator of thousands in a text file: a character, or nothing"),
    _option("sheet", str | None, None, "sheet of a workbook; else the first one with the target"),
    _option("numbers", list[str] | None, None, f"columns of texts of which the numbers count (<0.5, 3 mg), {_LIST}"),
    _option("order", list[str] | None, None, "ordered words, 'low<middle<high', also COLUMN=...; repeat for more"),
    _option("unlabelled", str, "drop", "drop or refuse: samples without a label"),
    _option("missing", str | None, None, f"{', '.join(MISSING)}: the treatment of missing values"),
    _option("weights", str | None, None, "column of sample weights"),
    _option("class_weight", list[str] | None, None, f"balanced, or CLASS=WEIGHT, {_LIST}"),
)


def with_layout(verb: Callable[..., Any]) -> Callable[..., Any]:
    """Return a verb whose parameter ``layout`` is in its place the options of a layout, for typer."""
    signature = inspect.signature(verb, eval_str=True)
    if "layout" not in signature.parameters:
        return verb
    data = signature.parameters.get("data")
    in_place = data is not None and not any(_many(parameter) for parameter in signature.parameters.values())

    @wraps(verb)
    def call(**given: Any) -> Any:
        stated = {option.name: given.pop(option.name) for option in OPTIONS}
        if data is not None and in_place:
            given["data"] = _one_source(given.pop(options.FILE), given["data"], data.default is data.empty)
        return verb(**given, layout=read_layout(stated))

    shown: list[inspect.Parameter] = []
    for parameter in signature.parameters.values():
        own = parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        if in_place and parameter is data:
            shown += _both(own)
        else:
            shown += OPTIONS if parameter.name == "layout" else [own]
    call.__signature__ = signature.replace(parameters=shown)  # type: ignore[attr-defined]
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in shown}
    return call


def _many(parameter: inspect.Parameter) -> bool:
    """Return whether a parameter of a verb takes all arguments that there are."""
    kind, *more = get_args(parameter.annotation) or (None,)
    return get_origin(kind) is list and any(isinstance(one, ArgumentInfo) for one in more)


def _both(data: inspect.Parameter) -> list[inspect.Parameter]:
    """Return the data of a verb in their place, FILE, and as the option ``--data``."""
    kind, described = get_args(data.annotation)
    file = typer.Argument(metavar="FILE", help=described.help, show_default=False)
    option = typer.Option("--data", help="in place of FILE")
    return [
        data.replace(name=options.FILE, default=None, annotation=Annotated[kind | None, file]),
        data.replace(default=None, annotation=Annotated[kind | None, option]),
    ]


def _one_source(file: Any, data: Any, required: bool) -> Any:
    """Return the data of a verb, given in their place or by the option."""
    if file and data:
        raise ParameterError("the data are given twice, in their place and with --data", "give them once")
    if required and not (file or data):
        raise ParameterError("no data are given", "name a file, wdbc, or a name in FSOPT_DATA")
    return file or data


def read_layout(given: Mapping[str, Any]) -> Layout:
    """Return the layout of the options by their names; raises ParameterError for one that has not its form."""
    lists = {name: _items(given[name]) for name in LISTS if name != "order"} | {"order": tuple(given["order"] or ())}
    return Layout(**{**given, **lists, "class_weight": _class_weight(given["class_weight"])})


def _items(given: Iterable[str] | None) -> tuple[str, ...]:
    """Return the items of texts with commas between them; one with a comma in it is in quotation marks."""
    rows = csv.reader(list(given or ()), skipinitialspace=True)
    return tuple(item.strip() for row in rows for item in row if item.strip())


def _class_weight(given: list[str] | None) -> str | tuple[tuple[str, float], ...] | None:
    items = _items(given)
    if not items:
        return None
    if items == ("balanced",):
        return "balanced"
    pairs = []
    for item in items:
        name, equals, text = item.rpartition("=")
        try:
            pairs.append((name, float(text)))
        except ValueError:
            equals = ""
        if not equals:
            raise ParameterError(f"'--class-weight {item}' is no weight", "give balanced, or for example malignant=2")
    return tuple(pairs)


def load(source: str, layout: Layout, *, known: bool = False) -> Dataset:
    """Load a data set; its size, its labels and what became of its columns are remarks on stderr.

    The user is warned of a guess of the class +1 unless a saved answer, with which it was told, makes it ``known``.
    """
    from fsopt.cli.output import remark
    from fsopt.data.tables.readers import load_table

    data = load_table(source, layout, remark)
    remark(
        f"{data.name}: {counted(data.n, 'sample')}, {counted(data.p, 'feature')}; "
        f"+1 is '{data.labels[1]}', -1 is '{data.labels[0]}'"
    )
    guess = _guess(data, layout)
    if guess and not known:
        remark(guess)
    if data.constant:
        remark(f"{counted(len(data.constant), 'constant feature')}: {_first(data.constant)}")
    for text in (*_encoded(data), *_weighted(data)):
        remark(text)
    encoded = () if data.encoded is None else data.encoded.encoding.columns
    dates = {column.name for column in encoded if column.kind == "date"}
    numbers = [] if layout.columns else [name for name in data.identifiers if name not in dates]
    if numbers:
        remark(f"a different whole number in every row: {_first(numbers)}; --id or --drop leaves an identifier out")
    return data


AFFIRMED = frozenset(("1", "yes", "true", "positive", "ja", "oui", "si", "sí"))
"""Labels that are +1 whoever reads them."""


def _guess(data: Dataset, layout: Layout) -> str:
    """Return a warning that the class +1 was guessed; empty where it was given, bundled, or says so itself."""
    down, up = data.labels
    if layout.positive or data.name == "wdbc" or up.lower() in AFFIRMED:
        return ""
    try:
        float(up)
        order = "the larger of both numbers"
    except ValueError:
        order = "the last of both words"
    return f"warning: +1 is '{up}', {order}: --positive '{down}' makes '{down}' +1"


def _first(names: Sequence[str]) -> str:
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return ", ".join(names[:5]) + more


def _encoded(data: Dataset) -> Iterator[str]:
    """Yield remarks on texts, dates and missing values."""
    if data.encoded is None:
        return
    encoding, source = data.encoded.encoding, data.encoded.source
    texts = [column for column in encoding.columns if column.kind == "text"]
    if texts:
        count = sum(len(column.features) for column in texts)
        yield f"0/1 features of columns of texts: {count}, of {_first([column.name for column in texts])}"
    for column in encoding.columns:
        if column.kind == "order":
            yield f"ordered words are numbers from 0: {column.name} ({' < '.join(column.levels)})"
    dates = [column.name for column in encoding.columns if column.kind == "date"]
    if dates:
        yield f"dates are days since 1970-01-01: {_first(dates)}; --drop leaves them out"
    counts = [f"{name} ({count})" for name, count in source.isna().sum().items() if count]
    if counts:
        yield f"missing values, treated by '{encoding.missing}': {_first(counts)}"


def _weighted(data: Dataset) -> Iterator[str]:
    """Yield a remark on the weights of both classes."""
    if data.weights is not None:
        totals = [float(data.weights[members].sum()) for members in (data.positive, data.negative)]
        yield f"sums of the weights: {totals[0]:g} of '{data.labels[1]}', {totals[1]:g} of '{data.labels[0]}'"


def checked_layout(record: Mapping[str, Any], given: Layout, path: Path) -> Layout:
    """Return the layout by which the data of a saved answer are loaded to check it.

    Raises
    ------
    FileError : the options that are given are not those that were saved, apart from identifier and spelling.
    """
    saved = Layout.saved(record)
    if given == WHOLE:
        return saved
    of_file: dict[str, Any] = dict.fromkeys((*SPELLING, "id"))
    if "layout" in record and replace(saved, **of_file) != replace(given, **of_file):
        raise FileError(
            f"'{path}' was saved with other options of the data: {shown(saved.stated)}",
            "give the same, such as --target and --missing, or none: those of the file are taken then",
        )
    return given


def layout_record(layout: Layout) -> dict[str, Any]:
    """Return the parts of a saved answer that tell how its data set is loaded again."""
    return {"label": layout.target, "missing": layout.missing, "layout": layout.stated}
