"""Studies: every unit once, whatever ends the run; the same rows from every executor; failures are rows.

Studies of weighted samples: a weight of k is k equal samples.

Studies of tables as people have them: an entry of data takes what fsopt.load_dataset takes.
"""

import dataclasses
import inspect
import json
import os
import signal
import sqlite3
import sys
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from reproductions import run
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold
from support import blobs

import fsopt
from fsopt.errors import FileError, ParameterError, UnknownNameError, WorkersLost
from fsopt.studies import store, units
from fsopt.studies.executors import InProcess
from fsopt.studies.study import _DATA_KINDS, load_all, read_study, study_from
from fsopt.studies.tuning import tune

STUDY = {
    "name": "small",
    "data": [blobs(40, 3)],
    "folds": 2,
    "seeds": [0, 1],
    "time_limit": 20,
    "methods": [{"name": "svm", "grid": {"c": [0.1, 1.0]}}, {"name": "pearson"}],
}
TOML = """
data = ["mine.csv"]
folds = 2
[[methods]]
name = "fsv"
[[methods]]
name = "svm"
grid = { c = [0.1, 1.0] }
[[methods]]
name = "svm"
tune = true
inner_folds = 2
grid = { c = [0.1, 1.0] }
"""
SMALL = {**STUDY, "seeds": [0], "methods": [{"name": "svm"}, {"name": "pearson"}]}
"""Of four units, where it does not matter which ones."""

RULES = """
def rule(model):
    model.b.fix(0.25)  # if __name__ == "__main__"
"""


class Broken(InProcess):
    """An executor that is lost with its first unit."""

    def __init__(self, how):
        self.how = how

    def submit(self, fn, /, *args):
        future = Future()
        if self.how == "closed":
            raise OSError("the client is closed")
        if self.how == "cancelled":
            future.cancel()
        else:
            future.set_exception(BrokenExecutor("its processes died"))
        return future


def with_methods(*methods, **rest):
    return {**STUDY, "methods": list(methods), **rest}


def compared(rows):
    """Return rows without what depends on the clock, numbers to 9 digits: the last ones depend on where arrays lie."""
    return [
        {k: digits(v) for k, v in row.items() if k not in ("seconds", "cpu_seconds", "trace", "certificate")}
        | {"ok": (row.get("certificate") or {}).get("ok")}
        for row in rows
    ]


def digits(value):
    if isinstance(value, dict):
        return {k: digits(v) for k, v in value.items()}
    if isinstance(value, list):
        return [digits(v) for v in value]
    return float(f"{value:.8e}") if isinstance(value, float) else value


def run_here(study, **how):
    return fsopt.run_study(study, executor=InProcess(), **how)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    data = blobs(30, 4)
    table = pd.DataFrame(data.X, columns=data.features).assign(label=data.y)
    table.to_csv(tmp_path / "mine.csv", index=False)
    (tmp_path / "study.toml").write_text(TOML)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_unit_has_the_scores_of_a_fit_by_hand():
    data = STUDY["data"][0]
    rows = run_here(STUDY).rows
    assert len(rows) == 2 * 2 * 3
    train, test = list(StratifiedKFold(2, shuffle=True, random_state=1).split(data.X, data.y))[1]
    fit = fsopt.fit("svm", data.rows(train), c=0.1)
    [row] = [r for r in rows if (r["params"], r["seed"], r["fold"]) == ({"c": 0.1}, 1, 1)]
    right = fit.predict(data.X[test]) == data.y[test]
    assert row["accuracy"] == pytest.approx(right.mean())
    assert row["balanced_accuracy"] == pytest.approx(np.mean([right[data.y[test] == s].mean() for s in (1, -1)]))
    assert row["auc"] == pytest.approx(roc_auc_score(data.y[test], fit.decision_function(data.X[test])))
    assert row["objective"] == pytest.approx(fit.objective)
    assert row["features"] == list(fit.features)
    assert row["certificate"]["ok"] is True


