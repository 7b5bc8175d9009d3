"""The table of a folder of model files: each verdict comes up where it has to."""

from __future__ import annotations

import sys

import pytest
from support import ROOT, there, written

sys.path.insert(0, str(ROOT))
from benchmarks import instances

LP = "min\n o: 2 x + 3 y\nst\n c: x + y >= 1.5\nbounds\n x <= 1\nend\n"
VALUE = 2 * 1.0 + 3 * 0.5
CUT = "NAME m\nROWS\n N o\n G c\nCOLUMNS\n x o 1 c 1\nRHS\n S d 1\nENDATA\n"


@pytest.fixture
def folder(tmp_path):
    written(tmp_path, "good.lp.gz", LP)
    written(tmp_path, "bad.mps", CUT)
    return tmp_path


def test_a_right_and_a_refused_file(folder):
    bad, good = (instances.row_of(folder / name, name, 5.0) for name in ("bad.mps", "good.lp.gz"))
    assert (good.verdict, good.status, good.value) == ("right", "optimal", pytest.approx(VALUE))
    assert good.peers["highs"] == ("optimal", pytest.approx(VALUE))
    assert good.peers[there("scip")] == ("optimal", pytest.approx(VALUE))
    assert good.duals
    assert good.trips[0] == good.trips[1] >= 3
    assert good.moved == (2, 2)
    assert (bad.verdict, bad.value) == ("refused", None)
    assert "2 files, 1 refused, 1 right" in list(instances.table([bad, good]))


@pytest.mark.parametrize("answer", [("optimal", VALUE + 1), ("infeasible", None)])
def test_a_peer_that_contradicts_a_certified_claim_makes_it_false(folder, monkeypatch, capsys, answer):
    peer = {"highs": (lambda path, seconds: answer, (".lp",)), "scip": (instances.scip, ()), "gurobi": (None, ())}
    monkeypatch.setattr(instances, "PEERS", peer)
    assert instances.main(folder, 5.0) == 1
    assert "good.lp.gz: false: contradicted by highs" in capsys.readouterr().out


def test_an_answer_that_is_not_certified_is_lost_where_a_peer_has_the_optimum(folder, monkeypatch):
    monkeypatch.setattr("fsopt.solvers.outcome.PROVES", {})
    assert instances.row_of(folder / "good.lp.gz", "good.lp.gz", 5.0).verdict == "lost"
