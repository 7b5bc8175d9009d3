"""Studies: rows are those of fits by hand, each computed once, whatever ends a unit, the run, or spoils the store."""

import json
import os
import resource
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import suppress

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold
from support import ROOT, blobs, run

import fsopt
from fsopt.common.teams import on_scheduler
from fsopt.errors import DataError, FileError, ParameterError, StoreLost
from fsopt.studies import running, units
from fsopt.studies.ranking import lines_of
from fsopt.studies.running import opened
from fsopt.studies.study import load_all, study_from, units_of
from fsopt.studies.tuning import tune

DATA = blobs(41, 3)
STUDY = {
    "name": "small",
    "data": [DATA],
    "folds": 2,
    "seeds": [0, 1],
    "time_limit": 20,
    "methods": [{"name": "svm", "grid": {"c": [0.1, 1.0]}}, "pearson"],
}
SMALL = {**STUDY, "seeds": [0], "methods": ["svm", "pearson"]}
TOML = """
data = ["mine.csv"]
folds = 2
[[methods]]
name = "fsv"
[[methods]]
name = "svm"
tune = true
inner_folds = 2
grid = { c = [0.1, 1.0] }
"""


@pytest.fixture
def folder(tmp_path, monkeypatch, in_process):
    data = blobs(30, 4)
    pd.DataFrame(data.X, columns=data.features).assign(label=data.y).to_csv(tmp_path / "mine.csv", index=False)
    (tmp_path / "study.toml").write_text(TOML)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def steady(rows):
    """Return rows without what the clock says."""
    return [{k: v for k, v in row.items() if k not in ("seconds", "cpu_seconds", "certificate")} for row in rows]


def test_a_unit_has_the_scores_of_a_fit_by_hand(in_process):
    rows = fsopt.run_study({**STUDY, "all_samples": True}).rows
    assert [(row["method"], row["seed"], row["fold"]) for row in rows][5:10] == [
        ("svm", None, None), ("svm", 0, 0), ("svm", 0, 1), ("svm", 1, 0), ("svm", 1, 1),
    ]  # fmt: skip
    row = next(r for r in rows if (r["params"], r["seed"], r["fold"]) == ({"c": 1.0}, 1, 1))
    train, test = list(StratifiedKFold(2, shuffle=True, random_state=1).split(DATA.X, DATA.y))[1]
    fit = fsopt.fit("svm", DATA.rows(train), c=1.0)
    assert row["accuracy"] == np.mean(fit.predict(DATA.X[test]) == DATA.y[test])
    assert row["auc"] == pytest.approx(roc_auc_score(DATA.y[test], fit.decision_function(DATA.X[test])))
    assert (row["status"], row["state"], row["features"]) == ("optimal", "done", list(fit.features))
    assert row["objective"] == pytest.approx(fit.objective)
    line = lines_of(rows)[1]
    scores = [r["accuracy"] for r in line.folds]
    assert (line.title, len(scores), line.statuses) == ("svm (c=1.0)", 4, {"optimal": 4})
    assert line.spread("accuracy") == pytest.approx((np.mean(scores), np.std(scores, ddof=1)))


def test_a_tuned_unit_chooses_on_its_training_samples_alone(in_process):
    grid = {"c": [0.01, 1.0]}
    study = {**STUDY, "seeds": [0], "methods": [{"name": "svm", "grid": grid, "tune": True, "inner_folds": 2}]}
    train, _ = next(StratifiedKFold(2, shuffle=True, random_state=0).split(DATA.X, DATA.y))
    best = tune("svm", DATA.rows(train), [{"c": c} for c in grid["c"]], folds=2)
    assert fsopt.run_study(study).rows[0]["fitted"]["c"] == best.params["c"]


