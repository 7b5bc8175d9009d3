"""docs/results/limits.md and its pictures, made of what ``benchmarks/scale.py`` measured, by the build of the site."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np

import fsopt
from fsopt.answers.certificate import TOLERANCE
from fsopt.common.figures import COLOURS

sys.path.insert(0, str(Path(__file__).parent))
from scale import GROWTH, GROWTH_LIMIT, ROOT, SHAPES, Size, read_rows

PAGE = ROOT / "docs" / "results" / "limits.md"
PICTURES = {key: PAGE.with_name(f"limits-growth-{key}.svg") for key in ("cpu", "memory")}
ANSWERS = tuple(str(status) for status in fsopt.Status)
NO_ANSWER = {"time-limit": "none in time", "memory": "too large", "data": "needs dense data"}
INTRODUCTION = """
# Limits: measured

Every method on tall data, 200,000 x 50 (samples x features), on wide data, 100 x 50,000, and on sparse data, 20,000 x
50,000 with 50 numbers that are not 0 in each sample: default parameters of comparisons, one thread, {limit:g} CPU
seconds and {memory:g} GB for each fit in a process of its own; `docs/results/limits.jsonl` has the code of each row.
Seconds are those of the processor, GB is the most that the process held; [speed and limits](../limits.md)
says what a limit ends.
"""
CURVES = """
## Growth

![CPU seconds of each method against samples, features and nonzeros](limits-growth-cpu.svg)

![Gigabytes of each method against samples, features and nonzeros](limits-growth-memory.svg)

Against the samples n at p = 50, the features p at n = 100, and the nonzeros of 5,000 x 20,000, on logarithmic axes. The
three numbers of a method are the slopes in these three directions: 1 is linear, 0 what the package itself takes. Of the
methods that are measured so far at these sizes, with a limit of {limit:g} CPU seconds; a line has the sizes with an
answer.
"""
DIRECTIONS = (
    ("samples n, p = 50", 0, [size for size in GROWTH if size.p == 50]),
    ("features p, n = 100", 1, [size for size in GROWTH if size.n == 100]),
    ("nonzeros, sparse, 5,000 x 20,000", 2, [size for size in GROWTH if size.nonzeros]),
)
"""Label of an axis, number of the direction in a size, sizes."""


def cells(row: dict[str, Any] | None, notes: dict[str, list[str]]) -> list[str]:
    """Return the cells of a fit, and enter its reason where it has no answer."""
    if row is None:
        return ["not measured", "", ""]
    status = row["status"]
    if status not in ANSWERS:
        notes.setdefault(status, []).append(f"`{row['method']}` {name(Size(row['n'], row['p'], row['nonzeros']))}")
        status = NO_ANSWER.get(row["stop"], row["stop"])
    elif row["stop"] in ("time-limit", "iteration-limit"):
        # A gap within the tolerance is that of a step: with one of its own the fit would be optimal.
        gap = f", gap {row['gap']:.2g}" if (row.get("gap") or 0.0) > TOLERANCE else ""
        status += f" ({row['stop'].replace('-', ' ')}{gap})"
    seconds, memory = (("" if row[key] is None else f"{row[key]:.1f}") for key in ("cpu", "memory"))
    return [status, seconds, memory]


def name(size: Size) -> str:
    """Return a size as text."""
    return f"{size.n:,} x {size.p:,}" + (", sparse" if size.nonzeros else "")


def page(rows: list[dict[str, Any]]) -> str:
    """Return the page: a row for each registered method, and the reasons of the fits without an answer."""
    found = {(row["method"], Size(row["n"], row["p"], row["nonzeros"])): row for row in rows}
    shown = [row for (method, size), row in found.items() if size in SHAPES and method in fsopt.METHODS]
    text = INTRODUCTION.format(limit=max(row["limit"] for row in shown), memory=max(row["allowed"] for row in shown))
    lines = [text.strip(), ""]
    lines.append("| method | " + " | ".join(f"{name(size)}: status | seconds | GB" for size in SHAPES) + " |")
    lines.append("| --- |" + " --- | ---: | ---: |" * len(SHAPES))
    notes: dict[str, list[str]] = {}
    for method, spec in fsopt.METHODS.items():
        row = [f"`{method}`"]
        for size in SHAPES:
            dense = size.nonzeros and not spec.sparse
            row += ["needs dense data", "", ""] if dense else cells(found.get((method, size)), notes)
        lines.append(f"| {' | '.join(row)} |")
    if notes:
        lines += ["", "Without an answer:", ""]
        lines += [f"* {', '.join(which)}: {text}" for text, which in notes.items()]
    curves = any(size in GROWTH for _, size in found)
    return "\n".join(lines) + "\n" + (CURVES.format(limit=GROWTH_LIMIT) if curves else "")


def slope(x: list[float], y: list[float]) -> float:
    """Return the slope of the logarithms, by least squares."""
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def picture(rows: list[dict[str, Any]], key: str) -> Any:
    """Return the growth curves of a quantity: a panel for each direction, and one legend with the slopes of all three.

    Parameters
    ----------
    key : of the rows, ``cpu`` or ``memory``.
    """
    from matplotlib.figure import Figure
    from matplotlib.ticker import LogLocator

    found = {
        (row["method"], Size(row["n"], row["p"], row["nonzeros"])): row for row in rows if row["status"] in ANSWERS
    }
    methods = [name for name in fsopt.METHODS if any((name, size) in found for size in GROWTH)]
    figure = Figure(figsize=(4.6, 7.0 + 0.075 * len(methods)), layout="constrained")
    panels = figure.subplots(3, 1)
    slopes: dict[str, list[str]] = {method: [] for method in methods}
    for axes, (label, k, sizes) in zip(panels, DIRECTIONS, strict=True):
        for i, method in enumerate(methods):
            measured = [size for size in sizes if (method, size) in found]
            x = [float(size[k] * (size.n if k == 2 else 1)) for size in measured]
            y = [max(found[method, size][key], 1e-3) for size in measured]
            style = {"color": COLOURS[i % 6], "marker": "osv^D"[i % 5], "linestyle": ("-", "--", ":", "-.")[i % 4]}
            axes.loglog(x, y, markersize=4, linewidth=1, **style)
            slopes[method].append(f"{slope(x, y) + 0.0:.1f}" if len(x) > 1 else "-")
        axes.set_xlabel(label, fontsize=8)
        axes.set_ylabel({"cpu": "CPU seconds", "memory": "GB"}[key], fontsize=8)
        axes.tick_params(labelsize=8)
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
            axis.set_major_formatter("{x:,g}")
            axis.set_minor_formatter("")
    labels = [f"{method} {' '.join(slopes[method])}" for method in methods]
    figure.legend(panels[0].lines, labels, loc="outside lower center", ncols=2, fontsize=8, frameon=False)
    return figure


def main() -> None:
    rows = read_rows()
    if any(Size(row["n"], row["p"], row["nonzeros"]) in GROWTH for row in rows):
        for key, path in PICTURES.items():
            with matplotlib.rc_context({"svg.hashsalt": key}):  # the same names on every run
                picture(rows, key).savefig(path, metadata={"Date": None})
    PAGE.write_text(page(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