def test_a_tuned_unit_chooses_on_its_training_samples_alone():
    data, grid = blobs(60, 5, gap=0.3), [0.001, 0.1, 10.0]
    method = {"name": "l1-svm", "grid": {"c": grid}, "tune": True, "inner_folds": 2}
    rows = run_here(with_methods(method, data=[data], seeds=[0])).rows
    for row, (train, _) in zip(
        rows, StratifiedKFold(2, shuffle=True, random_state=0).split(data.X, data.y), strict=True
    ):
        best = tune("l1-svm", data.rows(train), [{"c": c} for c in grid], folds=2)
        assert row["fitted"]["c"] == best.params["c"]
        assert row["objective"] == pytest.approx(best.fit.objective)


@pytest.mark.slow
def test_all_executors_give_the_same_rows(tmp_path):
    wanted = compared(run_here(SMALL).rows)
    assert compared(fsopt.run_study(SMALL, jobs=2).rows) == wanted
    with ThreadPoolExecutor(2) as threads:
        assert compared(fsopt.run_study(SMALL, executor=threads).rows) == wanted
    with ProcessPoolExecutor(1) as processes:
        assert compared(fsopt.run_study(SMALL, executor=processes, store=tmp_path / "s").rows) == wanted


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_dask_gives_the_same_rows_and_a_killed_worker_costs_its_unit_alone(folder, tmp_path_factory):
    """The workers have folders of their own: neither the data, nor the code, nor the store are there."""
    distributed = pytest.importorskip("distributed")
    wanted = compared(run_here(SMALL).rows)
    (folder / "rules.py").write_text(RULES)
    changed = {"name": "svm", "customise": {"svm": "rules.py:rule"}}
    apart = with_methods({"name": "pearson"}, changed, data=["mine.csv", "wdbc"], seeds=[0])
    wanted_apart = compared(run_here(apart).rows)
    with (
        distributed.LocalCluster(2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        places = {worker: str(tmp_path_factory.mktemp("machine")) for worker in client.scheduler_info()["workers"]}
        for worker, place in places.items():
            client.run(os.chdir, place, workers=[worker])
        found = fsopt.run_study(apart, store="apart.sqlite", executor=client.get_executor(pure=False))
        assert compared(found.rows) == wanted_apart
        assert not [name for place in places.values() for name in os.listdir(place)]
        assert compared(fsopt.run_study(SMALL, executor=client.get_executor(pure=False)).rows) == wanted
        pids = list(client.run(os.getpid).values())
        killed = []

        def kill(state):
            if not killed:
                killed.append(os.kill(pids[0], signal.SIGKILL))

        again = {**SMALL, "seeds": [2, 3, 4]}
        rows = fsopt.run_study(again, executor=client.get_executor(pure=False), progress=kill).rows
    assert killed
    clean = compared(run_here(again).rows)
    assert sum(a != b for a, b in zip(compared(rows), clean, strict=True)) <= 1


def test_finished_units_are_not_computed_again_and_a_longer_study_computes_the_new_ones(tmp_path, monkeypatch):
    calls, real = [], units.study_fit
    monkeypatch.setattr(units, "study_fit", lambda *a, **k: calls.append(a) or real(*a, **k))
    run_here(SMALL, store=tmp_path / "s")
    assert len(calls) == 4
    run_here({**SMALL, "time_limit": 30}, store=tmp_path / "s")
    assert len(calls) == 4
    longer = run_here({**SMALL, "seeds": [0, 1]}, store=tmp_path / "s")
    assert len(calls) == 8
    assert longer.complete
    monkeypatch.setattr(units, "versions", lambda: {"fsopt": "another"})
    run_here(SMALL, store=tmp_path / "s")
    assert len(calls) == 12


def test_the_key_depends_on_everything_but_the_limits():
    def keys(**changes):
        study = study_from({**STUDY, **changes})
        return {unit.key for unit in units.units_of(study, load_all(study))}

    first = keys()
    assert len(first) == 12
    assert keys(time_limit=5) == keys(cpu_limit=5) == first
    assert keys(name="other") == first
    assert not keys(folds=3) & first
    assert not keys(data=[blobs(40, 3, seed=1)]) & first
    assert len(keys(seeds=[1, 2]) & first) == 6
    assert not keys(methods=[{"name": "svm", "params": {"c": 0.1}, "solver": "highs"}]) & first
    assert keys(methods=[{"name": "svm", "params": {"c": 0.1}}]) < first
    assert len(keys(methods=[{"name": "gmeb", "grid": {"r_plus": [1.0, 3.0], "r_minus": [1.0, 3.0]}}])) == 4 * 4


def test_failures_are_rows_and_are_computed_again_on_request_only(tmp_path, monkeypatch):
    calls, real = [], units.study_fit
    wrong = {**SMALL, "methods": [{"name": "l1-mpm", "params": {"delta": 0.999}}, {"name": "svm"}]}
    monkeypatch.setattr(units, "study_fit", lambda *a, **k: calls.append(a[0]) or real(*a, **k))
    found = run_here(wrong, store=tmp_path / "s")
    assert found.counts == {"failed": 2, "done": 2}
    assert "delta" in found.rows[0]["error"]
    assert run_here(wrong, store=tmp_path / "s").counts == found.counts
    assert len(calls) == 4
    run_here(wrong, store=tmp_path / "s", retry=True)
    assert calls.count("l1-mpm") == 4
    assert calls.count("svm") == 2


def test_an_early_end_is_a_time_out_and_an_unforeseen_fault_a_row(monkeypatch):
    real = units.study_fit

    def late(*args, **keywords):
        if args[0] == "pearson":
            raise ZeroDivisionError("a fault")
        return dataclasses.replace(real(*args, **keywords), status=fsopt.Status.FEASIBLE, stop="time-limit")

    monkeypatch.setattr(units, "study_fit", late)
    found = run_here(SMALL)
    assert found.counts == {"timeout": 2, "failed": 2}
    assert found.rows[0]["accuracy"] > 0.5
    assert "ZeroDivisionError" in found.rows[-1]["error"]


@pytest.mark.parametrize("how", ["closed", "cancelled", "broken"])
def test_units_of_a_lost_executor_have_no_row_and_are_computed_by_the_next_run(tmp_path, how):
    with pytest.raises(WorkersLost, match="goes on"):
        fsopt.run_study(SMALL, executor=Broken(how), store=tmp_path / "s")
    with store.opened(tmp_path / "s") as held:
        assert held.counts("small") == {"waiting": 4}
    assert run_here(SMALL, store=tmp_path / "s").complete


def test_code_beside_a_study_file_runs_with_consent_alone(folder, capsys, monkeypatch):
    (folder / "rules.py").write_text("open('ran', 'w').close()\n" + RULES)
    text = 'data = ["mine.csv"]\n[[methods]]\nname = "svm"\ncustomise = { svm = "rules.py:rule" }\n'
    (folder / "changed.toml").write_text(text)
    with pytest.raises(ParameterError, match=r"rules\.py:rule.*allow_code=True"):
        fsopt.run_study("changed.toml", executor=InProcess())
    words = "study changed.toml --store s.sqlite --jobs 1"
    run(words, capsys, code=2)
    for stream in (sys.stdin, sys.stderr):
        monkeypatch.setattr(stream, "isatty", lambda: True)
    monkeypatch.setattr("typer.confirm", lambda text, err: False)
    assert "rules.py:rule" in run(words, capsys, code=2)[1]
    assert not (folder / "ran").exists()
    found = fsopt.run_study("changed.toml", executor=InProcess(), allow_code=True)
    assert found.complete
    assert (folder / "ran").exists()


def test_the_store_is_one_programs_and_no_other_file(tmp_path, folder):
    other = folder / "other.sqlite"
    sqlite3.connect(other).execute("CREATE TABLE t (a)").connection.close()
    for file in ("other.sqlite", "mine.csv"):
        with pytest.raises(FileError, match=r"no store|damaged"):
            run_here(STUDY, store=file)
    with store.opened(tmp_path / "s", write=True), pytest.raises(FileError, match="another process"):
        run_here(STUDY, store=tmp_path / "s")


def test_a_worker_with_other_data_refuses_its_unit(folder):
    study = read_study(folder / "study.toml")

    class Changing(InProcess):
        def submit(self, fn, /, *args):
            (folder / "mine.csv").write_text("a,label\n1,1\n2,-1\n")
            units._read.cache_clear()
            return super().submit(fn, *args)

    units._read.cache_clear()
    found = fsopt.run_study(study, executor=Changing())
    assert "other data on this machine" in found.rows[0]["error"]


@pytest.mark.parametrize(
    ("change", "error", "match"),
    [
        ({"methods": [{"name": "svn"}]}, UnknownNameError, "svn"),
        ({"methods": [{"name": "svm", "params": {"d": 1}}]}, ParameterError, "'d'"),
        ({"methods": [{"name": "svm", "grid": {"c": 1.0}}]}, ParameterError, "grid"),
        ({"methods": [{"name": "svm", "grid": {"c": []}}]}, ParameterError, "grid"),
        ({"methods": [{"name": "svm", "tune": True}]}, ParameterError, "tune"),
        ({"methods": [{"name": "svm", "grid": {"c": [1]}, "params": {"c": 1}}]}, ParameterError, "in params and"),
        ({"methods": []}, ParameterError, "no methods"),
        ({"methods": [3]}, ParameterError, "methods"),
        ({"data": []}, ParameterError, "no data"),
        ({"data": [3]}, ParameterError, "3 in data"),
        ({"data": "wdbc"}, ParameterError, "list of data"),
        ({"data": [blobs(40, 3), blobs(40, 3)]}, ParameterError, "called"),
        ({"folds": 1}, ParameterError, "folds is 1"),
        ({"folds": 2.5}, ParameterError, "'folds'"),
        ({"seeds": []}, ParameterError, "seeds"),
        ({"seeds": ["a"]}, ParameterError, "seeds"),
        ({"time_limit": 0}, ParameterError, "time limit"),
        ({"cpu_limit": -1.0}, ParameterError, "cpu limit"),
        ({"cpu_limit": "3"}, ParameterError, "'cpu_limit'"),
        ({"time_limt": 3}, ParameterError, "time_limt"),
    ],
)
def test_a_wrong_study_is_refused_before_any_fit(change, error, match):
    with pytest.raises(error, match=match):
        run_here({**STUDY, **change})


@pytest.mark.usefixtures("in_process")
def test_the_verbs_of_a_study(folder, capsys):
    record = json.loads(run("study study.toml --store s.sqlite --jobs 1 --json", capsys)[0])
    assert record["states"] == {"done": 8}
    assert "8 done" in run("study --store s.sqlite", capsys)[0]
    shown = json.loads(run("study --store s.sqlite --json", capsys)[0])["rows"]
    assert [(row["method"], row["units"]) for row in shown] == [("fsv", 2), ("svm", 2), ("svm", 2), ("svm", 2)]
    assert "tuned c" in run("study --store s.sqlite", capsys)[0]
    for name in ("rows.csv", "rows.parquet"):
        run(f"study --store s.sqlite -o {name}", capsys)
    rows, again = pd.read_csv("rows.csv"), pd.read_parquet("rows.parquet")
    assert len(rows) == len(again) == 8
    asked = "data method params fold seed status objective bound n_features accuracy balanced_accuracy mcc auc seconds"
    assert set(asked.split()) < set(rows.columns)
    assert rows["accuracy"].to_numpy() == pytest.approx(again["accuracy"].to_numpy())


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("study none.toml --store s", "none.toml"),
        ("study mine.csv --store s", "not TOML"),
        ("study study.toml --store s --jobs 0", "--jobs 0 is no number"),
        ("study study.toml --store s --jobs 2 --scheduler tcp://127.0.0.1:1", "one of them"),
        ("study study.toml --store /none/s", "no folder"),
        ("study --store none.sqlite", "none.sqlite"),
        ("study --store mine.csv -o a.csv", "damaged"),
        ("study --store mine.csv -o a.txt", "type"),
    ],
)
def test_wrong_words_are_one_line(folder, capsys, words, text):
    _, err = run(words, capsys, code=2)
    assert err.strip().count("\n") == 0
    assert text in err


