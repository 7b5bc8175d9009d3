"""docs/results/ratios.md and its picture, made by the build of the site.

They are made of docs/results/ratios.jsonl, to which ``modelling.py``, ``resolve.py``, ``gmeb.py`` and ``generation.py``
of ``benchmarks/`` append with ``-o`` the CPU seconds of fsopt and of what stands beside it, in turn in one process.
"""

from __future__ import annotations

import json
from pathlib import Path
from statistics import median
from typing import Any

import matplotlib
from matplotlib.figure import Figure

ROWS = Path(__file__).parents[1] / "docs" / "results" / "ratios.jsonl"
PAGE, PICTURE = ROWS.with_suffix(".md"), ROWS.with_suffix(".svg")
HEAD = """# Ratios: measured

CPU seconds of fsopt over those of other software for the same task, medians of the rounds in one process with their
range, on a shared machine of two virtual cores, one thread: Python 3.11, Clarabel 0.11, HiGHS 1.16.

![Ratio of each row with its range, and the aim](ratios.svg)
"""
GROUPS = {
    "arrays": ("Data to a solver's arrays, beside cvxpy, linopy and highspy by hand", 0.8),
    "loops": ("Loops with their certificates, beside the same loops by hand without one", 1.2),
    "routes": ("Fits of gmeb, beside the solve that is their smallest part", 2.0),
    "generation": ("Column and constraint generation, beside the whole linear program in HiGHS", 1.0),
}
"""Group of rows -> its heading, and the largest ratio that is aimed at."""


def ratios(row: dict[str, Any]) -> list[float]:
    """Return the ratio of each round."""
    return [ours / other for ours, other in zip(row["fsopt"], row["other"], strict=True)]


def table(rows: list[dict[str, Any]]) -> str:
    """Return the rows as a table in Markdown."""
    lines = ["| problem | n x p | beside | ratio | range | CPU seconds |", "| --- | --- | --- | ---: | --- | --- |"]
    for row in rows:
        found = ratios(row)
        spread = f"{median(found):.2f} | {min(found):.2f} to {max(found):.2f}"
        seconds = f"{median(row['fsopt']):.3f} beside {median(row['other']):.3f}"
        lines.append(f"| {row['case']} | {row['data']} | {row['beside']} | {spread} | {seconds} |")
    return "\n".join(lines)


def picture(rows: list[dict[str, Any]]) -> None:
    """Draw the median ratio of each row with its range, and the aim of its group."""
    matplotlib.rcParams["svg.hashsalt"] = "fsopt"
    figure = Figure(figsize=(7.0, 0.34 * len(rows) + 1.0), layout="constrained")
    axes = figure.subplots()
    for place, row in enumerate(reversed(rows)):
        found = ratios(row)
        axes.plot([min(found), max(found)], [place, place], color="tab:gray")
        axes.plot(median(found), place, "o", color="tab:blue")
        axes.plot([GROUPS[row["group"]][1]] * 2, [place - 0.4, place + 0.4], color="tab:orange")
    labels = [f"{row['case']} {row['data']}, {row['beside']}" for row in reversed(rows)]
    axes.set_yticks(range(len(rows)), labels)
    axes.set_xscale("log")
    ticks = (0.1, 0.2, 0.5, 1.0, 2.0)
    axes.set_xticks(ticks, [f"{x:g}" for x in ticks], minor=False)
    axes.minorticks_off()
    axes.set_xlabel("ratio of CPU seconds; bars: the aim")
    axes.grid(axis="x", alpha=0.3)
    figure.savefig(PICTURE, metadata={"Date": None})


def main() -> None:
    """Write the page and the picture."""
    rows = [json.loads(line) for line in ROWS.read_text(encoding="utf-8").splitlines()]
    parts = [HEAD.rstrip()]
    parts += [f"## {title}\n\n{table([r for r in rows if r['group'] == key])}" for key, (title, _) in GROUPS.items()]
    PAGE.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    picture(rows)


if __name__ == "__main__":
    main()
