"""The page docs/results/opponents.md and its picture: ``python benchmarks/opponents_page.py``.

They are made of docs/results/opponents.jsonl, which ``benchmarks/opponents.py run`` writes.
"""

from __future__ import annotations

import math
from statistics import median
from typing import Any

import matplotlib
from exact import TOLERANCE, closed, gap
from matplotlib.figure import Figure
from opponents import INSTANCES, LIMIT, OPPONENTS, STORE, stored

PAGE, PICTURE = STORE.with_suffix(".md"), STORE.with_suffix(".svg")
HEAD = """# Head to head: measured

For the choice of a tool that selects a few features: the exact search of `best-subset` beside heuristics, packages
and SCIP, each in a process of its own with {limit:g} CPU seconds and one thread. One of the rows:

```console
fsopt fit best-subset --data wdbc --param m=5 --param tolerance=0.0001
```

:::{{figure}} opponents.svg
:alt: Distance of the value of each opponent from the best known one, for each instance

{all} instances: how far the value of each opponent is above the best one, in percent; at the right: no answer. Filled:
with a proof.
:::

{overview}

A value better than that of `best-subset` has: {lost}. The packages without a bound need fractions of a second, and
where they have the best value too, the bound is all that the search adds; where its gap stays open, that is not much.

The rules: an opponent returns at most k features, found with whatever loss is its own; its value is
$\\tfrac12 w'w + C e'\\xi$ of the support vector machine on them. The loss of `abess`, `fastsparsegams` and `skglm` is
logistic, that of `el0ps` the squared hinge without an intercept: none of them aims at this value, and a tie is good for
them. `el0ps` proves each point of its path from few features on, which costs it the later ones: 60 weights between .01
and 1e-6 of its largest, a range chosen on `wdbc`; there an earlier run of the same limit came to 72.3510. `scip` has
the very problem, `fsp-m-perspective`; `abess` refuses `ionosphere`, with a constant feature; HiGHS has no mixed-integer
quadratic programs, and the free licence of Gurobi refuses `wdbc` as too large. `forward`, `swap` and `rfe` are of this
package. Gap: (value - bound) / max(1, value). GB: the largest memory of the process with its imports. AR: the usual
generator, features with correlation 0.3, k weights of +1 and -1, no noise, one seed each. A shared machine of two
virtual cores with other work, so that CPU seconds count. Made by `python benchmarks/opponents_page.py` from
`docs/results/opponents.jsonl`; `benchmarks/opponents.py` runs them.
"""
Row = dict[str, Any]


def title(own: list[Row]) -> str:
    """Return the heading of an instance."""
    at = next(row for row in own if "title" in row)
    size = f"{at['n']} x {at['p']}"
    return f"{at['title'].replace(f' {size}', '')} ({size}, C = {at['c']:g})"


def better(rows: list[Row]) -> list[Row]:
    """Return the answers of smaller value than that of best-subset."""
    ours = {row["instance"]: row["objective"] for row in rows if row["opponent"] == "best-subset"}
    return [row for row in rows if (row["objective"] or math.inf) < ours[row["instance"]] * (1 - TOLERANCE)]


def line_of(row: Row, best: float) -> str:
    """Return the row of an answer."""
    value, bound = row["objective"], row["bound"]
    if value is None:
        return f"| {row['opponent']} | none | - | - | - | {row['cpu'] or 'over'} | {row.get('gb', '-')} |"
    share = gap(row)
    ends = ("-", "-") if share is None else (f"{bound:.4f}", "closed" if closed(row) else f"{share:.2%}")
    above = f"{(value - best) / max(1.0, best):.2%}"
    return f"| {row['opponent']} | {value:.4f} | {above} | {ends[0]} | {ends[1]} | {row['cpu']:.2f} | {row['gb']:.2f} |"


def overview(groups: dict[str, list[Row]]) -> str:
    """Return the table of the opponents: answers, best values, proofs, median seconds."""
    lines = ["| opponent | answers | best value | proved | median CPU s |", "| --- | ---: | ---: | ---: | ---: |"]
    smallest = {name: min(row["objective"] or math.inf for row in own) for name, own in groups.items()}
    for name in OPPONENTS:
        own = [row for rows in groups.values() for row in rows if row["opponent"] == name]
        found = [row for row in own if row["objective"] is not None]
        best = sum(row["objective"] <= smallest[row["instance"]] * (1 + TOLERANCE) for row in found)
        seconds = median(row["cpu"] or LIMIT for row in own)
        lines.append(f"| {name} | {len(found)} | {best} | {sum(map(closed, own)) or '-'} | {seconds:.2f} |")
    return "\n".join(lines)


def picture(groups: dict[str, list[Row]]) -> None:
    """Draw the distances from the best value, one line of points for each instance."""
    matplotlib.rcParams["svg.hashsalt"] = "fsopt"
    figure = Figure(figsize=(8.5, 0.42 * len(groups) + 1.6), layout="constrained")
    axes = figure.subplots()
    looks = dict(zip(OPPONENTS, "s^vDoPX*d", strict=True))
    colors = ("#000000", "#009E73", "#999999", "#56B4E9", "#0072B2", "#D55E00", "#CC79A7", "#E69F00", "#7F3C8D")
    for k, (name, marker) in enumerate(looks.items()):
        for place, own in enumerate(reversed(groups.values())):
            best = min(row["objective"] for row in own if row["objective"] is not None)
            for row in (row for row in own if row["opponent"] == name):
                at = 400.0 if row["objective"] is None else max(100 * (row["objective"] - best) / max(1.0, best), 0.01)
                fill = colors[k] if closed(row) else "none"
                axes.plot(at, place + 0.07 * (k - 4), marker, color=colors[k], mfc=fill, ms=6)
        axes.plot([], [], marker, color=colors[k], mfc="none", ms=6, ls="", label=name)
    axes.set_yticks(range(len(groups)), [title(own) for own in reversed(groups.values())], fontsize=8)
    axes.set_xscale("log")
    axes.set_xticks([0.01, 0.1, 1, 10, 100, 400], ["best", "0.1", "1", "10", "100", "none"])
    axes.minorticks_off()
    axes.set_xlabel("percent above the best value")
    axes.grid(axis="x", alpha=0.3)
    figure.legend(loc="outside upper center", ncols=5, fontsize=8)
    figure.savefig(PICTURE, metadata={"Date": None})


def main() -> None:
    """Write the page."""
    rows = stored()
    groups = {name: [row for row in rows if row["instance"] == name] for name in INSTANCES}
    lost = [f"`{row['opponent']}` on {row['title']}" for row in better(rows)]
    facts = {"limit": LIMIT, "all": len(groups), "overview": overview(groups), "lost": "; ".join(lost) or "none"}
    text = [HEAD.format(**facts)]
    for own in groups.values():
        smallest = min(row["objective"] for row in own if row["objective"] is not None)
        text.append(f"## {title(own)}\n")
        text.append("| opponent | value | above | bound | gap | CPU s | GB |")
        text.append("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
        text += [line_of(row, smallest) for row in sorted(own, key=lambda row: row["objective"] or math.inf)]
        text.append("")
    PAGE.write_text("\n".join(text).rstrip() + "\n", encoding="utf-8")
    picture(groups)


if __name__ == "__main__":
    main()
