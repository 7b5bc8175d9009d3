"""Verb ``predict``: samples classified by a saved fit, or by one for each of several classes."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fsopt.cli import options
from fsopt.cli.layouts import OF_VERBS, WHOLE
from fsopt.cli.output import EXIT_SOLVED, deliver, emit, remark
from fsopt.common.texts import counted
from fsopt.data.layout import Layout
from fsopt.errors import FileError, ParameterError

if TYPE_CHECKING:
    from fsopt.answers.fits import Fit
    from fsopt.data.given import Table


def predict(
    context: typer.Context,
    saved: Annotated[
        list[Path],
        typer.Argument(
            help="a fit saved with -o, or one for each of several classes, and the samples", metavar="FIT.json... FILE"
        ),
    ],
    data: Annotated[str | None, typer.Option("--data", help="in place of FILE")] = None,
    layout: Layout = WHOLE,
    output: Annotated[
        Path | None,
        options.file("save as CSV (.csv) or else JSON"),
    ] = None,
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

    known = ("saved", "data", "output", "proba", "json", *OF_VERBS["predict"])
    options.only(context, "here: the fit keeps what it learned of its training samples", known)
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
    own, columns = (
        _of_one(fits[0], records[0], samples, proba) if len(fits) == 1 else _of_several(fits, records, samples)
    )
    for text in dict.fromkeys(text for fitted in fits for text in _unseen(fitted, samples)):
        remark(text)
    result = plain({"data": data, "n": samples.n, "ids": ids, **own})
    listed = _csv([("id", *columns), *zip(ids, *columns.values(), strict=True)])

    own_text = listed if output is not None and output.suffix.lower() == ".csv" else None
    deliver(result, output, as_json=json, present=lambda: emit(listed if output is None else ""), text=own_text)
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
    answer = {
        "method": fitted.method,
        "predictions": [1 if score > 0 else -1 for score in scores],
        "labels": names,
        "scores": scores,
        **more,
        "accuracy": _share(right, samples),
    }
    return answer, {"label": names, "score": scores, **more}


def _of_several(
    fits: Sequence[Fit], records: Sequence[Mapping[str, Any]], samples: Table
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the answer of fits that each have another class as +1, and its columns by their names."""
    classes = [str(record["labels"][1]) for record in records]
    twice = [name for name in classes if classes.count(name) > 1]
    if twice:
        raise ParameterError(
            f"two of the fits have '{twice[0]}' as +1",
            "fit each class against the rest: 'fsopt fit ... --positive CLASS'",
        )
    scores = [fitted.decision_function(samples).tolist() for fitted in fits]
    names = [classes[max(range(len(row)), key=row.__getitem__)] for row in zip(*scores, strict=True)]
    right = [_stands_for(name, text, classes) for name, text in zip(names, samples.labels, strict=False)]
    answer = {
        "methods": [fitted.method for fitted in fits],
        "classes": classes,
        "labels": names,
        "scores": list(zip(*scores, strict=True)),
        "accuracy": _share(right, samples),
    }
    by_class = {f"score {name}": one for name, one in zip(classes, scores, strict=True)}
    return answer, {"label": names, **by_class}


def _stands_for(name: str, text: str, classes: Sequence[str]) -> bool:
    """Return whether a label, such as ``b|c`` of several classes, stands for the label in the file."""
    from fsopt.data.layout import label_key

    return (
        text == name if text in classes else any(label_key(text) == label_key(one) for one in (name, *name.split("|")))
    )


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
            raise FileError(
                f"'{paths[0]}' and '{path}' were saved with other options of the data",
                "fit both with the same options but --positive",
            )
    return first


def _csv(rows: Iterable[Sequence[object]]) -> str:
    """Return rows as CSV."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()
