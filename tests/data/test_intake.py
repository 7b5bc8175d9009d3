"""Tables and files of every format: what is read, what is treated, and what is refused in one line."""

import gzip
import json
import re
import tracemalloc
from decimal import Decimal
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pandas as pd
import pytest
from openpyxl import Workbook
from openpyxl.styles import Font
from sklearn.datasets import load_breast_cancer
from support import SHARED, written

from fsopt.answers.records import plain
from fsopt.answers.saved import converted
from fsopt.common.files import unpacked
from fsopt.data import load_dataset
from fsopt.data.dataset import train_and_test
from fsopt.data.encoding import Encoding, typed_columns
from fsopt.data.given import load_samples, load_table
from fsopt.data.layout import Layout
from fsopt.errors import DataError, PackageError, ParameterError

FRAME = pd.DataFrame(
    {
        "id": ["01", "02", "03", "04", "05"],
        "color": ["red", None, "green", "red", "blue"],
        "size": [1.5, np.nan, 2.5, np.nan, 3.5],
        "member": [True, False, True, False, True],
        "kind": ["a", "b", "a", "c", "b"],
    }
)
AT = {"target": "kind", "positive": ["a", "c"], "id": "id", "onehot": True}
ARFF = """@relation toy
@attribute color {red,blue,green}
@attribute size numeric
@attribute member {0,1}
@attribute kind {a,b,c}
@data
red,1.5,1,a
?,?,0,b
green,2.5,1,a
red,?,0,c
blue,3.5,1,b
"""


def stored(folder, suffix, frame=FRAME):
    """Write a frame in a format, and return the path."""
    path = folder / f"t{suffix}"
    if suffix == ".arff":
        return written(folder, path.name, ARFF)
    if suffix in (".parquet", ".xlsx"):
        {".parquet": frame.to_parquet, ".xlsx": frame.to_excel}[suffix](path, index=False)
    else:
        frame.to_csv(path, index=False, sep="\t" if "tsv" in suffix else ",")
    return path


@pytest.mark.parametrize("missing", ["mean", "median", "drop"])
@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".tsv", ".tsv.gz", ".parquet", ".xlsx", ".arff"])
def test_a_file_and_its_frame_give_the_same_data(tmp_path, suffix, missing):
    at = AT | {"missing": missing}
    own = load_dataset(FRAME, **at)
    data = load_dataset(stored(tmp_path, suffix), **(at | ({"id": None} if suffix == ".arff" else {})))
    renamed = tuple(name.replace("member=1", "member") for name in data.features)
    assert (renamed, data.labels, data.name) == (own.features, ("b", "a|c"), "t")
    assert np.array_equal(data.X, own.X)
    assert np.array_equal(data.y, own.y)
    features = dict(zip(own.features, own.X.T.tolist(), strict=True))
    if missing != "drop":
        assert features["member"] == [1, 0, 1, 0, 1]
        assert features["size"] == [1.5, 2.5, 2.5, 2.5, 3.5]
        assert features["color=red"] == [1, 1, 0, 1, 0]


def test_numbers_are_those_of_python_and_labels_and_names_are_texts(tmp_path):
    path = written(tmp_path, "TOY.CSV", '\ufeffa,label,"b, c",id\r\n1,+1, 2.5e3,007\r\n-0.1,-1,1e-300,NA\r\n')
    data = load_dataset(path, id="id")
    assert data.X.tolist() == [[1.0, 2500.0], [-0.1, 1e-300]]
    assert (data.features, data.labels, data.name) == (("a", "b, c"), ("-1", "+1"), "TOY")
    samples = load_samples(path, Layout(id="id"))
    assert (samples.texts("id"), samples.texts("target")) == (["007", ""], ["+1", "-1"])
    assert load_samples(written(tmp_path, "t.csv", "a,b\n1,2\n")).texts("target") == []
    values = np.random.default_rng(0).standard_normal(500)
    path = written(tmp_path, "t.csv", "a,label\n" + "".join(f"{v!r},{i % 2}\n" for i, v in enumerate(values.tolist())))
    assert np.array_equal(load_dataset(path).X[:, 0], values)