DATA = blobs(20, 4, gap=0.8, seed=3)
WEIGHTS = np.random.default_rng(1).integers(1, 5, DATA.n)
BOTH = DATA.weighted(sample_weight=WEIGHTS), DATA.rows(np.repeat(np.arange(DATA.n), WEIGHTS))
STUDIES = {
    "path of the number of features": lambda data: fsopt.selection_path(data, m=[1, 2, 3]).objective,
    "path of the radii": lambda data: fsopt.radius_path(data, (1.0, 4.0))["objective"],
    "front of loss and capacity": lambda data: fsopt.pareto_front(data, (3.0, 10.0))["y"],
    "alternatives": lambda data: fsopt.alternatives(data, 2, within=0.1).objective,
    "necessity": lambda data: fsopt.necessity(data, 2).to_frame()["without"].to_numpy(),
}


@pytest.mark.parametrize("name", STUDIES)
def test_whole_weights_are_repeated_samples(name):
    weighted, repeated = map(STUDIES[name], BOTH)
    assert weighted == pytest.approx(repeated, rel=1e-5)


RAW_STUDY = """
folds = 2
[[methods]]
name = "l1-svm"
[[data]]
file = "raw.csv"
name = "raw"
target = "kind"
positive = ["a", "b"]
drop = ["day"]
id = "nr"
onehot = true
sep = ";"
decimal = ","
"""

