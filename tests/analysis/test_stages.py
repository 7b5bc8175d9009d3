"""The steps of a long question: the estimate of the seconds that are left."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from fsopt.analysis import stages
from fsopt.analysis.stages import Stage, Stages


def test_the_estimate_of_the_rest_leaves_out_what_the_first_step_has_to_load(monkeypatch):
    clock, told = [0.0], []
    monkeypatch.setattr(stages, "time", SimpleNamespace(perf_counter=lambda: clock[0]))

    def one(k):
        clock[0] += 100.0 if k == 0 else 1.0
        return k

    asked = Stages(
        "question", total=40.0, jobs=1, progress=lambda state: told.append((clock[0], state["seconds_left"]))
    )
    asked.run({str(k): Stage(one, (k,)) for k in range(40)})
    assert told[0][1] is None
    estimates = [(139.0 - at, left) for at, left in told if left is not None]
    assert len(estimates) > 35
    assert all(left == pytest.approx(rest) for rest, left in estimates)