GERMAN = "Größe;Kosten;krank\n1,5;1.234,5;ja\n2,25;999;nein\n3;12.000;ja\n"


def test_keywords_of_pandas_are_passed_on(tmp_path):
    path = written(tmp_path, "t.csv", GERMAN.encode("cp1252"))
    with pytest.raises(DataError, match=r"cannot be read .*codec .*encoding= its encoding, such as cp1252"):
        load_dataset(path, target="krank")
    at = {"target": "krank", "encoding": "cp1252"}
    data = load_dataset(path, **at, decimal=",", thousands=".")
    assert data.X.tolist() == [[1.5, 1234.5], [2.25, 999.0], [3.0, 12000.0]]
    assert data.labels == ("nein", "ja")
    path = written(tmp_path, "t.csv", "a!b!label\n1!2!0\n3!4!1\n")
    assert load_dataset(path, sep="!").X.tolist() == [[1, 2], [3, 4]]
    with pd.ExcelWriter(tmp_path / "t.xlsx") as book:
        pd.DataFrame({"note": [1]}).to_excel(book, sheet_name="first", index=False)
        FRAME.to_excel(book, sheet_name="second", index=False)
    assert load_dataset(tmp_path / "t.xlsx", sheet="second", missing="drop", **AT).n == 3


@pytest.mark.parametrize("suffix", [".csv", ".tsv.gz", ".xlsx"])
def test_the_point_of_sas_is_a_missing_value(tmp_path, suffix):
    path = stored(tmp_path, suffix, pd.DataFrame({"x": ["1.500", ".", ".", "3.500"], "label": [0, 1, 0, "."]}))
    for marks in ({}, {"decimal": ".", "thousands": ","}, {"decimal": ",", "thousands": "."}):
        with pytest.warns(UserWarning, match="1 of 4 rows have no label"):
            data = load_dataset(path, missing="mean", **marks)
        assert data.X[1:].tolist() == [data.X[0].tolist()] * 2


def test_a_sheet_is_what_pandas_reads(tmp_path):
    book = Workbook()
    for row in ["a", "b", "label"], [1, "x", 1], [None], [2.5, "#DIV/0!", 0], ["3", "", 1, None, "note"], [None, 4]:
        book.active.append(row)
    book.active["H99"].font = Font(bold=True)  # no value
    book.save(tmp_path / "t.xlsx")
    own, others = load_samples(tmp_path / "t.xlsx"), load_samples(pd.read_excel(tmp_path / "t.xlsx"))
    pd.testing.assert_frame_equal(own.held, others.held)
    assert (own.texts("target"), own.held["a"].count(), own.held["b"].count()) == (["1", "", "0", "1", ""], 3, 2)
    with pytest.raises(DataError, match="there are 2 columns 'a'"):
        load_samples(stored(tmp_path, ".xlsx", FRAME.set_axis(list("aabcd"), axis=1)))


@pytest.mark.parametrize(
    "cells",
    [["1,5", "2", "k.A.", "3,25"], ["1,234", "5,678"], ["1,234.5", "5,678"], ["1.234,5", "12,5"], ["1 234", "9,5"]],
)
def test_texts_that_would_be_numbers_name_the_keywords(cells):
    frame = pd.DataFrame({"x": cells, "label": [k % 2 for k in range(len(cells))]})
    for onehot in (False, True):
        told = f"column 'x' holds texts that would be numbers, such as '{cells[0]}'.* with decimal= or thousands="
        with pytest.raises(DataError, match=told):
            load_dataset(frame, onehot=onehot)