def test_finished_units_are_not_computed_again_and_a_longer_study_computes_the_new_ones(
    tmp_path, in_process, monkeypatch
):
    place, computed, real = tmp_path / "s.sqlite", [], units.study_fit
    monkeypatch.setattr(units, "study_fit", lambda *args, **rest: computed.append(args) or real(*args, **rest))
    told = []
    first = fsopt.run_study(SMALL, store=place, progress=told.append).rows
    assert (len(first), [state.finished for state in told]) == (4, [1, 2, 3, 4])
    assert fsopt.run_study(SMALL, store=place).rows == first
    assert len(computed) == 4
    longer = fsopt.run_study({**SMALL, "seeds": [0, 1], "time_limit": 40}, store=place)
    assert len(computed) == 8
    assert [row for row in longer.rows if row["seed"] == 0] == list(first)
    assert [file.name for file in tmp_path.iterdir()] == ["s.sqlite"], "at rest it is one file"


def test_the_key_depends_on_everything_but_the_limits():
    def key(**changes):
        study = study_from({**SMALL, **changes})
        return next(iter(units_of(study, load_all(study)))).key

    other = blobs(41, 3, seed=9)
    changes = (
        *({"name": "b"}, {"data": [other]}, {"folds": 3}, {"seeds": [1]}, {"all_samples": True}, {"exact": True}),
        *({"methods": [{"name": "svm", **own}]} for own in ({"params": {"c": 3.0}}, {"solver": "scs"})),
        {"methods": [("mine", Ends("done"))]},
        {"methods": [("mine", Ends("raise"))]},
    )
    assert len({key(), *(key(**change) for change in changes)}) == len(changes) + 1
    assert key() == key(time_limit=1, methods=["svm"])


class Ends(ClassifierMixin, BaseEstimator):
    """A classifier whose fit to the larger half of the samples ends in a way."""

    def __init__(self, how="done", place=""):
        self.how, self.place = how, place

    def fit(self, X, y):
        if len(y) == 21 and self.how == "raise":
            raise ValueError("two\nlines")
        if len(y) == 21 and self.how == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        if len(y) == 21 and self.how == "once" and not os.path.exists(self.place):
            open(self.place, "w").close()
            os.kill(os.getpid(), signal.SIGKILL)
        if len(y) == 21 and self.how == "hang":
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
            time.sleep(600)
        self.classes_ = np.array([-1.0, 1.0])
        return self

    def predict(self, X):
        return np.where(X[:, 0] > 0, 1.0, -1.0)


def ending(how, **rest):
    return {**SMALL, "methods": ["pearson", ("mine", Ends(how, **rest))]}


def test_failures_are_rows_and_are_computed_again_on_request_only(tmp_path, in_process, monkeypatch):
    place = tmp_path / "s.sqlite"
    found = fsopt.run_study(ending("raise"), store=place)
    assert found.counts == {"done": 3, "failed": 1}
    assert found.rows[3]["error"] == "'mine' failed (ValueError: two lines): choose other parameters"
    told = []
    assert fsopt.run_study(ending("raise"), store=place, progress=told.append).counts == found.counts
    assert not told
    fsopt.run_study(ending("raise"), store=place, retry=True, progress=told.append)
    assert [(state.failed, state.finished) for state in told] == [(1, 4)]
    assert lines_of(found.rows)[1].spread("accuracy") == (None, None), "a mean over the easier folds is none"
    monkeypatch.setattr(units, "train_and_test", lambda *given: 1 / 0)
    assert "ZeroDivisionError" in fsopt.run_study(SMALL).rows[0]["error"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("how", "state", "words"),
    [
        ("die", "failed", r"its process died.*SIGKILL\(-9\)"),
        ("hang", "timeout", "was ended after 20 seconds"),
        ("once", "", ""),
    ],
)
def test_a_unit_whose_process_dies_or_hangs_is_a_row_and_costs_no_other(how, state, words, tmp_path, monkeypatch):
    monkeypatch.setattr(running, "HARD", 1.0)
    monkeypatch.setattr(running, "MORE", 0.0)
    found = fsopt.run_study(ending(how, place=str(tmp_path / "once")), jobs=2)
    assert [row["state"] for row in found.rows] == ["done", "done", "done", state or "done"], found.rows[3]["error"]
    assert not words or pd.Series(found.rows[3]["error"]).str.contains(words)[0], found.rows[3]["error"]


