"""Verbs ``select``, ``fit`` and ``predict``: from a table to features, a classifier, and the labels of samples."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fsopt.cli import options
from fsopt.cli.options import OPTIONS, WHOLE, flagged, load
from fsopt.cli.output import (
    EXIT_INTERRUPTED,
    EXIT_NOT_SOLVED,
    EXIT_SOLVED,
    deliver,
    emit,
    exit_code,
    print_exact,
    print_fit,
    print_json,
    progress_bar,
    remark,
    show,
    table,
)
from fsopt.common.files import brief
from fsopt.common.texts import counted, one_line
from fsopt.data.layout import Layout
from fsopt.errors import FileError, ParameterError

if TYPE_CHECKING:
    from fsopt.analysis.selection_answers import Selection
    from fsopt.answers.fits import Fit
    from fsopt.data import Dataset
    from fsopt.data.given import Table

OF_PATH = ("c", "loss")
"""Options of ``select --path`` alone."""
ASKED = ("features", "rule", "folds", "seed", "exact", "time_limit", "jobs")
"""Options of ``select`` without --path, as :func:`fsopt.select` has them."""


def _page(path: Path | None) -> Path | None:
    """Refuse a page of another kind, or one that cannot be written, before any work is done."""
    from fsopt.studies.report import check_page

    return None if path is None else check_page(path)


Features = Annotated[int | None, typer.Option("--features", help="number of features, instead of a choice")]
Rule = Annotated[
    str, typer.Option("--rule", help="log-loss: the fewest that lose 5 % of its gain; shortest: fewer, by AUC")
]
Numbers = Annotated[
    str | None,
    typer.Option("--path", help="numbers of features, 1-10 or all: the best selection of each, and a lower bound"),
]
Weights = Annotated[list[float] | None, typer.Option("--c", help="of --path: penalty weight of the loss; repeat")]
Page = Annotated[
    Path | None, typer.Option("--report", help="write a page: .html, or .tex for the table alone", callback=_page)
]


def select(
    context: typer.Context,
    data: options.Data,
    layout: Layout = WHOLE,
    features: Features = None,
    rule: Rule = "log-loss",
    folds: options.Folds = 5,
    seed: options.Seed = 0,
    exact: options.Exact = False,
    path: Numbers = None,
    c: Weights = None,
    loss: Annotated[str, typer.Option("--loss", help="of --path: hinge, squared-hinge or logistic")] = "hinge",
    time_limit: Annotated[
        float, typer.Option("--time-limit", help="seconds for the proof of the selection; of all for --path")
    ] = 30.0,
    jobs: options.Jobs = 1,
    report: Page = None,
    output: Annotated[Path | None, options.file("save the fit for check and predict, or the path")] = None,
    json: options.Json = False,
) -> int:
    """Tell how many features, which, how good, and how sure.

    The number is chosen by cross-validation, the selection is proved best of its size, and an answer that is no better
    than noise is no feature.
    """
    if path is not None:
        of_data = [option.name for option in OPTIONS]
        own = options.only(
            context, "with --path", ("data", "path", *OF_PATH, "time_limit", "jobs", "output", "json", *of_data)
        )
        return _path(load(data, layout), data, path, own, output, json)
    options.only(context, "without --path", context.params.keys() - set(OF_PATH))
    return _select(load(data, layout), data, layout, {k: context.params[k] for k in ASKED}, report, output, json)


def _select(
    source: Dataset,
    name: str,
    layout: Layout,
    asked: Mapping[str, Any],
    report: Path | None,
    output: Path | None,
    json: bool,
) -> int:
    """Select the features of a data set; write, save and print what was found."""
    from fsopt.analysis.selecting import select as run
    from fsopt.answers.fits import fit_record
    from fsopt.answers.records import plain, sealed
    from fsopt.studies.report import write_selection

    with progress_bar("select", total=1) as update:
        found = run(source, progress=lambda s: update(s["share"], f"select: {s['share']:.0%}"), **asked)
    if report is not None:
        write_selection(found, report)
        remark(f"wrote {report}")
    # What numbers the rows names the samples of predictions, where no column was said to.
    ids = layout.id or next(iter(found.left_out), None)
    read = replace(layout, id=ids, drop=(*layout.drop, *(one for one in found.left_out if one != ids)))
    saved = sealed(fit_record(found.fit, data=found.data, source=name) | {"layout": read.stated})
    answer = plain({**found.heading, "data": name, "rows": found.to_records()})
    deliver(saved, output, as_json=False, present=lambda: print_json(answer) if json else _print(found))
    return EXIT_SOLVED if found.status.solved else EXIT_NOT_SOLVED


def _print(found: Selection) -> None:
    """Print the answer in words, the warnings, and the selected features."""
    story = [one_line(flagged(text)) for text in found.story]
    show(*(one_line(flagged(text)) for text in found.sentences))
    for text in found.warnings:
        remark(f"warning: {flagged(text)}")
    if not found.fit.features:
        show(*story)
        return
    weights, intercept = found.printed_weights
    rows = []
    for row, weight in zip(found.to_records(), weights, strict=True):
        step, ratio, low, high = (f"{row[name]:.3g}" for name in ("step", "odds_ratio", "odds_low", "odds_high"))
        sure = (f"{row['share']:.0%}", f"{row['p_value']:.2f}")
        rows.append((row["feature"], weight, step, ratio, f"[{low}, {high}]", *sure))
    rows.append(("intercept", intercept, "", "", "", "", ""))
    heads = ("feature", ">weight", ">step", ">odds ratio", ">95 % interval", ">halves", ">p")
    show("", table("", heads, rows), "", *story)


def _path(source: Dataset, name: str, numbers: str, given: Mapping[str, Any], output: Path | None, json: bool) -> int:
    """Compute, save and print the path of a data set by the options that are given."""
    from fsopt.analysis.selection_questions import selection_path as run
    from fsopt.answers.records import plain

    m, own = _numbers(numbers, source.p), {k: given[k] for k in (*OF_PATH, "time_limit", "jobs") if k in given}
    with progress_bar("path") as update:

        def report(entry: Mapping[str, Any]) -> None:
            shown = f"objective {entry['objective']:.6g}, bound {entry['bound']:.6g}"
            update(entry["iteration"], f"path: C = {entry['c']:g}, m = {entry['m']}, {shown}")

        found = run(source, m=m, progress=report, **own)
    record = plain({"n": source.n, "p": source.p, **found.heading, "data": name, "rows": found.to_records()})
    deliver(record, output, as_json=json, present=lambda: show(_path_table(record)))
    wanted = (source.p + 1 if m is None else len(set(m))) * len(set(own.get("c", (1.0,))))
    return EXIT_SOLVED if len(found.cells) == wanted else EXIT_INTERRUPTED


def _numbers(text: str, p: int) -> list[int] | None:
    """Return the numbers of features in ``1,2,5`` or ``1-10``, or both; None for ``all``; raises ParameterError."""
    if text == "all":
        return None
    found: list[int] = []
    for part in text.split(","):
        ends = re.fullmatch(r"(\d{1,9})(?:-(\d{1,9}))?", part.strip(), re.ASCII)
        first, last = (0, -1) if ends is None else (int(ends[1]), int(ends[2] or ends[1]))
        if first > last:
            raise ParameterError(f"--path is '{brief(text)}'", "give numbers of features, as 1,2,5 or 1-10, or all")
        if last > p:
            said = f"--path is '{brief(text)}', and the data have {counted(p, 'feature')}"
            raise ParameterError(said, "give smaller numbers")
        found += range(first, last + 1)
    return found


def _path_table(record: Mapping[str, Any]) -> str:
    """Return a path as a table."""
    rows = []
    for row in record["rows"]:
        gap = "closed" if row["optimal"] else f"{row['gap']:.2%}"
        names = ", ".join(row["features"]) or "none"
        rows.append((f"{row['c']:g}", row["m"], row["objective"], row["bound"], gap, row["nodes"], names))
    return table("", (">C", ">M", ">objective", ">lower bound", ">gap", ">nodes", "features"), rows)


def fit(
    method: Annotated[str, typer.Argument(help="a name of 'fsopt methods'", autocompletion=options.methods)],
    data: options.Data,
    layout: Layout = WHOLE,
    param: options.Params = None,
    solver: options.Solver = None,
    options_file: options.Options = None,
    time_limit: options.TimeLimit = None,
    checkpoint: options.Checkpoint = None,
    resume: options.Resume = None,
    customise: options.Customise = None,
    exact: options.Exact = False,
    output: options.Output = None,
    json: options.Json = False,
) -> int:
    """Run a method: selected features, classifier, certificate. Ctrl-C prints the incumbent."""
    from fsopt.answers.fits import fit_record
    from fsopt.answers.records import sealed
    from fsopt.methods.registry import METHODS
    from fsopt.methods.registry import fit as run

    changes = options.read_changes(customise, METHODS[method].models)
    own: dict[str, Any] = {"solver": solver, "time_limit": time_limit, "options": options.read_options(options_file)}
    own |= {"checkpoint": checkpoint, "resume": resume, "customise": changes, **options.parse_params(param)}
    source = load(data, layout)
    with progress_bar(method) as update:
        fitted = run(method, source, progress=lambda entry: update(entry["iteration"], _step(method, entry)), **own)
    record = sealed(fit_record(fitted, data=source, source=data) | {"layout": layout.stated})
    for warning in fitted.warnings:
        remark(f"warning: {warning}")
    shown = {}
    if exact:
        from fsopt.verification.verify import verify

        shown = {"exact": verify(fitted, source, exact=True, customise=changes).record()["exact"]}

    def present() -> None:
        if json:
            print_json(record | shown)
            return
        print_fit(fitted, record, _by_class(fitted, source))
        if shown:
            print_exact(shown["exact"])

    deliver(record, output, as_json=False, present=present)
    return exit_code(fitted)


def _step(method: str, entry: Mapping[str, Any]) -> str:
    """Return an iteration with its objective values and bounds as a text."""
    shown = {k: entry[k] for k in ("objective", "bound", "E", "H") if isinstance(entry.get(k), float)}
    return f"{method}: iteration {entry['iteration']}" + "".join(f", {k} {v:.6g}" for k, v in shown.items())


def _by_class(fitted: Fit, data: Dataset) -> dict[int, float]:
    """Return label -> accuracy on the samples of this class."""
    right = fitted.predict(data.X) == data.y
    return {sign: float(right[data.y == sign].mean()) for sign in (1, -1)}


def predict(
    saved: Annotated[
        list[Path],
        typer.Argument(
            help="a fit saved with -o, or one for each of several classes, and the samples", metavar="FIT.json... FILE"
        ),
    ],
    data: Annotated[str | None, typer.Option("--data", help="in place of FILE")] = None,
    layout: Layout = WHOLE,
    output: Annotated[Path | None, options.file("save as CSV (.csv) or else JSON")] = None,
    proba: Annotated[
        bool, typer.Option("--proba", help="also the probability of +1, of a fit that 'fsopt select -o' saved")
    ] = False,
    json: options.Json = False,
) -> int:
    """Classify samples with a saved fit: id, label and score.

    A file without labels has no accuracy. Only the columns that the fit uses are needed; they are found by their names.
    Several fits, each of another class against the rest, give the class with the largest score.
    """
    from fsopt.answers.records import plain
    from fsopt.answers.saved import fit_from, read_fit
    from fsopt.data import load_samples

    if data is None:
        *saved, last = saved
        data = str(last)
    if not saved:
        raise ParameterError("there are no samples", f"for example fsopt predict {data} new.csv")
    if proba and len(saved) > 1:
        raise ParameterError("--proba takes one fit", "leave it out: the class with the largest score is told")
    records = [read_fit(path) for path in saved]
    fits = [fit_from(record, path) for record, path in zip(records, saved, strict=True)]
    samples = load_samples(data, layout=_common_reading(saved, records, layout))
    ids = samples.ids or [str(i) for i in range(1, samples.n + 1)]
    answer, columns = (
        _of_one(fits[0], records[0], samples, proba) if len(fits) == 1 else _of_several(fits, records, samples)
    )
    for text in dict.fromkeys(text for fitted in fits for text in _unseen(fitted, samples)):
        remark(text)
    result = plain({"data": data, "n": samples.n, "ids": ids, **answer})
    listed = io.StringIO()
    rows = [("id", *columns), *zip(ids, *columns.values(), strict=True)]
    csv.writer(listed, lineterminator="\n").writerows(rows)
    text = listed.getvalue()
    own = text if output is not None and output.suffix.lower() == ".csv" else None
    deliver(result, output, as_json=json, present=lambda: emit(text if output is None else ""), text=own)
    if result["accuracy"] is not None:
        remark(f"accuracy {result['accuracy']:.4f} on {counted(samples.n, 'sample')}")
    return EXIT_SOLVED


def _of_one(
    fitted: Fit, record: Mapping[str, Any], samples: Table, proba: bool
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the answer of a fit of two classes, and its columns by their names."""
    scores = fitted.decision_function(samples).tolist()
    more = {"probability": fitted.predict_proba(samples)[:, 1].tolist()} if proba else {}
    down, up = map(str, record["labels"])
    names = [up if score > 0 else down for score in scores]
    right = [
        (name == up) == _stands_for(up, text, (down, up)) for name, text in zip(names, samples.labels, strict=False)
    ]
    answer: dict[str, Any] = {
        "method": fitted.method,
        "predictions": [1 if score > 0 else -1 for score in scores],
        "labels": names,
    }
    answer |= {"scores": scores, **more, "accuracy": _share(right, samples)}
    return answer, {"label": names, "score": scores, **more}


