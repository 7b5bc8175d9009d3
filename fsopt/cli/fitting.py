"""Verbs ``fit`` and ``predict``: one method on one data set."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fsopt.cli import options
from fsopt.cli.layouts import WHOLE, layout_record, load
from fsopt.cli.output import (
    EXIT_INTERRUPTED,
    EXIT_NOT_SOLVED,
    EXIT_SOLVED,
    deliver,
    deliver_text,
    emit,
    pairs,
    print_certificate,
    print_json,
    progress_bar,
    remark,
    show,
)
from fsopt.cli.proving import Exact, print_exact
from fsopt.data.tables.layout import SPELLING, Layout

if TYPE_CHECKING:
    from fsopt.answers.fits import Fit
    from fsopt.data import Dataset
    from fsopt.data.tables.table import Table


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
    exact: Exact = False,
    output: options.Output = None,
    json: options.Json = False,
) -> int:
    """Run a method: selected features, classifier, certificate. Ctrl-C prints the incumbent."""
    from fsopt.answers.fits import fit_record
    from fsopt.answers.records import sealed
    from fsopt.methods.registry import METHODS

    changes = options.read_changes(customise, METHODS[method].models)
    own: dict[str, Any] = {"solver": solver, "time_limit": time_limit, "options": options.read_options(options_file)}
    own |= {"checkpoint": checkpoint, "resume": resume, "customise": changes, **options.parse_params(param)}
    source = load(data, layout)
    fitted = _fitted(method, source, own)
    record = sealed(fit_record(fitted, data=source, source=data) | layout_record(layout))
    for warning in fitted.warnings:
        remark(f"warning: {warning}")
    shown = _exact(fitted, source, changes) if exact else None

    def present() -> None:
        if json:
            print_json(record if shown is None else record | {"exact": shown})
            return
        _print_fit(record, _by_class(fitted, source))
        if shown is not None:
            print_exact(shown)

    deliver(record, output, as_json=False, present=present)
    return _exit(fitted)


def _fitted(method: str, source: Dataset, own: Mapping[str, Any]) -> Fit:
    """Run a method with its iterations on the terminal."""
    from fsopt.methods.registry import fit as run

    with progress_bar(method) as update:

        def report(entry: Mapping[str, Any]) -> None:
            update(entry["iteration"], f"{method}: iteration {entry['iteration']}{_short(entry)}")

        return run(method, source, progress=report, **own)


def _exact(fitted: Fit, source: Dataset, changes: Any) -> Any:
    """Return what rational arithmetic shows of a fit."""
    from fsopt.verification.exact_checking import verify

    return verify(fitted, source, exact=True, customise=changes)["exact"]


def _exit(fitted: Fit) -> int:
    """Return the exit code; an interruption is a remark."""
    if fitted.stop == "interrupted":
        remark(f"interrupted: the incumbent is shown, its status is {fitted.status}")
        return EXIT_INTERRUPTED
    return EXIT_SOLVED if fitted.status.solved else EXIT_NOT_SOLVED


def _short(entry: Mapping[str, Any]) -> str:
    """Return the objective values and bounds in the record of an iteration."""
    shown = {k: entry[k] for k in ("objective", "bound", "E", "H") if isinstance(entry.get(k), float)}
    return "".join(f", {k} {v:.6g}" for k, v in shown.items())


def _by_class(fitted: Fit, data: Dataset) -> dict[int, float]:
    """Return label -> accuracy on the samples of this class."""
    right = fitted.predict(data.X) == data.y
    return {sign: float(right[data.y == sign].mean()) for sign in (1, -1)}


def _print_fit(record: dict[str, Any], accuracy: Mapping[int, float]) -> None:
    names = ["method", "data", "solver", "status", "stop", "objective", "bound", "iterations"]
    lines: list[tuple[str, Any]] = [(k, record[k]) for k in names]
    lines.append(("seconds", record["seconds"].get("total")))
    lines.append(("train", ", ".join(f"{k} {v:.4f}" for k, v in record["train"].items())))
    noun = "feature" if record["kernel"] is None else "pattern"
    if "worst_case" in record["details"]:
        shown = zip((1, -1), record["details"]["worst_case"], strict=True)
        text = ", ".join(f"class {sign:+d} {worst:.4f} (train {accuracy[sign]:.4f})" for sign, worst in shown)
        lines.append(("worst case", text))
    count, p = len(record["features"]), len(record["coef"])
    lines.append((f"{noun}s ({count} of {p}, {count / p:.1%})", ", ".join(record["features"]) or "none"))
    lines.append(("intercept", record["intercept"]))
    show(pairs(lines))
    if len(record["support"]) <= 30:
        weights = [(name, record["coef"][j]) for name, j in zip(record["features"], record["support"], strict=True)]
        unit = "weight (raw units)" if record["kernel"] is None else "weight"
        show("\n" + pairs([(noun, unit), *weights]))
    print_certificate(record["certificate"])


def predict(
    saved: Annotated[Path, typer.Argument(help="a fit saved with -o", metavar="FIT.json")],
    data: options.Data,
    layout: Layout = WHOLE,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="save as CSV (.csv) or else JSON", callback=options.writable),
    ] = None,
    proba: Annotated[
        bool, typer.Option("--proba", help="also the probability of +1, of a fit that 'fsopt select -o' saved")
    ] = False,
    json: options.Json = False,
) -> int:
    """Classify samples with a saved fit: id, label and score of each. A file without labels has no accuracy.

    Only the columns that the fit uses are needed; they are found by their names.
    """
    from fsopt.answers.records import plain
    from fsopt.answers.saved import fit_from, read_fit
    from fsopt.data import load_samples

    record = read_fit(saved)
    fitted = fit_from(record, saved)
    samples = load_samples(data, layout=_reading(Layout.saved(record), layout), tell=remark)
    scores = fitted.decision_function(samples)
    _tell_unseen(fitted, samples)
    more = {"probability": fitted.predict_proba(samples)[:, 1].tolist()} if proba else {}
    names = [str(record["labels"][int(v > 0)]) for v in scores]
    ids = samples.ids or [str(i) for i in range(1, len(scores) + 1)]
    result = {
        "method": fitted.method,
        "data": data,
        "n": len(scores),
        "ids": ids,
        "predictions": [1 if v > 0 else -1 for v in scores],
        "labels": names,
        "scores": scores.tolist(),
        **more,
        "accuracy": _accuracy(names, samples.labels, record["labels"]),
    }
    result = plain(result)
    rows = zip(ids, names, result["scores"], *(result[name] for name in more), strict=True)
    listed = _csv([("id", "label", "score", *more), *rows])

    def present() -> None:
        if output is None:
            emit(listed)

    if output is not None and output.suffix.lower() == ".csv":
        deliver_text(listed, result, output, as_json=json)
    else:
        deliver(result, output, as_json=json, present=present)
    if result["accuracy"] is not None:
        remark(f"accuracy {result['accuracy']:.4f} on {len(scores)} samples")
    return EXIT_SOLVED


def _tell_unseen(fitted: Fit, samples: Table) -> None:
    """Name the categories that the training samples did not have, of the columns that the fit uses."""
    encoding = None if fitted.trained is None else fitted.trained.encoding
    if encoding is None or samples.source is None:
        return
    used = encoding.sources([name for name, one in zip(encoding.features, fitted.needed, strict=True) if one])
    for name, texts in encoding.unseen(samples.source).items():
        if name in used:
            listed = ", ".join(f"'{text}'" for text in texts[:5]) + (" ..." if len(texts) > 5 else "")
            remark(f"warning: column '{name}' has values that no training sample had, whose features are 0: {listed}")


def _reading(saved: Layout, given: Layout) -> Layout:
    """Return the layout by which samples are read: that of the training data, apart from what is given anew.

    All columns are read, since the fit finds its own by their names.
    """
    stated = {name: getattr(given, name) for name in given.stated}
    anew = {"drop": (), "columns": (), "weights": None, "missing": None, **dict.fromkeys(SPELLING)}
    return replace(saved, **{**anew, **stated})


def _csv(rows: Iterable[Sequence[object]]) -> str:
    """Return rows as CSV."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def _accuracy(names: list[str], truth: list[str], labels: Sequence[str]) -> float | None:
    """Return the accuracy of the labels, None if a sample in the file has none.

    A label of several classes, such as ``not a`` or ``b|c``, stands for each that is not the other one.
    """
    from fsopt.data.tables.source import is_missing
    from fsopt.data.tables.table import same_label

    if not truth or any(is_missing(t) for t in truth):
        return None
    positive = [labels[1], *labels[1].split("|")]
    up = [any(same_label(text, one) for one in positive) for text in truth]
    return sum((name == labels[1]) == is_up for name, is_up in zip(names, up, strict=True)) / len(names)