@pytest.mark.parametrize(
    ("change", "error", "match"),
    [
        ({"data": []}, ParameterError, "has no data"),
        ({"data": "wdbc"}, ParameterError, "give a list of data"),
        ({"data": ["nowhere"]}, DataError, "nowhere"),
        ({"data": [{"file": "wdbc", "lable": "y"}]}, ParameterError, "no parameter 'lable'"),
        ({"data": [DATA, fsopt.Dataset(DATA.X, DATA.y, name="b")]}, ParameterError, "called 'b', or"),
        ({"methods": []}, ParameterError, "has no methods"),
        ({"methods": [{"name": "svm", "params": {"c": 1.0}, "grid": {"c": [1.0]}}]}, ParameterError, "in params and"),
        ({"methods": [{"name": "svm", "tune": True}]}, ParameterError, "tune without a grid"),
        ({"methods": [{"name": "svm", "grid": {"c": []}}]}, ParameterError, "'c' of 'svm' has no value"),
        ({"methods": [{"name": "svm", "grid": {"c": [1.0, -1.0]}}]}, ParameterError, r"'svm' is -1\.0: give a value"),
        ({"methods": [{"name": "gbd", "params": {"max_nodes": 3}}]}, ParameterError, "no parameter 'max_nodes'"),
        ({"folds": 1}, ParameterError, "folds is 1"),
        ({"folds": 30}, ParameterError, "30 folds are not possible"),
        ({"seeds": [True]}, ParameterError, "seeds"),
        ({"time_limit": -1}, ParameterError, "positive"),
        ({"colour": "red"}, ParameterError, "unknown field `colour`"),
    ],
)
def test_a_wrong_study_is_refused_before_any_fit_and_leaves_no_store(change, error, match, tmp_path, in_process):
    with pytest.raises(error, match=match):
        fsopt.run_study({**SMALL, **change}, store=tmp_path / "s.sqlite")
    assert not list(tmp_path.iterdir())


def test_the_verbs_of_a_study(folder, capsys):
    out, _ = run("study study.toml --store s.sqlite", capsys)
    assert "study: 4 units, 4 done" in out
    out, _ = run("study --store s.sqlite", capsys)
    assert "2 stationary" in out, "the status counts stand beside the means"
    shown = json.loads(run("study --store s.sqlite --json", capsys)[0])
    assert shown["studies"] == {"study": {"done": 4}}
    assert [line["statuses"] for line in shown["rows"]] == [{"stationary": 2}, {"optimal": 2}]
    for name in ("rows.csv", "means.tex", "r.html"):
        run(f"study --store s.sqlite -o {name}", capsys)
    rows = pd.read_csv("rows.csv")
    assert (len(rows), {"study", "fitted", "versions"} <= set(rows)) == (4, True)
    tex = (folder / "means.tex").read_text()
    assert "2 stationary" in tex
    assert r"\toprule" in tex
    assert "--retry" in run("study --store s.sqlite --retry", capsys, code=2)[1]


@pytest.fixture
def store(tmp_path, in_process):
    fsopt.run_study(SMALL, store=tmp_path / "s.sqlite")
    return tmp_path / "s.sqlite"


def changed(place, statement):
    connection = sqlite3.connect(place)
    connection.execute(statement)
    connection.commit()
    connection.close()


def test_an_edited_row_is_named_left_out_and_computed_again(store, capsys):
    whole = fsopt.run_study(SMALL, store=store).rows
    for edit in ("replace(row, '\"done\"', '\"gone\"')", "'[]'", "'no JSON'", "x'ff'", "NULL"):
        changed(store, f"UPDATE rows SET row = {edit} WHERE key = (SELECT min(key) FROM rows)")
        out, err = run(f"study --store {store} --json", capsys)
        shown = json.loads(out)
        assert (shown["studies"], len(shown["damaged"])) == ({"small": {"done": 3}}, 1)
        assert shown["damaged"][0] in err
        assert steady(fsopt.run_study(SMALL, store=store).rows) == steady(whole)


