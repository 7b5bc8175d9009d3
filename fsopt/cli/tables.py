"""Verbs of tables: from samples to features, methods side by side, a classifier, and the labels of other samples."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import fsopt
from fsopt.cli import options
from fsopt.cli import output as out
from fsopt.cli.options import flagged, load
from fsopt.common.texts import counted, one_line
from fsopt.data.layout import WHOLE, Layout
from fsopt.errors import ParameterError

if TYPE_CHECKING:
    from fsopt.answers.fits import Fit
    from fsopt.data import Dataset
    from fsopt.data.given import Table
    from fsopt.studies.comparison import Comparison
    from fsopt.studies.running import Progress

ASKED = ("features", "rule", "folds", "seed", "exact", "time_limit", "jobs")
"""Options of ``select`` that :func:`fsopt.select` has, too."""
HEADS = ("method", "standing", ">features", ">CV accuracy", ">balanced", ">CV MCC", ">AUC", "status", "of folds")
"""Of the table: objective values of different problems are no measure of methods."""
COMPARED = ("folds", "seed", "time_limit", "solver", "tune", "exact", "jobs")
"""Options that :func:`fsopt.compare` has, too."""


Features = Annotated[int | None, typer.Option("--features", help="number of features, instead of a choice")]
Rule = Annotated[
    str, typer.Option("--rule", help="log-loss: the fewest within 5 % of its gain, and 0.02; shortest: fewer, by AUC")
]
Page = Annotated[
    Path | None,
    options.file("write a page: .html, or .tex for the table alone", "--report", kinds=(".html", ".tex")),
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
    time_limit: Annotated[float, typer.Option("--time-limit", help="seconds for the proof of the selection")] = 30.0,
    jobs: options.Jobs = 1,
    report: Page = None,
    output: Annotated[Path | None, options.file("the classifier, for predict; check verifies its weights only")] = None,
    json: options.Json = False,
) -> int:
    """Tell how many features, which, how good, and how sure.

    The number is chosen by cross-validation, the selection is proved best of its size, and an answer that is no better
    than noise is no feature.
    """
    from fsopt.answers.fits import fit_record
    from fsopt.answers.records import plain, sealed
    from fsopt.studies.report import write_selection

    source = load(data, layout)
    asked = {name: context.params[name] for name in ASKED}
    with out.progress_bar("select", total=1) as update:
        found = fsopt.select(source, progress=lambda s: update(s["share"], f"select: {s['share']:.0%}"), **asked)
    if report is not None:
        write_selection(found, report)
        out.remark(f"wrote {report}")
    # What numbers the rows names the samples of predictions, where no column was said to.
    ids = layout.id or next(iter(found.left_out), None)
    read = replace(layout, id=ids, drop=(*layout.drop, *(one for one in found.left_out if one != ids)))
    saved = sealed(fit_record(found.fit, data=found.data, source=data) | {"layout": read.stated})
    answer = plain({**found.heading, "data": data, "rows": found.to_records()})
    told = flagged(found.summary())
    out.deliver(saved, output, as_json=False, present=lambda: out.print_json(answer) if json else out.show(told))
    return out.EXIT_SOLVED if found.status.solved else out.EXIT_NOT_SOLVED


def fit(
    method: Annotated[str, typer.Argument(help="a name of 'fsopt methods'")],
    data: options.Data,
    layout: Layout = WHOLE,
    param: options.Params = None,
    solver: options.Solver = None,
    options_file: options.Options = None,
    time_limit: options.TimeLimit = None,
    checkpoint: options.Checkpoint = None,
    resume: options.Resume = None,
    exact: options.Exact = False,
    output: options.Output = None,
    json: options.Json = False,
) -> int:
    """Run a method: selected features, classifier, certificate. Ctrl-C prints the incumbent."""
    from fsopt.answers.fits import fit_record
    from fsopt.answers.records import sealed

    own: dict[str, Any] = {"solver": solver, "time_limit": time_limit, "options": options.read_options(options_file)}
    own |= {"checkpoint": checkpoint, "resume": resume, **options.parse_params(param)}
    source = load(data, layout)
    with out.progress_bar(method) as update:
        fitted = fsopt.fit(method, source, progress=lambda s: update(s["iteration"], _step(method, s)), **own)
    record = sealed(fit_record(fitted, data=source, source=data) | {"layout": layout.stated})
    shown = {}
    if exact:
        from fsopt.verification.verify import verify

        shown = {"exact": verify(fitted, source, exact=True).record()["exact"]}

    def present() -> None:
        if json:
            out.print_json(record | shown)
            return
        out.print_fit(fitted, record)
        if shown:
            out.print_exact(shown["exact"])

    out.deliver(record, output, as_json=False, present=present)
    return out.exit_code(fitted)


def _step(method: str, entry: Mapping[str, Any]) -> str:
    """Return an iteration with its objective values and bounds as a text."""
    shown = {k: entry[k] for k in ("objective", "bound", "E", "H") if isinstance(entry.get(k), float)}
    return f"{method}: iteration {entry['iteration']}" + "".join(f", {k} {v:.6g}" for k, v in shown.items())


def predict(
    saved: Annotated[Path, typer.Argument(help="a fit saved with -o", metavar="FIT.json")],
    data: options.Data,
    layout: Layout = WHOLE,
    output: Annotated[Path | None, options.file("save as CSV (.csv) or else JSON")] = None,
    proba: Annotated[
        bool, typer.Option("--proba", help="also the probability of +1, of a fit that 'fsopt select -o' saved")
    ] = False,
    json: options.Json = False,
) -> int:
    """Classify samples with a saved fit: id, label and score.

    A file without labels has no accuracy. Only the columns that the fit uses are needed; they are found by their names.
    """
    from fsopt.answers.records import plain
    from fsopt.answers.saved import load_fit, read_record
    from fsopt.data.given import load_samples

    record, fitted = read_record(saved), load_fit(saved)
    anew: dict[str, Any] = {"drop": (), "positive": (), "weights": None, "class_weight": None, "missing": None}
    anew |= {name: getattr(layout, name) for name in layout.stated}
    samples = load_samples(data, layout=replace(Layout.saved(record), **anew))
    scores = fitted.decision_function(samples).tolist()
    down, up = map(str, record["labels"])
    labels = [up if score > 0 else down for score in scores]
    columns: dict[str, Any] = {"label": labels, "score": scores}
    if proba:
        columns["probability"] = fitted.predict_proba(samples)[:, 1].tolist()
    for text in _unseen(fitted, samples):
        out.remark(text)
    ids = samples.texts("id") or [str(i) for i in range(1, len(scores) + 1)]
    answer = {"data": data, "n": len(scores), "method": fitted.method, "ids": ids, "scores": scores, **columns}
    answer |= {"labels": answer.pop("label"), "predictions": [1 if one > 0 else -1 for one in answer.pop("score")]}
    answer["accuracy"] = _accuracy(labels, samples, (down, up))
    listed = io.StringIO()
    csv.writer(listed, lineterminator="\n").writerows([("id", *columns), *zip(ids, *columns.values(), strict=True)])
    own = listed.getvalue() if output is not None and output.suffix.lower() == ".csv" else None
    text = listed.getvalue() if output is None else ""
    out.deliver(plain(answer), output, as_json=json, present=lambda: out.emit(text), text=own)
    if answer["accuracy"] is not None:
        out.remark(f"accuracy {answer['accuracy']:.4f} on {counted(len(scores), 'sample')}")
    return out.EXIT_SOLVED


def _accuracy(found: Sequence[str], samples: Table, labels: tuple[str, str]) -> float | None:
    """Return the share of right labels, None if a sample has none; several labels of +1 are ``b|c``."""
    from fsopt.data.layout import is_missing, label_key

    stated = samples.texts("target")
    if not stated or any(map(is_missing, stated)):
        return None
    known = {label_key(text) for text in (labels[1], *labels[1].split("|"))} - {label_key(labels[0])}
    right = [(name == labels[1]) == (label_key(text) in known) for name, text in zip(found, stated, strict=True)]
    return sum(right) / len(right)


def _unseen(fitted: Fit, samples: Table) -> Iterable[str]:
    """Yield a warning for each column that the fit uses with categories that the training samples did not have."""
    encoding = None if fitted.trained is None else fitted.trained.encoding
    if encoding is None or not hasattr(samples.held, "columns"):
        return
    used = encoding.sources([name for name, one in zip(encoding.features, fitted.needed, strict=True) if one])
    for name, texts in encoding.unseen(samples.held).items():
        if name in used:
            listed = ", ".join(f"'{text}'" for text in texts[:5]) + (" ..." if len(texts) > 5 else "")
            yield f"warning: column '{name}' has values that no training sample had, whose features are 0: {listed}"


def compare(
    context: typer.Context,
    data: options.Data,
    layout: Layout = WHOLE,
    methods: Annotated[str | None, typer.Option("--methods", help="names separated by commas; all by default")] = None,
    param: Annotated[
        list[str] | None, typer.Option("--param", help="METHOD.k=v, a parameter of one method; repeat for more")
    ] = None,
    solver: options.Solver = None,
    tune: Annotated[bool, typer.Option("--tune", help="choose parameters inside of each training part")] = False,
    folds: options.Folds = 5,
    seed: options.Seed = 0,
    jobs: options.Jobs = -1,
    time_limit: Annotated[float, typer.Option("--time-limit", help="seconds for each fit")] = 30.0,
    exact: options.Exact = False,
    report: options.Report = None,
    output: options.Output = None,
    json: options.Json = False,
) -> int:
    """Cross-validate all methods, or some, and print one table.

    Parameters are the defaults where none are given. The best cross-validated accuracy comes first; ``not told apart``
    are methods that the corrected resampled t-test does not tell apart from it, which may be worse all the same;
    ``not shown above the larger class`` are those whose 95 % interval has the share of this class; ``front`` those that
    no other beats in accuracy and number of features. A sentence answers. The last line names the methods without an
    answer: an error ended the fit to all samples, or one of a fold. The exit code is 1 only where no method has one.
    """
    from fsopt.answers.records import plain
    from fsopt.solvers.registry import solver_spec
    from fsopt.studies.report import study_sections, write_report

    names = None if methods is None else [name.strip() for name in methods.split(",") if name.strip()]
    if solver is not None:
        solver_spec(solver)
    own = {"params": _params(param), **{name: context.params[name] for name in COMPARED}}
    found = _compared(load(data, layout), names, own)
    if found.interrupted and not found.rows:  # a file of before stays
        out.remark("interrupted: no method finished")
        return out.EXIT_INTERRUPTED
    record = plain({**found.heading, "data": data, "rows": found.to_records()})
    if report is not None:
        larger = {name: scores["cv_accuracy"] for name, scores in found.majority.items()}
        write_report(report, f"Comparison: {', '.join(larger)}", study_sections(found.units, larger))
        out.remark(f"wrote {report}")
    out.deliver(record, output, as_json=json, present=lambda: _print(record))
    if words := [f"{one['method']} ({one['lacking']})" for one in record["unanswered"]]:
        out.remark(f"without an answer: {', '.join(words)}")
    if found.interrupted:
        out.remark(f"interrupted: {counted(len(found.rows), 'method')} finished")
        return out.EXIT_INTERRUPTED
    return out.EXIT_NOT_SOLVED if all(row["lacking"] for row in found.rows) else out.EXIT_SOLVED


def _compared(source: Dataset, names: list[str] | None, own: Mapping[str, Any]) -> Comparison:
    """Compare the methods with progress on the terminal."""
    from fsopt.studies.comparison import compare as run

    with out.progress_bar("compare", total=1) as update:

        def told(state: Progress) -> None:
            word = f"compare: {state.finished} of {counted(state.total, 'fit')}, last {state.last['method']}"
            update(state.finished / state.total, word)

        return run(source, methods=names, progress=told, **own)


def _params(given: list[str] | None) -> dict[str, dict[str, Any]]:
    """Return method -> parameters of the texts METHOD.k=v."""
    found: dict[str, list[str]] = {}
    for text in given or []:
        method, dot, rest = text.partition(".")
        if not dot or "=" in method:
            raise ParameterError(f"'--param {text}' is not of the form METHOD.k=v", "for example --param svm.c=1.0")
        found.setdefault(method, []).append(rest)
    return {method: options.parse_params(texts) for method, texts in found.items()}


def _print(record: dict[str, Any]) -> None:
    """Print the methods, the best score first, of equal ones the fewest features; exact words and remarks below."""
    title = f"{record['data']}: {counted(record['n'], 'sample')}, {counted(record['p'], 'feature')}, "
    title += f"{record['folds']}-fold cross-validation, seed {record['seed']}"
    rows = record["rows"]
    ranked = sorted(rows, key=lambda r: (r["cv_accuracy"] is None, -(r["cv_accuracy"] or 0), r["n_features"] or 0))
    out.show(one_line(title), "", out.table("", HEADS, map(_cells, ranked)), "")
    for name, scores in record["majority"].items():
        text = f"{name}: the larger class alone has CV accuracy {scores['cv_accuracy']:.4f}, balanced 0.5000"
        out.show(one_line(text))
    for sentence in record["answer_in_words"].values():
        out.show(one_line(f"{sentence}."))
    for row in rows:
        if row["exact"]:
            out.show(one_line(f"{row['method']}: {row['exact']}"))
        early = f"the time limit ended {row['ended_early']} of its fits before they were done: give more seconds"
        for text in (*row["warnings"], *[row["error"]] * bool(row["error"]), *[early] * bool(row["ended_early"])):
            out.remark(f"{row['method']}: {text}")


def _cells(row: dict[str, Any]) -> tuple[Any, ...]:
    """Return the cells of a row, in the order of :data:`HEADS`."""
    accuracy, spread = _share(row["cv_accuracy"]), row["spreads"].get("cv_accuracy")
    return (
        row["method"],
        row["standing"] or None,
        row["n_features"],
        accuracy if spread is None else f"{accuracy} ±{spread:.3f}",
        _share(row["cv_balanced_accuracy"]),
        _share(row["cv_mcc"]),
        _share(row["cv_auc"]),
        f"{row['status']} ({row['stop']})" if row["ended_early"] and row["stop"] == "time-limit" else row["status"],
        ", ".join(f"{number} {status}" for status, number in row["fold_statuses"].items()),
    )


def _share(value: float | None) -> str | None:
    return None if value is None else f"{value:.4f}"