@pytest.mark.parametrize("suffix", [".csv", ".xlsx"])
@pytest.mark.parametrize("cell", ["10.05.2025", "1.5.3", "1.23", "1234.567", "0.123"])
def test_marks_of_thousands_stand_before_groups_of_three_digits(cell, suffix, tmp_path):
    path = stored(tmp_path, suffix, pd.DataFrame({"x": ["1.234", cell], "z": [1, 2], "label": [0, 1]}))
    with pytest.raises(DataError, match="column 'x' holds texts"):
        load_dataset(path, decimal=",", thousands=".")
    assert load_dataset(path, decimal=",", thousands=".", drop="x").p == 1
    with pytest.raises(ParameterError, match=r"thousands='\.' is the decimal mark too"):
        load_dataset(path, thousands=".")


def test_names_are_no_categories_and_columns_without_a_name_are_left_out(tmp_path):
    rows = "".join(f"{i},u{i},{i},{i % 2}\n" for i in range(40))
    path = written(tmp_path, "t.csv", ",u,a,label\n" + rows)
    with pytest.raises(DataError, match="column 'u' has 40 different texts in 40 rows"):
        load_dataset(path, onehot=True)
    with pytest.warns(UserWarning, match="1 column without a name left out"):
        assert load_dataset(path, id="u").features == ("a",)


def test_rows_without_a_label_are_left_out_with_a_warning(tmp_path):
    path = written(tmp_path, "t.csv", "a,label\n1,1\n2,?\n,0\n4,\n5,0\n")
    for missing, X in (("drop", [[1.0], [5.0]]), ("mean", [[1.0], [3.0], [5.0]])):
        with pytest.warns(UserWarning, match="2 of 5 rows have no label and are left out: 2, 4") as found:
            assert load_dataset(path, missing=missing).X.tolist() == X
        assert {one.filename for one in found} == {__file__}


def test_the_layout_survives_its_record_and_weighs_classes():
    layout = Layout(
        target="y", positive=("a",), drop=("b", "c"), id="id", onehot=True, missing="mean", weights="w", sep=";"
    )
    assert Layout.saved({"layout": layout.stated}) == layout
    assert Layout.saved({}) == Layout()
    chosen = Layout(target="kind", positive="a", drop=("color", "size", "id"), class_weight="balanced")
    data, _ = load_table(FRAME, chosen)
    assert [data.weights[data.y > 0].sum(), data.weights[data.y < 0].sum()] == [2.5, 2.5]


def test_training_samples_alone_tell_substitutes_and_categories():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.standard_normal(40), "u": rng.choice(["a", "b", "c"], 40), "label": [0, 1] * 20})
    frame.loc[::5, "x"] = np.nan
    frame.loc[3, "u"] = "rare"
    held_out = np.array([3, 5, 6, 8])
    train, test = train_and_test(load_dataset(frame, onehot=True, missing="mean"), held_out)
    assert train.features == ("x", "u=a", "u=b", "u=c"), "the rare text is not in the training samples"
    assert np.allclose(test.X[1, 0], frame.drop(index=held_out)["x"].mean())
    assert test.X[0, 1:].tolist() == [0, 0, 0]
    frame.loc[held_out, "x"] = 1e6
    again, _ = train_and_test(load_dataset(frame, onehot=True, missing="mean"), held_out)
    assert np.array_equal(again.X, train.X), "the samples to be tested have no influence"


@pytest.mark.parametrize("missing", ["mean", "median"])
def test_a_column_without_a_value_among_the_training_samples_has_a_substitute(missing):
    frame = pd.DataFrame(
        {"a": range(6), "x": [7.0, 7.0, *[np.nan] * 4], "u": ["s", "t", *[None] * 4], "label": [0, 1] * 3}
    )
    data = load_dataset(frame, onehot=True, missing=missing)
    train, test = train_and_test(data, np.array([0, 1]))
    values = {name: train.X[:, j].tolist() for j, name in enumerate(train.features)}
    assert values["x"] == [0.0] * 4
    assert (test.X[:, train.features.index("x")] == 7.0).all()
    assert len({*values["u="]}) == 1
    assert not test.X[:, train.features.index("u=")].any()


