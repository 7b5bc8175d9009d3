"""docs/limits.md: it is made of the measured rows, for the present version and the registered methods."""

import json
import re
import sys

import pytest
from support import ROOT

import fsopt

sys.path.insert(0, str(ROOT / "benchmarks"))
import limits_page
import scale

TEXT = (ROOT / "docs" / "limits.md").read_text("utf-8")
TALL, WIDE, _ = scale.SHAPES


def row(method, size, **changes):
    known = {"limit": 60.0, "allowed": 4.0, "status": "optimal", "stop": "optimal", "cpu": 2.0, "memory": 0.5}
    return {"method": method, **size._asdict(), **known, "code": "now", **changes}


def of_measured(text, rows):
    """Return the lines of a page without those of methods that have no row yet: a new one has some at a release."""
    measured = {row["method"] for row in rows}
    named = [(re.match(r"\| `([\w-]+)` \|", line), line) for line in text.splitlines()]
    return [line for method, line in named if method is None or method[1] in measured]


def test_the_page_is_of_this_version_and_its_methods():
    version, stamp = re.search(r"for version (\S+), code (\w+)", TEXT).groups()
    assert version == fsopt.__version__, "make limits-page"
    rows = scale.read_rows()
    assert of_measured(limits_page.page(rows, stamp), rows) == of_measured(TEXT, rows), "make limits-page"


def test_what_is_measured_with_the_present_code_is_not_measured_again(tmp_path):
    path = tmp_path / "rows.jsonl"
    first, second = row("svm", TALL, code="before"), row("svm", TALL)
    path.write_text("".join(json.dumps(one) + "\n" for one in (first, second, row("mpm", TALL, code="before"))))
    rows = scale.read_rows(path)
    assert [one["code"] for one in rows] == ["now", "before"]
    left = list(scale.missing(["svm", "mpm"], (TALL, WIDE), rows, "now"))
    assert left == [("svm", WIDE), ("mpm", TALL), ("mpm", WIDE)]
    assert scale.read_rows(tmp_path / "none") == []


@pytest.mark.slow
def test_a_fit_is_measured_in_a_process_of_its_own():
    found = scale.measure("pearson", scale.Size(200, 5), 10.0, 4.0)
    assert found["status"] == "feasible"
    assert found["cpu"] > 0.0
    assert 0.0 < found["memory"] < 4.0
    refused = scale.measure("mpm", scale.Size(50, 300, 3), 10.0, 4.0)
    assert refused["stop"] == "data"
