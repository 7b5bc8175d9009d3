"""The page docs/results/opponents.md and its pictures, made by the build of the site.

They are made of docs/results/opponents.jsonl, which ``benchmarks/opponents.py run`` writes.
"""

from __future__ import annotations

import math
from collections import defaultdict
from statistics import mean, median
from typing import Any

import matplotlib
from exact import TOLERANCE, closed, gap
from matplotlib.figure import Figure
from opponents import OPPONENTS, STORE, stored
from opponents_instances import FAST, GRID, INSTANCES, OWN, STRENGTHS

PAGE, PICTURE = STORE.with_suffix(".md"), STORE.with_suffix(".svg")
REACH = STORE.with_name("opponents-reach.svg")
HEAD = """# Head to head: measured

For the choice of a tool that selects a few features: the exact search of `best-subset` beside heuristics, packages
and SCIP, each in a process of its own with one thread and 20 CPU seconds, in the grid 10.

:::{{figure}} opponents.svg
:alt: Distance of the value of each opponent from the best known one, for each instance

{all} instances: how far the value of each opponent is above the best one, in percent; at the right: no answer. Filled:
with a proof.
:::

{overview}

A value better than that of `best-subset` has: {lost}. The packages without a bound need fractions of a second, and
where they have the best value too, the bound is all that the search adds; where its gap stays open, that is not much.

The rules: an opponent returns at most k features, found with whatever loss is its own; its value is
$\\tfrac12 w'w + C e'\\xi$ of the support vector machine on them. The loss of `abess`, `fastsparsegams`, `skglm` and
`sparsely` is logistic, that of `el0ps` the squared hinge without an intercept: none of them aims at this value, and a
tie is good for them. `el0ps` proves each point of its path from few features on, which costs it the later ones: 60
weights between .01 and 1e-6 of its largest, a range chosen on `wdbc`; there an earlier run of the same limit came to
72.3510. `scip` has the very problem, `fsp-m-perspective`; `abess` refuses constant features, as in `ionosphere` and
`words`; HiGHS has no mixed-integer quadratic programs; `gurobi` has `fsp-m-bigm` with the value of `rfe`, on the
instances named small alone: its free licence takes 200 variables. Its clock is the wall's.
`forward`, `swap` and `rfe` are of this package. `leukemia`, `20 factors` and `words` were not put to `forward`,
`rfe`, `el0ps` and `scip`. `sparsely` (with mip 2.0) ends by itself within half a second. Gap: (value - bound) /
max(1, value). GB: the largest memory of the process with its imports. AR: the usual generator, features with
correlation 0.3, k weights of +1 and -1, no noise. `20 factors` is drawn in the shape of
the data `musk`, and `words` like texts: 50 words each with frequencies by Zipf's law; `best-subset` has it as a sparse
matrix, the others as a dense one. A shared machine of two virtual cores with other work, so that CPU seconds count.
Made by `python benchmarks/opponents_page.py` from `docs/results/opponents.jsonl`; `benchmarks/opponents.py` runs them.

## How far the proofs reach

The usual generator: the labels are a sign of k features, and n goes from too few samples for them to
enough. Of each opponent how far its value is above the best one, and of `best-subset` the CPU seconds to the proof, or
the gap at 10 of them; means over the seeds where there are several. `best`: within 1e-4.

{grid}

:::{{figure}} opponents-reach.svg
:alt: CPU seconds to the proof against the number of features, and the gap against CPU seconds

Left: CPU seconds of `best-subset` to the proof (filled), or to the limit, against p at C = 0.01; the most samples of
each k are solid. Right: its gap against CPU seconds; the cross is where it is closed.
:::

## El0ps on its own problem

Squared hinge loss without an intercept, with the weight {own:g} n of each feature and 20 CPU seconds:

$$\\min_w\\ C \\sum_i \\max(0, 1 - y_i w'x_i)^2 + \\tfrac12 w'w + \\lambda \\|w\\|_0$$

`best-subset-penalised` has it as the samples and their mirror images $(-x_i, -y_i)$ at half the C, where the best
intercept is 0: twice the samples.

{own_table}

{own_verdict}
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
    asked = [row for row in rows if row["instance"] in ours]
    return [row for row in asked if (row["objective"] or math.inf) < ours[row["instance"]] * (1 - TOLERANCE)]


def line_of(row: Row, best: float) -> str:
    """Return the row of an answer."""
    value, bound = row["objective"], row["bound"]
    if value is None:
        return f"| {row['opponent']} | none | - | - | - | {row['cpu'] or 'over'} | {row.get('gb', '-')} |"
    share = gap(row)
    ends = ("-", "-") if share is None else (f"{bound:.4f}", "closed" if closed(row) else f"{share:.2%}")
    above = f"{(value - best) / max(1.0, best):.2%}"
    return f"| {row['opponent']} | {value:.4f} | {above} | {ends[0]} | {ends[1]} | {row['cpu']:.2f} | {row['gb']:.2f} |"


def grid_table(rows: list[Row]) -> str:
    """Return the table of the grid: a line for each size."""
    others = [name for name in (*FAST[1:], "sparsely") if any(row["opponent"] == name for row in rows)]
    lines = [f"| C | p | k | n | seeds | proved | CPU s, or gap | {' | '.join(others)} |"]
    lines.append("| ---: " * (7 + len(others)) + "|")
    for name, (p, k, n) in ((name, size) for name in STRENGTHS for size in sorted(GRID)):
        own = [row for row in rows if row["instance"].startswith(f"{name}-{p}-{k}-{n}-")]
        ours = [row for row in own if row["opponent"] == "best-subset"]
        if not ours:
            continue
        best: dict[str, float] = defaultdict(lambda: math.inf)
        for row in own:
            best[row["instance"]] = min(best[row["instance"]], row["objective"] or math.inf)
        proved = [row["cpu"] for row in ours if closed(row)]
        wide = [gap(row) for row in ours if not closed(row)]
        last = [f"{mean(proved):.2f} s"] if proved else []
        last += [f"{mean(wide):.1%}"] if wide else []
        cells = [above_of([row for row in own if row["opponent"] == name], best) for name in others]
        sizes = f"| {STRENGTHS[name]:g} | {p:,} | {k} | {n:,} | {len(ours)} | {len(proved)} | {', '.join(last)} |"
        lines.append(f"{sizes} {' | '.join(cells)} |")
    return "\n".join(lines)


def above_of(rows: list[Row], best: dict[str, float]) -> str:
    """Return the mean share by which values are above the best ones."""
    found = [(row["objective"] - best[row["instance"]]) / best[row["instance"]] for row in rows if row["objective"]]
    if not found:
        return "none" if rows else "-"
    return f"{mean(found):.1%}" if max(found) > TOLERANCE else "best"


def own_table(rows: list[Row]) -> tuple[str, str]:
    """Return the table of the problem of el0ps, and a sentence of its outcome."""
    lines = ["| instance | best-subset-penalised | gap | CPU s | el0ps | its word | CPU s |"]
    lines.append("| --- | ---: | ---: | ---: | ---: | --- | ---: |")
    faster: dict[str, list[str]] = defaultdict(list)
    for name in (name for name in INSTANCES if name.startswith("own-")):
        pair = {row["opponent"]: row for row in rows if row["instance"] == name}
        if len(pair) < 2:
            continue
        ours, theirs = pair["own-best-subset"], pair["own-el0ps"]
        title = f"{ours['title'].split(',')[0]}, {ours['n']} x {ours['p']}"
        ends = f"{ours['objective']:.4f} | {'closed' if closed(ours) else f'{gap(ours):.2%}'} | {ours['cpu']:.2f}"
        word = "optimal" if theirs["bound"] else "time limit"
        lines.append(f"| {title} | {ends} | {theirs['objective']:.4f} | {word} | {theirs['cpu']:.2f} |")
        seconds = {"best-subset-penalised": ours["cpu"] if closed(ours) else math.inf}
        seconds["el0ps"] = theirs["cpu"] if theirs["bound"] else math.inf
        winner = min(seconds, key=lambda word: seconds[word])
        faster[winner if seconds[winner] < math.inf else "none"].append(title.split(",")[0])
        if theirs["bound"] and ours["objective"] < theirs["bound"]:
            faster["wrong"].append(title.split(",")[0])
    wrong = faster.pop("wrong", [])
    said = "First to its proof: " + "; ".join(f"{who} on {', '.join(on)}" for who, on in faster.items()) + "."
    if wrong:
        said += (
            f" On {', '.join(wrong)} the optimum that `el0ps` states within {TOLERANCE:g} is farther above our value."
        )
    return "\n".join(lines), said


def reach(rows: list[Row]) -> None:
    """Draw the seconds to the proof against p, and the gap against the seconds."""
    figure = Figure(figsize=(9.0, 3.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    ours = [row for row in rows if row["opponent"] == "best-subset"]
    for k, color in ((5, "#0072B2"), (10, "#D55E00"), (30, "#009E73")):
        for n in sorted({n for _, one, n in GRID if one == k}):
            most = n == max(m for _, one, m in GRID if one == k)
            points = defaultdict(list)
            for row in ours:
                if row["instance"].startswith("ar-") and (row["k"], row["n"]) == (k, n):
                    points[row["p"]].append(row)
            if not points:
                continue
            at = [(p, mean([row["cpu"] for row in found]), all(map(closed, found))) for p, found in points.items()]
            style = {"color": color, "ls": "-" if most else ":", "lw": 1.5}
            label = f"k = {k}, n = {n:,}"
            left.plot([p for p, _, _ in at], [cpu for _, cpu, _ in at], label=label, **style)
            for p, cpu, done in at:
                left.plot(p, cpu, "o" if most else "s", color=color, mfc=color if done else "none", ms=5)
    left.set(xscale="log", yscale="log", xlabel="features p", ylabel="CPU s of best-subset")
    left.set_xticks([1000, 5000, 10_000], ["1,000", "5,000", "10,000"])
    left.minorticks_off()
    left.legend(fontsize=6, ncols=2)
    for row in ours:
        if "trace" in row and not row["instance"].startswith("ar"):
            trace = [(max(s, 0.01), max(share, TOLERANCE)) for s, share in row["trace"]]
            (line,) = right.step(*zip(*trace, strict=True), where="post", label=row["title"].replace("set one ", ""))
            if closed(row):
                right.plot(*trace[-1], "x", color=line.get_color())
    right.set(xscale="log", yscale="log", xlabel="CPU s", ylabel="gap")
    right.legend(fontsize=6)
    for axes in (left, right):
        axes.grid(alpha=0.3)
    figure.savefig(REACH, metadata={"Date": None})


def overview(groups: dict[str, list[Row]]) -> str:
    """Return the table of the opponents: answers, best values, proofs, median seconds."""
    lines = ["| opponent | answers | best value | proved | median CPU s |", "| --- | ---: | ---: | ---: | ---: |"]
    smallest = {name: min(row["objective"] or math.inf for row in own) for name, own in groups.items()}
    for name in OPPONENTS:
        own = [row for rows in groups.values() for row in rows if row["opponent"] == name]
        if not own:
            continue
        found = [row for row in own if row["objective"] is not None]
        best = sum(row["objective"] <= smallest[row["instance"]] * (1 + TOLERANCE) for row in found)
        seconds = median(row["cpu"] or 20.0 for row in own)
        lines.append(f"| {name} | {len(found)} | {best} | {sum(map(closed, own)) or '-'} | {seconds:.2f} |")
    return "\n".join(lines)


def picture(groups: dict[str, list[Row]]) -> None:
    """Draw the distances from the best value, one line of points for each instance."""
    matplotlib.rcParams["svg.hashsalt"] = "fsopt"
    figure = Figure(figsize=(8.5, 0.42 * len(groups) + 1.6), layout="constrained")
    axes = figure.subplots()
    looks = dict(zip((name for name in OPPONENTS if not name.startswith("own-")), "s^vDoPX*<d>", strict=True))
    colors = (
        "#000000",
        "#009E73",
        "#999999",
        "#56B4E9",
        "#0072B2",
        "#D55E00",
        "#CC79A7",
        "#E69F00",
        "#8C564B",
        "#7F3C8D",
        "#F0E442",
    )
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
    named = [name for name in INSTANCES if not name.startswith(("ar", "own-"))]
    groups = {name: [row for row in rows if row["instance"] == name] for name in named}
    lost = [f"`{row['opponent']}` on {row['title']}" for row in better(rows)]
    grid, (own, verdict) = grid_table(rows), own_table(rows)
    facts = {"all": len(groups), "overview": overview(groups), "lost": "; ".join(lost) or "none", "grid": grid}
    facts |= {"own": OWN, "own_table": own, "own_verdict": verdict}
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
    reach(rows)


if __name__ == "__main__":
    main()