def test_an_encoding_is_the_same_after_its_record():
    source = typed_columns(FRAME[["color", "size", "member"]])
    encoding = Encoding.learned(source, "mean")
    assert converted(plain(encoding), Encoding) == encoding
    assert np.array_equal(converted(plain(encoding), Encoding).matrix(source), encoding.matrix(source))
    with pytest.raises(DataError, match="column 'size' holds texts, such as 'big'"):
        encoding.matrix(source.assign(size=pd.Series(["big"] * 5, dtype=object)))
    assert encoding.unseen(source.assign(color="pink")) == {"color": ["pink"]}


def test_wdbc():
    data = load_dataset("wdbc")
    assert (data.n, data.p, data.name, data.labels) == (569, 30, "wdbc", ("benign", "malignant"))
    assert data.features[::10] == ("radius_mean", "radius_se", "radius_worst")
    bunch = load_breast_cancer()
    assert np.array_equal(data.X, bunch.data)
    assert np.array_equal(data.y > 0, bunch.target == 0)


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.skipif(not (SHARED / "data").is_dir(), reason="the papers' benchmark files are not here (FSOPT_SHARED)")
def test_every_benchmark_file():
    manifest = json.loads((SHARED / "data" / "manifest.json").read_text())
    tasks = [entry for entry in manifest if not entry.get("extra") and entry["file"].endswith(".csv.gz")]
    assert len(tasks) >= 15
    for task in tasks:
        path, gaps = SHARED / "data" / task["file"], task["n_missing_values"]
        whole = load_dataset(path, missing="mean" if gaps else None)
        shape = (whole.n, whole.p, whole.positive.size, whole.negative.size)
        assert shape == (task["n_rows"], task["n_features"], task["n_pos"], task["n_neg"]), task["name"]


def test_names_are_looked_up_in_the_data_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("FSOPT_DATA", str(tmp_path))
    with pytest.raises(DataError, match=r"no data set 'two.parts': give a path.*FSOPT_DATA, which is /"):
        load_dataset("two.parts")
    np.savez(tmp_path / "two.parts.npz", X=np.eye(3), y=[1, -1, 1])
    assert load_dataset("two.parts").n == 3
    written(tmp_path, "two.parts.csv", "a,label\n1,0\n2,1\n")
    assert load_dataset("two.parts").n == 2
    monkeypatch.delenv("FSOPT_DATA")
    with pytest.raises(DataError, match=r"no data set 'sonar': .*the folder FSOPT_DATA, which is not set"):
        load_dataset("sonar")


def test_files_that_are_none(tmp_path, monkeypatch):
    (tmp_path / "folder.csv").mkdir()
    written(tmp_path, "t.sav", "")
    for name, told in (
        ("nowhere.csv", r"there is no file .*nowhere\.csv"),
        ("folder.csv", r"there is no file .*folder\.csv"),
        ("t.sav", r"the type of .*t\.sav is not known from its name: use one of \.csv.* read it with pandas"),
    ):
        with pytest.raises(DataError, match=told):
            load_dataset(tmp_path / name)
    for suffix, told in ((".csv.gz", "gzip"), (".xlsx", "pandas"), (".parquet", "pandas"), (".arff", "scipy")):
        (tmp_path / f"damaged{suffix}").write_bytes(b"\x00\x01\x02")
        with pytest.raises(DataError, match=told):
            load_dataset(tmp_path / f"damaged{suffix}")
    monkeypatch.setattr("fsopt.errors.find_spec", lambda name: None)
    with pytest.raises(PackageError, match=r"pip install 'fsopt\[parquet\]'"):
        load_dataset(written(tmp_path, "t.parquet", "PAR1"))

    def denied(self):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", denied)
    with pytest.raises(DataError, match=r"t\.csv cannot be read: Permission denied"):
        load_dataset(written(tmp_path, "t.csv", "a,label\n1,0\n"))


