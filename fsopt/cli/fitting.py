"""Verb ``fit``: one method on one data set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fsopt.cli import options
from fsopt.cli.layouts import WHOLE, layout_record, load
from fsopt.cli.output import (
    EXIT_INTERRUPTED,
    EXIT_NOT_SOLVED,
    EXIT_SOLVED,
    deliver,
    pairs,
    print_certificate,
    print_exact,
    print_json,
    progress_bar,
    remark,
    show,
    status_of,
)
from fsopt.data.layout import Layout

if TYPE_CHECKING:
    from fsopt.answers.fits import Fit
    from fsopt.data import Dataset

MOST_WEIGHTS = 30
"""Weights up to which a table lists them."""


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
        print_fit(fitted, record, _by_class(fitted, source))
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
    from fsopt.verification.verify import verify

    return verify(fitted, source, exact=True, customise=changes).record()["exact"]


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


def print_fit(fitted: Fit, record: Mapping[str, Any], accuracy: Mapping[int, float] | None = None) -> None:
    """Print a fit and its record; with the training accuracy of each class beside the worst case."""
    from fsopt.answers.fits import OF_UNIT_ROWS

    names = ["method", "data", "solver", "status", "stop", "objective", "bound", "iterations"]
    told = {**record, "status": status_of(record)}
    lines: list[tuple[str, Any]] = [*((k, told[k]) for k in names), ("seconds", record["seconds"].get("total"))]
    lines.append(("train", ", ".join(f"{k} {v:.4f}" for k, v in record["train"].items())))
    weights, intercept = fitted.printed()
    noun, unit = ("feature", "weight (raw units)") if fitted.kernel is None else ("pattern", "weight")
    if "worst_case" in record["details"]:
        shown = zip((1, -1), record["details"]["worst_case"], strict=True)
        train = {} if accuracy is None else {sign: f" (train {share:.4f})" for sign, share in accuracy.items()}
        text = ", ".join(f"class {sign:+d} {worst:.4f}{train.get(sign, '')}" for sign, worst in shown)
        lines.append(("worst case", text))
    count, p = len(record["features"]), len(record["coef"])
    lines.append((f"{noun}s ({count} of {p}, {count / p:.1%})", ", ".join(record["features"]) or "none"))
    lines.append(("intercept", intercept))
    show(pairs(lines))
    if 0 < len(weights) <= MOST_WEIGHTS:
        heads = {k: k for k in weights[0] if k != "standardised"} | {"feature": noun, "weight": unit}
        show("\n" + pairs([tuple(heads.values()), *([row[k] for k in heads] for row in weights)]))
        if fitted.of_unit_rows:
            show("\n" + OF_UNIT_ROWS)
    print_certificate(record["certificate"])
