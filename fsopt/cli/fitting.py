"""Verbs ``fit`` and ``predict``: one method on one data set."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fsopt.cli import options
from fsopt.cli.output import (
    EXIT_INTERRUPTED,
    EXIT_NOT_SOLVED,
    EXIT_SOLVED,
    deliver,
    emit,
    pairs,
    print_json,
    progress_bar,
    remark,
    show,
)
from fsopt.cli.proving import Exact, print_exact
from fsopt.cli.solving import print_certificate
from fsopt.errors import DataError

if TYPE_CHECKING:
    from fsopt.data import Dataset
    from fsopt.data.table import Table
    from fsopt.results import Fit
    from fsopt.typing import Matrix


def fit(
    method: Annotated[str, typer.Argument(help="a name of 'fsopt methods'", autocompletion=options.methods)],
    data: options.Data,
    label: options.Label = "label",
    missing: options.Missing = None,
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
    from fsopt.exact_checking import check
    from fsopt.methods.registry import fit as run
    from fsopt.methods.registry import method_spec
    from fsopt.saved import fit_record, sealed

    changes = options.read_changes(customise, method_spec(method).models)
    params, solver_options = options.parse_params(param), options.read_options(options_file)
    source = options.load(data, label, missing)
    with progress_bar(method) as update:

        def report(entry: Mapping[str, Any]) -> None:
            update(entry["iteration"], f"{method}: iteration {entry['iteration']}{_short(entry)}")

        fitted = run(
            method,
            source,
            solver=solver,
            time_limit=time_limit,
            options=solver_options,
            progress=report,
            checkpoint=checkpoint,
            resume=resume,
            customise=changes,
            **params,
        )
    record = fit_record(fitted, data=source, source=data) | {"label": label, "missing": missing}
    record = sealed(record | {"columns": list(source.features)})
    for warning in fitted.warnings:
        remark(f"warning: {warning}")
    shown = check(fitted, source, exact=True, customise=changes)["exact"] if exact else None

    def present() -> None:
        if json:
            print_json(record if shown is None else record | {"exact": shown})
            return
        _print_fit(record, _by_class(fitted, source))
        if shown is not None:
            print_exact(shown)

    deliver(record, output, as_json=False, present=present)
    return _exit(fitted)


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
    label: options.Label = "label",
    output: options.Output = None,
    json: options.Json = False,
) -> int:
    """Classify samples with a saved fit; without labels in the file there is no accuracy."""
    from fsopt.data import load_samples
    from fsopt.errors import FileError
    from fsopt.saved import fit_from, intact, plain, read_record

    record = read_record(saved)
    if "method" not in record:
        raise FileError(f"'{saved}' is a solved model, not a fit", "save one with 'fsopt fit METHOD ... -o FIT.json'")
    if not intact(record):
        raise FileError(f"'{saved}' was changed after it was saved: its digest is another one", "save it again with -o")
    fitted = fit_from(record, saved)
    samples = load_samples(data, label=label)
    X = _aligned(samples, record.get("columns"), len(fitted.preprocessing.shift))
    labels = fitted.predict(X)
    names = [str(record["labels"][int(v > 0)]) for v in labels]
    result = {
        "method": fitted.method,
        "data": data,
        "n": len(X),
        "predictions": [int(v) for v in labels],
        "labels": names,
        "scores": fitted.decision_function(X).tolist(),
        "accuracy": _accuracy(names, samples.labels),
    }
    result = plain(result)

    def present() -> None:
        if output is None:
            emit("\n".join(names) + "\n")

    deliver(result, output, as_json=json, present=present)
    if result["accuracy"] is not None:
        remark(f"accuracy {result['accuracy']:.4f} on {len(X)} samples")
    return EXIT_SOLVED


def _aligned(samples: Table, columns: list[str] | None, p: int) -> Matrix:
    """Return the samples (n, p) with the columns in the order of the fit, by name if the file has names."""
    import numpy as np

    X = samples.X
    if samples.features is not None and columns is not None:
        absent = [name for name in columns if name not in samples.features]
        if absent:
            more = f" and {len(absent) - 3} more" if len(absent) > 3 else ""
            raise DataError(f"the data have no column {', '.join(absent[:3])}{more}", "give the columns of the fit")
        X = X[:, [samples.features.index(name) for name in columns]]
    elif X.shape[1] != p:
        raise DataError(f"the data have {X.shape[1]} features, the fit {p}", "give the columns of the fit")
    bad = int(np.sum(~np.isfinite(X).all(axis=1)))
    if bad:
        raise DataError(f"{bad} samples have missing or infinite values", "fill or remove them first")
    return X


def _accuracy(names: list[str], truth: list[str]) -> float | None:
    """Return the accuracy of the labels, None if a sample in the file has none."""
    from fsopt.data.table import is_missing

    if not truth or any(is_missing(t) for t in truth):
        return None
    try:
        same = [float(a) == float(b) for a, b in zip(names, truth, strict=True)]
    except ValueError:
        same = [a == b for a, b in zip(names, truth, strict=True)]
    return sum(same) / len(same)