def _of_several(
    fits: Sequence[Fit], records: Sequence[Mapping[str, Any]], samples: Table
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the answer of fits that each have another class as +1, and its columns by their names."""
    classes = [str(record["labels"][1]) for record in records]
    if twice := [name for name in classes if classes.count(name) > 1]:
        hint = "fit each class against the rest: 'fsopt fit ... --positive CLASS'"
        raise ParameterError(f"two of the fits have '{twice[0]}' as +1", hint)
    scores = [fitted.decision_function(samples).tolist() for fitted in fits]
    rows = list(zip(*scores, strict=True))
    names = [classes[max(range(len(row)), key=row.__getitem__)] for row in rows]
    right = [_stands_for(name, text, classes) for name, text in zip(names, samples.labels, strict=False)]
    answer: dict[str, Any] = {
        "methods": [fitted.method for fitted in fits],
        "classes": classes,
        "labels": names,
        "scores": rows,
    }
    by_class = {f"score {name}": one for name, one in zip(classes, scores, strict=True)}
    return answer | {"accuracy": _share(right, samples)}, {"label": names, **by_class}


def _stands_for(name: str, text: str, classes: Sequence[str]) -> bool:
    """Return whether a label, such as ``b|c`` of several classes, stands for the label in the file."""
    from fsopt.data.layout import label_key

    if text in classes:
        return text == name
    return any(label_key(text) == label_key(one) for one in (name, *name.split("|")))


def _share(right: Sequence[bool], samples: Table) -> float | None:
    """Return the accuracy, None if a sample in the file has no label."""
    from fsopt.data.layout import is_missing

    if not samples.labels or any(is_missing(text) for text in samples.labels):
        return None
    return sum(right) / len(right)


def _unseen(fitted: Fit, samples: Table) -> Iterable[str]:
    """Yield a warning for each column that the fit uses with categories that the training samples did not have."""
    encoding = None if fitted.trained is None else fitted.trained.encoding
    if encoding is None or samples.source is None:
        return
    used = encoding.sources([name for name, one in zip(encoding.features, fitted.needed, strict=True) if one])
    for name, texts in encoding.unseen(samples.source).items():
        if name in used:
            listed = ", ".join(f"'{text}'" for text in texts[:5]) + (" ..." if len(texts) > 5 else "")
            yield f"warning: column '{name}' has values that no training sample had, whose features are 0: {listed}"


def _common_reading(paths: Sequence[Path], records: Sequence[Mapping[str, Any]], given: Layout) -> Layout:
    """Return the layout by which samples are read: that of the training data, apart from what is given anew."""
    anew: dict[str, Any] = {"drop": (), "positive": (), "weights": None, "class_weight": None, "missing": None}
    anew |= {name: getattr(given, name) for name in given.stated}
    first, *others = (replace(Layout.saved(record), **anew) for record in records)
    for path, other in zip(paths[1:], others, strict=True):
        if other != first:
            said = f"'{paths[0]}' and '{path}' were saved with other options of the data"
            raise FileError(said, "fit both with the same options but --positive")
    return first
