"""Files as people have them: encodings, separators, decimal commas, thousands, dates, workbooks, frames of polars."""

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from support import written

import fsopt
from fsopt.data import load_samples
from fsopt.data.tables.layout import Layout
from fsopt.data.tables.spelling import Spelling
from fsopt.errors import DataError

NUMBERS = np.array([[1.5, 1234.0], [-0.25, 1234567.5], [1200.125, 12.0], [0.0, 3000000.0]])
NAMES = ("Größe (cm)", "Anteil %")
LABELS = ["ja", "nein", "nein", "ja"]


def spell(value: float, decimal: str, thousands: str) -> str:
    text = f"{value:,.10f}".rstrip("0").rstrip(".")
    return text.translate(str.maketrans({",": thousands, ".": decimal}))


def table(separator: str, decimal: str, thousands: str, end: str = "\n") -> str:
    """Return a table of NUMBERS, in quotes where a mark is the separator."""
    lines = [separator.join([*NAMES, "krank"])]
    for row, label in zip(NUMBERS, LABELS, strict=True):
        cells = [spell(value, decimal, thousands) for value in row]
        quoted = [f'"{cell}"' if separator in cell else cell for cell in cells]
        lines.append(separator.join([*quoted, label]))
    return end.join(lines) + end


def told(path: Path, **keywords: object) -> tuple[fsopt.Dataset, str]:
    """Return a data set and the sentence on its spelling, empty where there is none."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        data = fsopt.load_dataset(path, target="krank", **keywords)
    return data, " ".join(str(one.message) for one in found)


@pytest.mark.parametrize(
    ("decimal", "thousands"), [(",", "."), (".", ","), (".", ""), (",", ""), (".", "'"), (",", "\xa0")]
)
@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_every_spelling_of_the_same_numbers_is_the_same_table(tmp_path, decimal, thousands, separator):
    path = tmp_path / "t.csv"
    for encoding in ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp1252"):
        path.write_bytes(table(separator, decimal, thousands).encode(encoding))
        data, sentence = told(path)
        assert (data.features, data.labels) == (NAMES, ("ja", "nein")), encoding
        assert data.X.tolist() == NUMBERS.tolist(), encoding
        code = {"utf-8-sig": "utf-8"}.get(encoding, encoding)
        usual = (code, separator, decimal, thousands) == ("utf-8", ",", ".", "")
        assert sentence == ("" if usual else f"t.csv: read as {Spelling(code, separator, decimal, thousands)}")
        given = told(path, encoding=encoding, sep=separator, decimal=decimal, thousands=thousands)
        assert (given[0].X.tolist(), given[1]) == (NUMBERS.tolist(), ""), encoding


@pytest.mark.parametrize("end", ["\r\n", "\r"])
@pytest.mark.parametrize("name", ["t.csv.gz", "t.tsv"])
def test_ends_of_lines_compression_and_suffixes_change_nothing(tmp_path, name, end):
    data, sentence = told(written(tmp_path, name, table(";", ",", ".", end)))
    assert data.X.tolist() == NUMBERS.tolist()
    assert sentence == f"{name}: read as utf-8, ';', decimal ',', thousands '.'"


def test_an_empty_first_cell_below_a_blank_line_stays_where_it_is(tmp_path):
    for end in ("\n", "\r\n", "\r"):
        samples = load_samples(written(tmp_path, "t.csv", end.join(["a,b,label", "1,2,1", "", ",3,0", "4,5,1"])))
        assert np.array_equal(samples.X, [[1, 2], [np.nan, 3], [4, 5]], equal_nan=True), end
        assert samples.labels == ["1", "0", "1"], end


def test_an_unquoted_last_label_tells_no_decimal_comma(tmp_path):
    data, sentence = told(written(tmp_path, "t.csv", 'a,b,krank\n5 913,"x",1\n1 234,"y",0'), onehot=True)
    assert data.X[:, 0].tolist() == [5913, 1234]
    assert "thousands ' '" in sentence


@pytest.mark.parametrize(("separator", "decimal"), [(",", "."), (";", ",")])
def test_what_pandas_writes_is_read_again(tmp_path, separator, decimal):
    rng = np.random.default_rng(3)
    for _ in range(10):
        frame = pd.DataFrame(rng.standard_normal((8, 3)) * 10.0 ** rng.integers(-99, 99, 3), columns=list("abc"))
        frame["krank"] = ["x", "y"] * 4
        data, _ = told(written(tmp_path, "t.csv", frame.to_csv(index=False, sep=separator, decimal=decimal)))
        assert np.array_equal(data.X, frame[list("abc")].to_numpy())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a;krank\n1,234;1\n5,678;0\n", r"line 2: '1,234' may be 1\.234 or 1234: .*decimal=',' or thousands=','"),
        ("a;krank\n2;1\n1.234;0\n", r"line 3: '1\.234' may be 1\.234 or 1234: .*decimal='\.' or thousands='\.'"),
        ("a;b;krank\n1,5;2.5;1\n2,5;3.5;0\n", r"row 1 \(line 2\), column 'a': '1,5' is not a number: decimal="),
        ('a,krank\n"1,234",1\n"5,678",0\n', "line 2: '1,234' may be"),
    ],
)
def test_a_number_that_may_be_two_is_not_guessed(tmp_path, text, message):
    with pytest.raises(DataError, match=message):
        told(written(tmp_path, "t.csv", text))


def test_what_is_said_is_not_looked_for(tmp_path):
    path = written(tmp_path, "t.csv", "a;krank\n1,234;1\n5,678;0\n")
    assert told(path, decimal=",", sep=";")[0].X.ravel().tolist() == [1.234, 5.678]
    assert told(path, thousands=",")[0].X.ravel().tolist() == [1234.0, 5678.0]
    path = written(tmp_path, "t.csv", "a;b;krank\n1,5;2,5;1\n2,5;3.5;0\n")
    with pytest.raises(DataError, match=r"row 2 \(line 3\), column 'b': '3\.5' has a point, the decimal mark .* ','"):
        fsopt.load_dataset(path, target="krank", decimal=",")


def test_commas_in_names_are_no_separators(tmp_path):
    text = "Gewicht, nüchtern;Länge, liegend;krank\n1,5;2,5;1\n2,5;3,5;0\n"
    data, _ = told(written(tmp_path, "t.csv", text))
    assert data.features == ("Gewicht, nüchtern", "Länge, liegend")
    assert data.X.tolist() == [[1.5, 2.5], [2.5, 3.5]]
    data, _ = told(written(tmp_path, "t.csv", "a,krank\n1.234,1\n5.678,0\n"))
    assert data.X.ravel().tolist() == [1.234, 5.678], "a point between commas is no doubt"


def test_a_wrong_encoding_is_refused(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes("größe,krank\n1,1\n2,0\n".encode("cp1252"))
    for encoding, message in (("utf8", "the file is not utf8 text"), ("runes", "'runes' is no encoding: encoding=")):
        with pytest.raises(DataError, match=message):
            fsopt.load_dataset(path, target="krank", encoding=encoding)


def test_dates_whose_day_comes_first(tmp_path):
    text = "am;um;krank\n31.12.2025;1.2.2026 12:00;1\n01.01.2026;02.02.2026 06:00;0\n;3.2.2026 00:00;1\n"
    data, _ = told(written(tmp_path, "t.csv", text), missing="median")
    first = np.datetime64("2025-12-31").astype(int)
    assert data.X[:2, 0].tolist() == [first, first + 1]
    assert data.X[:, 1].tolist() == [first + 32.5, first + 33.25, first + 34]
    with pytest.raises(DataError, match=r"'31\.02\.2026' is not a number"):
        fsopt.load_dataset(written(tmp_path, "t.csv", "am,krank\n31.02.2026,1\n01.01.2026,0\n"), target="krank")


FRAME = pd.DataFrame(
    {
        "Größe (cm)": [170.5, None, 180.0, 165.25],
        "am": pd.to_datetime(["2026-03-31", "2026-04-01", "2026-04-02", "2026-04-03"]),
        "Art": ["x", "y", "x", None],
        "krank": [1, 0, 1, 0],
    }
)


def written_frame(path: Path) -> Path:
    if path.suffix == ".xlsx":
        pytest.importorskip("openpyxl")
        with pd.ExcelWriter(path) as book:
            FRAME.to_excel(book, sheet_name="Werte", index=False)
            FRAME.head(1).to_excel(book, sheet_name="Rest", index=False)
    else:
        pytest.importorskip("pyarrow")
        FRAME.to_feather(path)
    return path


@pytest.mark.parametrize("name", ["t.xlsx", "t.feather"])
def test_workbooks_and_feather_files_are_the_frame_they_were_made_of(tmp_path, name):
    path = written_frame(tmp_path / name)
    data, sentence = told(path, onehot=True, missing="median")
    frame = fsopt.Dataset.from_frame(FRAME, target="krank", onehot=True, missing="median")
    assert (data.features, data.y.tolist(), data.X.tolist()) == (frame.features, frame.y.tolist(), frame.X.tolist())
    assert sentence == ("t.xlsx: read as sheet 'Werte' of 'Werte', 'Rest'" if name == "t.xlsx" else "")
    assert load_samples(path, layout=Layout("Art")).labels == ["x", "y", "x", ""]
    whole = path.read_bytes()
    for content in (whole[: len(whole) // 2], b"", b"a,krank\n1,1\n2,0\n"):
        path.write_bytes(content)
        with pytest.raises(DataError, match="or damaged"):
            fsopt.load_dataset(path, target="krank")


def test_a_workbook_has_empty_rows_and_columns_and_names_for_the_others(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    path, book = tmp_path / "t.xlsx", openpyxl.Workbook()
    for row in (["a", None, "krank"], [1.5, None, "nein"], [None, None, None], [2.5, None, "ja"]):
        book.active.append(row)
    book.save(path)
    data = fsopt.load_dataset(path, target="krank", positive="ja")
    assert (data.X.tolist(), data.y.tolist()) == ([[1.5], [2.5]], [-1.0, 1.0])
    book.active["B2"] = 3
    book.save(path)
    with pytest.raises(DataError, match="column 2 has values and no name"):
        fsopt.load_dataset(path, target="krank")


def test_two_cells_at_the_ends_of_a_sheet_are_no_table_of_17_billion_cells(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    path, book = tmp_path / "t.xlsx", openpyxl.Workbook()
    book.active["XFD1"] = book.active["A1048576"] = 1
    book.save(path)
    with pytest.raises(DataError, match=r"16384 columns and \d+ rows would take more than") as error:
        fsopt.load_dataset(path)
    assert "FSOPT_DATA_LIMIT=" in error.value.hint


@pytest.mark.parametrize("name", ["t.xlsx", "t.feather"])
def test_what_would_not_fit_is_not_expanded(tmp_path, monkeypatch, name):
    path = written_frame(tmp_path / name)
    monkeypatch.setenv("FSOPT_DATA_LIMIT", "1e-7")
    with pytest.raises(DataError, match="more than the limit"):
        fsopt.load_dataset(path, target="krank")


def test_frames_of_polars_are_data_everywhere():
    polars = pytest.importorskip("polars")
    frame = polars.from_pandas(FRAME)
    expected = fsopt.Dataset.from_frame(FRAME, target="krank", onehot=True, missing="median")
    for data in (
        fsopt.Dataset.from_frame(frame, target="krank", onehot=True, missing="median"),
        fsopt.load_dataset(frame, target="krank", onehot=True, missing="median"),
    ):
        assert (data.features, data.X.tolist()) == (expected.features, expected.X.tolist())
    numbers = frame.select("Größe (cm)").fill_null(170.0)
    fit = fsopt.fit("svm", numbers, [1.0, -1.0, 1.0, -1.0])
    assert fit.features == ("Größe (cm)",)
    assert np.array_equal(fit.predict(numbers), fit.predict(numbers.to_pandas()))
