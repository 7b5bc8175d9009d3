"""Reproductions whose time ended: what was run is shown, and what it is of."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from reproductions import needs_data, papers_data  # noqa: F401
from scipy.stats import norm

from fsopt.data.synthetic.gmeb import gmeb_type2_bayes
from fsopt.errors import OutOfTimeError
from fsopt.papers.gbd import experiments as gbd
from fsopt.papers.gbd.tables import Measured
from fsopt.papers.gmeb import experiments as gmeb
from fsopt.papers.reproduction import RunSettings
from fsopt.studies.store import opened


def measured(method, p, n, k):
    """Return a made-up measure: GBD is worse than FSV on the instances 0 and 1, and better on the others."""
    error = {"gbd": 0.1, "fsv": 0.0 if k < 2 else 0.2}.get(method, 0.1)
    numbers = {"p": p, "n_features": 2, "m": 2, "validation_error": 0.0, "test_error": error}
    rest = {"overlap": p, "alignment": 0.995 + 0.0001 * k, "seconds": 1.0, "tuning_seconds": 8.0}
    return Measured(instance=f"{p}-{n}-{k}", method=method, params={}, status="optimal", gap=0.0, **numbers, **rest)


def test_the_means_of_aytug_are_over_the_instances_that_were_run(monkeypatch):
    calls = []

    def drawn(p, n, *, instances, time_limit, jobs):
        calls.append((p, n, *instances))
        return [measured(method, p, n, *instances) for method in gbd.COMPARED]

    monkeypatch.setattr(gbd, "data_set_one", drawn)
    with opened(None) as held:
        whole = gbd.gbd_table2(RunSettings(store=held))
        assert gbd.gbd_table2(RunSettings(store=held, ends=0.0)) == whole
    assert calls == [(p, n, k) for k in range(10) for p in (20, 50, 100) for n in (500, 1000, 5000)]
    found = {(c.row, c.column): c for c in whole.cells}
    assert (found["fsv", "gbd better"].ours, found["fsv", "gbd worse"].ours) == (72.0, 18.0)
    assert found["fsv 20 x 500", "difference"].ours == pytest.approx(0.1 - 0.16)
    assert found["rfe 100 x 5000", "exact"].ours == 10.0
    assert found["onsvm", "alignment"].why == "other draws"
    with opened(None) as held:
        for k in range(3):
            held.part(
                "gbd-table2",
                {"p": 20, "n": 500, "instance": k, "limit": gbd.LIMIT, "seed": 0},
                lambda k=k: [dict(vars(measured(method, 20, 500, k))) for method in gbd.COMPARED],
            )
        part = gbd.gbd_table2(RunSettings(store=held, ends=0.0))
    found = {(c.row, c.column): c for c in part.cells}
    assert found["fsv", "gbd better"].ours == pytest.approx(30.0)  # one of three instances, of 90
    assert "20 x 500 (3), 20 x 1000 (0)" in part.notes[0]
    assert found["onsvm", "alignment"].why == "other draws, 3 instances instead of 90"
    with pytest.raises(OutOfTimeError):
        gbd.gbd_table2(RunSettings(ends=0.0))


def test_a_fit_without_an_answer_in_its_seconds_is_no_end_of_the_experiment(monkeypatch):
    def measure(method, instance, *, time_limit):
        assert time_limit == (10.0 if method == "gbd" else None)
        if method == "gbd" and len(instance.support) == 10:
            raise OutOfTimeError("the time limit passed", "more seconds")
        return SimpleNamespace(test_error=0.25, tuning_seconds=3.0)

    monkeypatch.setattr(gbd, "measure", measure)
    with opened(None) as held:
        outcome = gbd.gbd_fig2(RunSettings(quick=True, store=held))
        assert gbd.gbd_fig2(RunSettings(quick=True, store=held, ends=0.0)).cells == outcome.cells
    found = {(c.row, c.column): c for c in outcome.cells}
    assert "1 (1), 10 (1), 20 (1)" in outcome.notes[0]
    for key, one in found.items():
        missing = key[0] == "gbd M=10"
        assert one.ours == (None if missing else 3.0 if key[1] == "seconds" else 0.25)
        assert one.why == ("a fit had no answer in its time limit" if missing else "")


def test_own_data_by_the_protocol_of_table_4_say_which_fits_of_gbd_have_no_proof(monkeypatch):
    def rows(name, settings):
        status = "feasible" if name == "wdbc" else "optimal"
        return [replace(measured(method, 20, 500, 0), status=status) for method in gbd.COMPARED]

    monkeypatch.setattr(gbd, "load_dataset", lambda name: name)
    monkeypatch.setattr(gbd, "_real_data", rows)
    cells = [c for c in gbd.gbd_table4(RunSettings()).cells if c.verdict == "no number"]
    assert {c.row for c in cells if c.why} == {"wdbc gbd"}
    assert {c.ours for c in cells if c.row == "pima fsv"} == {0.0, 0.1, 1.0}


def test_the_bayes_error_of_type_2_is_that_of_its_draws():
    angles = np.linspace(0.0, np.pi, 1001)
    variances = np.array([1.0, 2.0])
    errors = []
    for a in angles:
        V = np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]])
        distance = np.ones(2) @ np.linalg.solve(V @ np.diag(variances) @ V.T, np.ones(2))
        errors.append(100 * norm.cdf(-np.sqrt(distance)))
    assert pytest.approx((min(errors), max(errors)), abs=1e-3) == gmeb.BAYES
    cells = {(c.row, c.column): c for c in gmeb.gmeb_type2_paragraph(RunSettings(ends=0.0)).cells}
    bayes = cells["bayes", "error"]
    assert bayes.ours == pytest.approx(100 * np.mean([gmeb_type2_bayes(k, 2) for k in range(10)]))
    assert {c.verdict for key, c in cells.items() if key[0] != "bayes"} == {"left out"}
