"""Studies of tables as people have them: an entry of data takes what fsopt.load_dataset takes."""

import inspect

import numpy as np
import pytest

import fsopt
from fsopt.errors import ParameterError
from fsopt.studies import units
from fsopt.studies.executors import InProcess
from fsopt.studies.study import _DATA_KINDS

STUDY = """
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
    (tmp_path / "study.toml").write_text(STUDY, encoding="utf-8")
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
    (table / "study.toml").write_text(STUDY.replace("onehot = true", "onehot = 1"), encoding="utf-8")
    with pytest.raises(ParameterError, match="'onehot' of an entry of data is 1"):
        fsopt.run_study(str(table / "study.toml"), executor=InProcess())
