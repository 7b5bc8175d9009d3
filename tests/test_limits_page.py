"""The page of limits: it is made of the measured rows, for the registered methods."""

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


@pytest.mark.slow
def test_a_fit_is_measured_in_a_process_of_its_own():
    found = scale.measure("pearson", scale.Size(200, 5), 10.0, 4.0)
    assert found["status"] == "feasible"
    assert found["cpu"] > 0.0
    assert 0.0 < found["memory"] < 4.0
    refused = scale.measure("mpm", scale.Size(50, 300, 3), 10.0, 4.0)
    assert refused["stop"] == "data"