MARKS = {"sep": ";", "decimal": ","}


@pytest.fixture
def table(tmp_path):
    draw = np.random.default_rng(5)
    kinds = draw.choice(["a", "b", "c"], 40)
    colors, sizes = draw.choice(["red", "blue"], 40), draw.normal(size=40) + 2.0 * (kinds == "c")
    rows = [
        f"N{i};{colors[i]};{str(sizes[i]).replace('.', ',')};{i + 1};{'' if i == 9 else kinds[i]}" for i in range(40)
    ]
    (tmp_path / "raw.csv").write_text("\n".join(["nr;color;size;day;kind", *rows]) + "\n", encoding="utf-8")
    (tmp_path / "study.toml").write_text(RAW_STUDY, encoding="utf-8")
    return tmp_path


def test_an_entry_of_data_has_the_keywords_of_load_dataset():
    assert set(_DATA_KINDS) - {"file", "name"} == set(inspect.signature(fsopt.load_dataset).parameters) - {"source"}


@pytest.mark.filterwarnings("ignore:1 of 40 rows")
def test_a_raw_table_in_a_study_is_the_one_that_load_dataset_reads(table):
    found = fsopt.run_study(str(table / "study.toml"), executor=InProcess()).rows
    data = fsopt.load_dataset(
        table / "raw.csv", target="kind", positive=["a", "b"], drop=["day"], id="nr", onehot=True, **MARKS
    )
    assert data.features == ("color=red", "size")
    assert data.labels == ("c", "a|b")
    ours = fsopt.run_study({"data": [data], "folds": 2, "methods": [{"name": "l1-svm"}]}, executor=InProcess()).rows
    assert [row["accuracy"] for row in found] == [row["accuracy"] for row in ours]
    assert {row["data"] for row in found} == {"raw"}


def test_what_was_found_in_a_raw_table_is_said_by_the_run_alone(table):
    """Each worker reads it again."""
    units._read.cache_clear()
    with pytest.warns(UserWarning, match="1 of 40 rows have no label") as said:
        rows = fsopt.run_study(str(table / "study.toml"), executor=InProcess()).rows
    assert {row["state"] for row in rows} == {"done"}
    assert len(said) == 1


def test_a_wrong_value_of_an_entry_is_named(table):
    (table / "study.toml").write_text(RAW_STUDY.replace("onehot = true", "onehot = 1"), encoding="utf-8")
    with pytest.raises(ParameterError, match="'onehot' of an entry of data is 1"):
        fsopt.run_study(str(table / "study.toml"), executor=InProcess())