def test_another_version_and_another_file_are_one_line(store, capsys):
    for statement, words in (
        ("ALTER TABLE rows RENAME TO rows_1", "no store of studies of this version"),
        ("CREATE TABLE mine (x)", "no store of studies of this version"),
    ):
        kept = store.read_bytes()
        changed(store, statement)
        for write in (False, True):
            with pytest.raises(FileError, match=words), opened(store, write=write):
                pass
        store.write_bytes(kept)
    store.write_bytes(b"no database at all" * 100)
    assert run(f"study --store {store}", capsys, code=2)[1].count("\n") == 1
    assert "No such file" in run(f"study --store {store}x", capsys, code=2)[1]


def test_a_store_that_is_taken_away_or_whose_disk_is_full_is_one_line_and_rows_stay(store, in_process):
    longer = {**SMALL, "seeds": [0, 1, 2]}
    with pytest.raises(StoreLost, match="removed or replaced"):
        fsopt.run_study(longer, store=store, progress=lambda state: store.rename(store.with_name("away")))
    store.with_name("away").rename(store)
    assert len(finished(store)) == 5
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (store.stat().st_size, before[1]))
    try:
        with pytest.raises(FileError, match="free space"):
            fsopt.run_study({**SMALL, "seeds": list(range(40))}, store=store)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert len(finished(store)) >= 5
    assert fsopt.run_study(longer, store=store).complete


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_a_study_that_is_killed_at_every_row_ends_as_the_one_in_peace(tmp_path):
    """Alone or with its workers, by turns: a second computation of a finished unit would change its seconds."""
    (tmp_path / "q.toml").write_text('data = ["wdbc"]\nfolds = 3\n[[methods]]\nname = "pearson"\n')
    words = [sys.executable, "-m", "fsopt", "study", "q.toml", "--jobs", "2", "--store"]
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    how = {"cwd": tmp_path, "env": {**os.environ, "PYTHONPATH": path}, "stderr": subprocess.DEVNULL}
    how["stdout"] = subprocess.DEVNULL
    subprocess.run([*words, "whole.sqlite"], check=True, **how)
    place, seen, starts, code = tmp_path / "killed.sqlite", {}, 0, None
    while code != 0:
        process, starts = subprocess.Popen([*words, place.name], start_new_session=True, **how), starts + 1
        while process.poll() is None and len(finished(place)) <= len(seen):
            time.sleep(0.01)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL) if starts % 2 else process.kill()
        code, before, seen = process.wait(), seen, finished(place)
        assert all(seen.get(key) == row for key, row in before.items()), "a finished unit was lost or computed again"
    assert starts > 1
    whole = finished(tmp_path / "whole.sqlite")
    assert seen.keys() == whole.keys()
    assert steady(seen[key] for key in whole) == steady(whole.values())
    assert len(seen) == 3


def finished(place):
    """Return key -> row of the units that are done."""
    with suppress(FileError), opened(place) as held:
        return held.rows()
    return {}


@pytest.mark.slow
def test_dask_gives_the_same_rows_and_a_killed_worker_costs_its_unit_alone(tmp_path):
    distributed = pytest.importorskip("distributed")
    study = ending("once", place=str(tmp_path / "once"))
    how = {"threads_per_worker": 1, "dashboard_address": None, "silence_logs": 50}
    with distributed.LocalCluster(2, **how) as cluster, on_scheduler(cluster.scheduler_address):
        rows = fsopt.run_study(study).rows
    assert (tmp_path / "once").exists()
    with parallel_config("sequential"):
        assert steady(rows) == steady(fsopt.run_study(study).rows)
