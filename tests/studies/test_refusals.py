"""What a study refuses before its first unit: it leaves no store behind."""

from __future__ import annotations

import json

import pytest
from support import blobs

import fsopt
from fsopt.cli import main
from fsopt.errors import DataError, FsoptError, ParameterError
from fsopt.studies.executors import InProcess
from fsopt.studies.study import StudyMethod

DATA = blobs(20, 3)
REFUSED = [
    (
        {"name": "svm", "grid": {"c": [1.0, -1.0]}},
        r"parameter 'c' of 'svm' is -1\.0: give a value inside \[1e-100, 1e100\]",
    ),
    ({"name": "svm", "params": {"c": 0}}, "'c' of 'svm' is 0: "),
    ({"name": "svm", "grid": {"c": [1.0, "large"]}}, "'c' of 'svm' is 'large': its type is float"),
    ({"name": "svm", "grid": {"c": [float("nan")]}}, "'c' of 'svm' is nan: "),
    ({"name": "best-subset", "grid": {"m": [1, 2.5]}}, "'m' of 'best-subset' is 2.5: its type is int"),
    ({"name": "gmeb", "grid": {"scale": ["standard", "unit"]}}, "'scale' of 'gmeb' is 'unit': give a value of .*none"),
    ({"name": "fsv", "grid": {"lam": [0.5, 2]}, "tune": True}, r"'lam' of 'fsv' is 2: give a value inside \[0, 1\]"),
    ({"name": "sklearn-l1-svc", "grid": {"c": [-1]}}, "'c' of 'sklearn-l1-svc' is -1: "),
]


@pytest.mark.parametrize(("method", "message"), REFUSED, ids=[str(method) for method, _ in REFUSED])
def test_a_value_that_no_data_make_right_is_refused_before_the_first_unit(tmp_path, method, message):
    ran = []
    with pytest.raises(ParameterError, match=message):
        fsopt.run_study(
            {"data": [DATA], "methods": [{"name": "pearson"}, method]},
            store=tmp_path / "s.sqlite",
            executor=InProcess(),
            progress=ran.append,
        )
    assert not ran
    assert not list(tmp_path.iterdir())
    values = {**method.get("params", {}), **{k: v[-1] for k, v in method.get("grid", {}).items()}}
    if not method["name"].startswith("sklearn"):
        with pytest.raises(FsoptError):  # the method refuses it too
            fsopt.fit(method["name"], DATA, **values)


def test_what_methods_take_is_taken():
    costs = [1.0, 2.0, 1.0]
    StudyMethod("best-subset", {"costs": costs, "budget": 2}, {"c": [1, 0.1], "loss": ["hinge"]}).check()
    StudyMethod("fsv", {"approx": "log"}, {"scale": ["none", "center"]}).check()
    for name, spec in fsopt.METHODS.items():
        StudyMethod(name, {k: v for k, v in spec.parameters.items() if v is not None}).check()
        StudyMethod(name, grid=spec.candidates).check()


@pytest.mark.parametrize("data", ["nowhere.csv", ["wdbc", "nowhere"]])
def test_an_unknown_data_set_leaves_no_store(tmp_path, monkeypatch, capsys, data):
    monkeypatch.chdir(tmp_path)
    listed = data if isinstance(data, list) else [data]
    with pytest.raises(DataError, match="nowhere"):
        fsopt.run_study({"data": listed, "methods": [{"name": "svm"}]}, store="s.sqlite")
    (tmp_path / "study.toml").write_text(f'data = {json.dumps(listed)}\n[[methods]]\nname = "svm"\n')
    for wrong in ("", "grid = { c = [-1] }\n"):
        with (tmp_path / "study.toml").open("a") as file:
            file.write(wrong)
        with pytest.raises(SystemExit) as ended:
            main(["study", "study.toml", "--store", "s.sqlite", "--jobs", "1"])
        said = capsys.readouterr().err.strip()
        assert (ended.value.code, said.count("\n")) == (2, 0)
        assert ("'c' of 'svm' is -1: give a value inside" if wrong else "nowhere") in said
    assert [file.name for file in tmp_path.iterdir()] == ["study.toml"]
    with pytest.raises(ParameterError, match="folds are not possible"):
        fsopt.run_study({"data": [DATA], "methods": [{"name": "svm"}], "folds": 11}, store="s.sqlite")
    assert [file.name for file in tmp_path.iterdir()] == ["study.toml"]
