"""A fit in words, as a table and as a picture."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from fsopt.common.arguments import word
from fsopt.common.figures import history_figure, scores_figure, weights_figure
from fsopt.errors import ParameterError

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

    from fsopt.answers.results import Fit
    from fsopt.data import Dataset

MOST_FEATURES = 20
"""Features that a summary lists."""
KINDS = ("weights", "convergence", "scores")


def _facts(fit: Fit) -> Iterator[tuple[str, str]]:
    """Yield names and texts of what a fit says."""
    yield "method", fit.method
    if fit.trained is not None:
        yield "data", f"{fit.trained.name}, +1 is '{fit.trained.labels[1]}', -1 is '{fit.trained.labels[0]}'"
    yield "status", f"{fit.status} ({fit.stop})"
    for name, value in (("objective", fit.objective), ("lower bound", fit.bound)):
        if value is not None:
            yield name, f"{value:.6g}"
    certificate = fit.certificate
    if certificate is not None:
        held = "holds" if certificate.ok else "does not hold"
        yield "certificate", f"{certificate.kind}, {held}, largest residual {certificate.worst:.1e}"
    for name, score in (fit.trained.scores if fit.trained is not None else {}).items():
        yield f"training {name.replace('_', ' ')}", f"{score:.4f}"
    noun = "features" if fit.kernel is None else "patterns"
    yield noun, f"{len(fit.support)} of {len(fit.coef)}"
    yield "solver", fit.solver
    if "total" in fit.seconds:
        yield "seconds", f"{fit.seconds['total']:.2f}"
    for warning in fit.warnings:
        yield "warning", warning


def _weights(fit: Fit) -> list[tuple[str, float, float]]:
    """Return name, weight and standardised weight of the selected features, in order of the standardised size."""
    known = fit.trained.deviation if fit.trained is not None else ()
    deviation = np.asarray(known) if fit.kernel is None and len(known) == len(fit.coef) else np.ones(len(fit.coef))
    found = [
        (name, float(fit.coef[j]), float(fit.coef[j] * deviation[j]))
        for name, j in zip(fit.features, fit.support, strict=True)
    ]
    return sorted(found, key=lambda row: -abs(row[2]))


def summary(fit: Fit) -> str:
    """Return a fit as text."""
    facts = list(_facts(fit))
    width = max(len(name) for name, _ in facts)
    lines = [f"{name:<{width}}  {text}" for name, text in facts]
    rows = _weights(fit)
    if rows:
        wide = max(len("feature"), *(len(name) for name, _, _ in rows[:MOST_FEATURES]))
        lines += ["", f"{'feature':<{wide}}  {'weight':>12}  {'standardised':>12}"]
        lines += [f"{name:<{wide}}  {w:>12.5g}  {s:>12.5g}" for name, w, s in rows[:MOST_FEATURES]]
    if len(rows) > MOST_FEATURES:
        lines.append(f"and {len(rows) - MOST_FEATURES} more: to_frame() has all")
    return "\n".join(lines)


def html(fit: Fit) -> str:
    """Return a fit as tables of HTML; names of data and features are escaped."""
    facts = "".join(f"<tr><th>{escape(name)}</th><td>{escape(text)}</td></tr>" for name, text in _facts(fit))
    rows = _weights(fit)
    cells = "".join(
        f"<tr><td>{escape(name)}</td><td>{w:.5g}</td><td>{s:.5g}</td></tr>" for name, w, s in rows[:MOST_FEATURES]
    )
    more = len(rows) - MOST_FEATURES
    rest = f"<tr><td colspan='3'>and {more} more</td></tr>" if more > 0 else ""
    heads = "<tr><th>feature</th><th>weight</th><th>standardised</th></tr>"
    listed = f"<table>{heads}{cells}{rest}</table>" if rows else ""
    return f"<table>{facts}</table>{listed}"


def weights_frame(fit: Fit, folds: Sequence[Fit]) -> DataFrame:
    """Return the selected features of a fit as a DataFrame."""
    import pandas as pd

    frame = pd.DataFrame(_weights(fit), columns=["feature", "weight", "standardised"])
    if folds:
        frame["folds"] = [sum(name in fold.features for fold in folds) for name in frame["feature"]]
    return frame


def draw(fit: Fit, kind: str | None, data: Dataset | None) -> Figure:
    """Return a figure of a fit."""
    records: list[Any] = [h for h in fit.history if isinstance(h.get("objective"), float)]
    chosen = ("convergence" if records else "weights") if kind is None else kind
    word("the kind of plot", chosen, KINDS)
    if chosen == "convergence":
        if not records:
            raise ParameterError(
                f"the fit of '{fit.method}' has no history to plot", "plot its weights, or a fit of a loop"
            )
        return history_figure(records)
    if chosen == "weights":
        rows = _weights(fit)
        if not rows:
            raise ParameterError(f"the fit of '{fit.method}' selects no feature", "choose other parameters")
        return weights_figure(rows[:MOST_FEATURES])
    if data is None:
        raise ParameterError("scores are those of a data set, and there is none", "plot('scores', data=data)")
    return scores_figure(fit.decision_function(data), data.y, data.labels)
