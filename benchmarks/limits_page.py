"""docs/limits.md and its pictures, made of the rows that ``benchmarks/scale.py`` measured: ``make limits-page``."""

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
from scale import GROWTH, GROWTH_LIMIT, ROOT, SHAPES, Size, code, read_rows

PAGE = ROOT / "docs" / "limits.md"
PICTURES = {key: ROOT / "docs" / "results" / f"limits-growth-{key}.svg" for key in ("cpu", "memory")}
ANSWERS = tuple(str(status) for status in fsopt.Status)
NO_ANSWER = {"time-limit": "none in time", "memory": "too large", "data": "needs dense data"}
INTRODUCTION = """
# Limits

For the choice of a method for large data: whether it ends, how long it takes and how much memory it holds. The same
limits for a fit of your own:

```console
fsopt fit l1-svm --data wdbc --time-limit 60
```

```output
method                      l1-svm
data                        wdbc
solver                      highs
status                      optimal
stop                        optimal
objective                   34.8783
bound                       34.8783
...
seconds                     0.5
...
```

Every method on tall data, 200,000 x 50 (samples x features), on wide data, 100 x 50,000, and on sparse data, 20,000 x
50,000 with 50 numbers that are not 0 in each sample: default parameters of comparisons, one thread, {limit:g} CPU
seconds and {memory:g} GB for each fit in a process of its own. Seconds are those of the processor, GB is the most that
the process held. Made by `make limits-page` for version {version}, code {stamp}.{earlier}

A limit ends a fit between two steps of a loop or a solver, and while a model is built; the loading of a solver and the
certificate are not cut short. The fit ends with the best point so far (status `feasible`, exit 0 on the
command line), or with the error `time-limit` (exit 1) where there is none. What does not fit into the memory is refused
with the error `memory`. A gap is that of a proved bound, relative to the objective value: 1 is a bound of nothing.
Many methods solve data of this size without a model of all of it: by interior points and Newton's method in the smaller
dimension, and by column and constraint generation; `--solver NAME` takes the model and that solver instead. Where the
way that is taken first ends without a certified optimum, the other one follows (a model
for at most 5 million entries), and a warning of the fit says so.

How far the exact search of `best-subset` proves its selection depends on C and on n more than on p: at C = 0.01 the ten
best of 10,000 features are proved in 7.4 CPU seconds from 400 samples, and keep a gap of 8.7 % from 200; at C = 1 the
gap stays open at 1,000 features ([head to head](results/opponents.md)).
"""
CURVES = """
## Growth

![CPU seconds of each method against samples, features and nonzeros](results/limits-growth-cpu.svg)

![Gigabytes of each method against samples, features and nonzeros](results/limits-growth-memory.svg)

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


def cells(row: dict[str, Any] | None, notes: dict[str, list[str]], stamp: str) -> list[str]:
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
    mark = "" if row["code"] == stamp else " [^earlier]"
    seconds, memory = (("" if row[key] is None else f"{row[key]:.1f}") for key in ("cpu", "memory"))
    return [status + mark, seconds, memory]


def name(size: Size) -> str:
    """Return a size as text."""
    return f"{size.n:,} x {size.p:,}" + (", sparse" if size.nonzeros else "")


def page(rows: list[dict[str, Any]], stamp: str) -> str:
    """Return the page: a row for each registered method, and the reasons of the fits without an answer.

    Parameters
    ----------
    stamp : the hash of the code that the page is made for; rows of other code have a note.
    """
    found = {(row["method"], Size(row["n"], row["p"], row["nonzeros"])): row for row in rows}
    shown = [row for (method, size), row in found.items() if size in SHAPES and method in fsopt.METHODS]
    older = [row for row in shown if row["code"] != stamp]
    present = [row for row in shown if row["code"] == stamp]
    text = INTRODUCTION.format(
        limit=max((row["limit"] for row in present), default=60.0),
        memory=max((row["allowed"] for row in present), default=4.0),
        version=fsopt.__version__,
        stamp=stamp,
        earlier=" Cells with a note are of other code." if older else "",
    )
    lines = [text.strip(), ""]
    lines.append("| method | " + " | ".join(f"{name(size)}: status | seconds | GB" for size in SHAPES) + " |")
    lines.append("| --- |" + " --- | ---: | ---: |" * len(SHAPES))
    notes: dict[str, list[str]] = {}
    for method, spec in fsopt.METHODS.items():
        row = [f"`{method}`"]
        for size in SHAPES:
            dense = size.nonzeros and not spec.sparse
            row += ["needs dense data", "", ""] if dense else cells(found.get((method, size)), notes, stamp)
        lines.append(f"| {' | '.join(row)} |")
    if notes:
        lines += ["", "Without an answer:", ""]
        lines += [f"* {', '.join(which)}: {text}" for text, which in notes.items()]
    if older:
        limit, memory = max(row["limit"] for row in older), max(row["allowed"] for row in older)
        lines += ["", f"[^earlier]: Measured with other code, within {limit:g} seconds and {memory:g} GB."]
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
    PAGE.write_text(page(rows, code()), encoding="utf-8")


if __name__ == "__main__":
    main()
