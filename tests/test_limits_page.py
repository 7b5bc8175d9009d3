"""The page of limits: it is made of the measured rows, for the registered methods."""

import json
import sys

import pytest
from support import ROOT

import fsopt

sys.path.insert(0, str(ROOT / "benchmarks"))
import limits_page
import scale

TALL, WIDE, _ = scale.SHAPES


def row(method, size, **changes):
    known = {"limit": 60.0, "allowed": 4.0, "status": "optimal", "stop": "optimal", "cpu": 2.0, "memory": 0.5}
    return {"method": method, **size._asdict(), **known, "code": "now", **changes}


def test_the_page_has_every_method_and_no_answer_has_its_reason():
    rows = [row("svm", TALL), row("mpm", WIDE, status="it is too large", stop="memory", cpu=None, memory=None)]
    text = limits_page.page(rows)
    assert [m for m in fsopt.METHODS if f"\n| `{m}` | " not in text] == []
    assert "| `svm` | optimal | 2.0 | 0.5 | not measured |  |  |" in text
    assert "| `mpm` | not measured |  |  | too large |  |  | needs dense data |  |  |" in text
    assert "* `mpm` 100 x 50,000: it is too large" in text


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