LONG = "x" * 10_000
TEXTS = pd.DataFrame({"a": [LONG, "y"] * 100, "label": [0, 1] * 100})


def one_part(path):
    """Write a workbook of 30 sheets that are all the first one."""
    pages = pd.DataFrame({"a": range(400), "label": [0, 1] * 200})
    with pd.ExcelWriter(path.with_name("own.xlsx")) as book:
        for k in range(30):
            pages[: 9999 * (k == 0)].to_excel(book, sheet_name=str(k), index=False)
    with ZipFile(path.with_name("own.xlsx")) as own, ZipFile(path, "w") as book:
        for name in own.namelist():
            content = own.read(name)
            book.writestr(name, re.sub(rb"sheet\d+.xml", b"sheet1.xml", content) if name.endswith(".rels") else content)


BOMBS = {
    "texts.xlsx": lambda path: TEXTS.to_excel(path, index=False),
    "one-part.xlsx": one_part,
    "wide.xlsx": lambda path: pd.DataFrame(1, range(60), [f"x{j}" for j in range(400)]).to_excel(path, index=False),
    "numbers.parquet": lambda path: pd.DataFrame({"a": np.ones(200_000), "label": [0, 1] * 100_000}).to_parquet(path),
    "decimals.parquet": lambda path: pd.DataFrame({"a": [Decimal("1.5")] * 20_000}).to_parquet(path, index=False),
    "nominal.arff": lambda path: path.write_text(ARFF.replace("green}", f"green,{LONG}}}") + "blue,3.5,1,b\n" * 150),
    "columns.csv": lambda path: path.write_text(",".join(f"x{j}" for j in range(300)) + "\n" + "1," * 299 + "1\n"),
    "short-rows.csv": lambda path: path.write_text("label," + ",".join("abcdefgh") + "\n" + "0\n1\n" * 8000),
    "text.csv.gz": lambda path: TEXTS.to_csv(path, index=False),
    "far.libsvm": lambda path: path.write_text("1 1:1\n-1 4900:1\n"),
    "labels.npz": lambda path: np.savez_compressed(path, X=np.ones((11_000, 1)), y=np.ones(11_000, np.int8)),
}
"""File that is small beside what it takes in the memory -> how it is written."""


@pytest.mark.parametrize("name", BOMBS)
def test_what_a_small_file_expands_to_is_refused_before_it_is_made(tmp_path, monkeypatch, name):
    BOMBS[name](tmp_path / name)
    assert (tmp_path / name).stat().st_size < 120_000
    monkeypatch.setenv("FSOPT_DATA_LIMIT", "1e-3")
    with pytest.raises(DataError, match=r"would take more than .* GB of memory, beyond the limit of 0.001 GB"):
        load_samples(tmp_path / name)
    monkeypatch.setenv("FSOPT_DATA_LIMIT", "1")
    assert load_samples(tmp_path / name).held.shape[0]


def test_texts_of_a_dictionary_are_held_once(tmp_path):
    TEXTS.to_parquet(tmp_path / "t.parquet", index=False)
    held = load_samples(tmp_path / "t.parquet").held["a"]
    assert held.map(id).nunique() == 2
    assert held[:2].tolist() == [LONG, "y"]


def test_a_compressed_file_is_held_once_and_the_limit_is_a_number_of_gigabytes(monkeypatch):
    content = gzip.compress(bytes(8_000_000))
    tracemalloc.start()
    assert len(unpacked(content, "it")) == 8_000_000
    assert tracemalloc.get_traced_memory()[1] < 12_000_000
    tracemalloc.stop()
    for wrong in ("much", "nan", "inf"):
        monkeypatch.setenv("FSOPT_DATA_LIMIT", wrong)
        with pytest.raises(ParameterError, match="FSOPT_DATA_LIMIT is"):
            unpacked(content, "it")
