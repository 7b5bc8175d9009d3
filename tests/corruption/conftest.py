"""The counts of the corrupted files, at the end of a run."""

from __future__ import annotations

import os
from collections import Counter

import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    found = [
        value
        for reports in terminalreporter.stats.values()
        for report in reports
        for name, value in getattr(report, "user_properties", [])
        if name == "corruption" and report.when == "call"
    ]
    if not found:
        return
    false = sum(len(f["false"]) for f in found)
    faults = Counter("traceback" if "traceback" in line else "unclear end" for f in found for line in f["faults"])
    terminalreporter.section("changed files")
    whole = "whole" if os.environ.get("FSOPT_TRUTH") else "a seeded sample of the"
    terminalreporter.line(
        f"{whole} suite: {len({f['kind'] for f in found})} kinds of change, {sum(f['files'] for f in found)} files, "
        f"{false} false ones verified, {sum(faults.values())} faults "
        f"({faults['traceback']} tracebacks, {faults['unclear end']} unclear ends)"
    )
