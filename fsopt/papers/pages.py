"""Pages of reproductions: in Markdown, and as one HTML report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fsopt.papers.reproduction import VERDICTS, Experiment, Outcome, counts
from fsopt.studies.report import ReportTable, Section, write_report


def markdown(record: Mapping[str, Any]) -> str:
    """Return the page of a reproduction: verdicts, notes, figures and cells."""
    quick = " (--quick)" if record["quick"] else ""
    command = f"fsopt reproduce {record['name']}{' --quick' if record['quick'] else ''}"
    lines = [f"# {record['name']}: {record['shows']}{quick}", "", f"Made by `{command}`.", ""]
    lines += [f"* {number} {verdict}: {VERDICTS[verdict]}" for verdict, number in record["verdicts"].items()]
    lines += ["", *record["notes"]] if len(record["notes"]) == 1 else ["", *(f"* {note}" for note in record["notes"])]
    lines += ["", *(f"![{name}]({record['name']}-{name}.svg)" for name in record["figures"])]
    if record["cells"]:
        lines += [
            "",
            "| row | column | ours | printed | difference | verdict |",
            "| --- | --- | --- | --- | --- | --- |",
        ]
    for c in record["cells"]:
        spread = f" ± {c['spread']:.3g}" if c["spread"] is not None else ""
        ours = "" if c["ours"] is None else f"{c['ours']:.4g}{spread}"
        rest = ["" if c[k] is None else f"{c[k]:.4g}" for k in ("printed", "difference")]
        why = f": {c['why']}" if c["why"] else ""
        lines.append(f"| {c['row']} | {c['column']} | {ours} | {rest[0]} | {rest[1]} | {c['verdict']}{why} |")
    return "\n".join(lines).rstrip() + "\n"


def reproduction_report(path: str | Path, done: Sequence[tuple[Experiment, Outcome, float]], quick: bool) -> None:
    """Write the report of experiments, each with its seconds, as one HTML page; raises PackageError, FileError."""
    heads = ("row", "column", "ours", "±", "printed", "difference", "verdict", "reason")
    total = [
        (verdict, sum(counts(o.cells).get(verdict, 0) for _, o, _ in done), told) for verdict, told in VERDICTS.items()
    ]
    sections = [Section("Verdicts", tables=(ReportTable(("verdict", "cells", "meaning"), total),))]
    for one, outcome, seconds in done:
        rows = [(c.row, c.column, c.ours, c.spread, c.printed, c.difference, c.verdict, c.why) for c in outcome.cells]
        tables = (ReportTable(heads, rows),) if rows else ()
        notes = (f"{one.shows}; {seconds:.1f} s", *outcome.notes)
        sections.append(Section(one.name, notes, tables, dict(outcome.figures)))
    write_report(path, f"Reproductions{' (--quick)' if quick else ''}", sections)
