"""What a table leaves open is asked at once, and what is left out or taken for the same is said."""

import datetime
import pickle
import warnings
import zipfile

import numpy as np
import pandas as pd
import pytest
from support import written

import fsopt
from fsopt.common.texts import CONTROL
from fsopt.data import load_samples
from fsopt.data.tables.layout import Layout
from fsopt.errors import DataError, ParameterError, TableError

N = 24
"""Rows, of which every other one is ill."""
ILL = ["yes", "no"] * (N // 2)


def told(source, **keywords):
    """Return a data set, and the sentences on it."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        data = fsopt.load_dataset(source, **keywords)
    return data, [str(one.message).partition(": ")[2] for one in found]


def answered(source, **keywords):
    """Return what is asked of a table, and the data set that the answers proposed there give."""
    with pytest.raises(TableError) as caught:
        told(source, **keywords)
    return caught.value, *told(source, **{**keywords, **caught.value.answers})


def columns(path, **cells):
    """Write a table with the column ill behind others, each a list of texts that is repeated."""
    rows = [";".join([*(cell[i % len(cell)] for cell in cells.values()), ILL[i]]) for i in range(N)]
    return written(path.parent, path.name, "\n".join([";".join([*cells, "ill"]), *rows]) + "\n")


def test_one_message_asks_everything_and_proposes_answers_that_do(tmp_path):
    marks = [f"M-{i}" for i in range(N)]
    cells = {"nr": marks, "crp": ["<0,5", "3,5", "1,25"], "sex": ["m", "f", ""], "none": [""], "age": ["50", "", "61"]}
    path = columns(tmp_path / "t.csv", **cells)
    error, data, said = answered(path)
    assert error.answers == {
        "target": "ill",
        "numbers": ["crp"],
        "onehot": True,
        "drop": ["none"],
        "missing": "median",
    }
    for part in ("5 questions", "(1) there is no column 'label'", "'<0.5' is not a number", "'m' is not a number"):
        assert part in error.message
    assert "for example target='ill', numbers=['crp'], onehot=True" in str(error)
    assert (data.n, data.features) == (N, ("crp", "sex=m", "age"))
    assert data.X[:3].tolist() == [[0.5, 1, 50], [3.5, 0, 55.5], [1.25, 0, 61]]
    assert said[1] == "column 'crp': 8 texts are numbers, such as 0.5 for '<0.5'"
    assert "'nr' (24 different texts in 24 rows, such as 'M-0')" in said[2]
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.answers) == (str(error), error.answers)


def test_a_number_that_may_be_two_is_one_of_the_questions(tmp_path):
    path = columns(tmp_path / "t.csv", cost=["1,234", "5,678"], sex=["m", "f"])
    error, data, _ = answered(path)
    assert error.answers == {"decimal": ",", "target": "ill", "onehot": True}
    assert "'1,234' may be 1.234 or 1234: say which: decimal=',' or thousands=','" in error.message
    assert data.X[:2, 0].tolist() == [1.234, 5.678]
    assert told(path, target="ill", onehot=True, thousands=",")[0].X[:2, 0].tolist() == [1234, 5678]
    with pytest.raises(TableError, match="'1,234' may be"):
        load_samples(path, layout=Layout("ill"))
    data, _ = told(columns(tmp_path / "t.csv", cost=["1'234,5", "999,125"]), target="ill")
    assert data.X[:2, 0].tolist() == [1234.5, 999.125]


def test_one_of_several_classes_is_proposed_with_the_rest(tmp_path):
    frame = pd.DataFrame({"a": range(9), "kind": list("abbcccccc"), "size": [1.0, None] * 4 + [2.0]})
    with pytest.raises(TableError) as caught:
        fsopt.Dataset.from_frame(frame, target="kind")
    assert caught.value.answers == {"positive": ["a"], "missing": "median"}
    with pytest.raises(TableError, match="9 found") as caught:
        fsopt.Dataset.from_frame(frame.assign(kind=[*map(str, range(9))]), target="kind")
    many = frame.loc[[0] * 30].assign(kind=np.arange(30))
    with pytest.raises(TableError, match="30 found") as caught:
        fsopt.Dataset.from_frame(many, target="kind", missing="mean")
    assert caught.value.answers == {}


@pytest.mark.parametrize(
    ("cells", "numbers", "said"),
    [
        (["5 %", "12 %", "7"], [5, 12, 7], "16 texts are numbers, such as 5 for '5 %'"),
        (["> 90", "50", "60"], [90, 50, 60], "8 texts are numbers, such as 90 for '> 90'"),
        (["3 mg", "1,5 mg", "0,25 mg"], [3, 1.5, 0.25], "24 texts are numbers, such as 3 for '3 mg'"),
        (
            ["1.250 µl", "2.500.000 µl", "3,5 µl"],
            [1250, 2.5e6, 3.5],
            "24 texts are numbers, such as 1250 for '1250 µl'",
        ),
        (["≤ 0,5", "1", "2"], [0.5, 1, 2], "8 texts are numbers, such as 0.5 for '≤ 0.5'"),
        (["$ 3", "$1.250.000", "2"], [3, 1.25e6, 2], "16 texts are numbers, such as 3 for '$ 3'"),
        (["\u22123 mg", "\u22121,5 mg", "2"], [-3, -1.5, 2], "16 texts are numbers, such as -3 for '-3 mg'"),
        (["n.b.", "1", "2"], [np.nan, 1, 2], "texts without one are missing values: 'n.b.'"),
        (["ca. 4", "1 g", "2"], [np.nan, 1, 2], "8 texts are numbers, such as 1 for '1 g', texts without one are "),
    ],
)
def test_numbers_in_texts(tmp_path, cells, numbers, said):
    path = columns(tmp_path / "t.csv", a=["0,5", "1,5"], value=cells)
    error, data, sentences = answered(path, target="ill")
    assert error.answers == {"numbers": ["value"]} | ({"missing": "median"} if np.isnan(numbers[0]) else {})
    assert np.allclose(np.nan_to_num(numbers, nan=1.5), data.X[:3, 1])
    assert sentences[1].startswith(f"column 'value': {said}")
    samples = load_samples(path, layout=Layout("ill", numbers=("value", "elsewhere")))
    assert np.array_equal(samples.X[:3, 1], numbers, equal_nan=True)


def test_a_frame_says_the_same():
    frame = pd.DataFrame({"a": ["<1", "2", "3", "4"], "ill": ["yes", "no", None, "no"]})
    with pytest.warns(UserWarning, match="label|numbers") as found:
        data = fsopt.Dataset.from_frame(frame, target="ill", numbers="a")
    assert data.X.ravel().tolist() == [1, 2, 4]
    assert [str(one.message) for one in found] == [
        "1 of 4 rows have no label and are left out: 3",
        "column 'a': 1 texts are numbers, such as 1 for '<1'",
    ]
    assert {one.filename for one in found} == {__file__}


@pytest.mark.parametrize(
    ("cells", "fault"),
    [
        (["3 mg", "1 g"], "column 'value' has numbers with several units: 'g', 'mg'"),
        (["much", "more"], "column 'value' has no numbers: 'much', 'more'"),
        (["1,5", "2.5"], r"row 2 .*column 'value': '2.5' has a point"),
    ],
)
def test_what_is_no_column_of_numbers(tmp_path, cells, fault):
    with pytest.raises(DataError, match=fault):
        told(columns(tmp_path / "t.csv", value=cells), target="ill", numbers="value", decimal=",")


@pytest.mark.parametrize("cells", [["<40", "40-59", ">60"], ["3a", "3b", "4a"], ["I", "II", "IV"]])
def test_categories_with_digits_are_no_numbers(tmp_path, cells):
    error, data, _ = answered(columns(tmp_path / "t.csv", value=cells), target="ill")
    assert error.answers == {"onehot": True}
    assert data.p == 3


@pytest.mark.parametrize("prefix", ["", "pain="])
def test_ordered_words_are_their_places(tmp_path, prefix):
    path = columns(tmp_path / "t.csv", pain=["gar nicht", "stark", "wenig", ""], smokes=["nein", "ja", "nie"])
    order = f"{prefix}gar nicht < wenig<stark"
    data, _ = told(path, target="ill", order=order, onehot=True, missing="indicator")
    assert data.features == ("pain", "pain missing", "smokes=ja", "smokes=nein", "smokes=nie")
    assert data.X[:3, 0].tolist() == [0, 2, 1]
    fit = fsopt.fit("svm", data)
    samples = load_samples(path, layout=Layout("ill"))
    assert np.array_equal(fit.decision_function(samples), fit.decision_function(data))
    frame = pd.read_csv(path, sep=";")
    one = frame.assign(pain=pd.Categorical(frame["pain"], ["gar nicht", "wenig", "stark"], ordered=True))
    own = fsopt.Dataset.from_frame(one, target="ill", encode="onehot", missing="indicator")
    assert np.array_equal(own.X, data.X), "an ordered category says its order itself"
    assert np.array_equal(fit.decision_function(frame), fit.decision_function(one))
    with pytest.raises(DataError, match="column 'pain' has 'very', its words are gar nicht < wenig < stark"):
        fit.predict(frame.assign(pain="very"))


@pytest.mark.parametrize(
    ("order", "error", "fault"),
    [
        ("gar nicht<stark", DataError, "column 'pain' has 'wenig' beside the words of order="),
        ("low<high", DataError, "no column of texts has the words of order='low<high'"),
        ("smokes=a<b", DataError, "column 'smokes' has 'ja', 'nein', 'nie' beside"),
        ("stark", ParameterError, "the order is 'stark'"),
        ("a<b<a", ParameterError, "the order is 'a<b<a'"),
        ("a<<b", ParameterError, "the order is 'a<<b'"),
    ],
)
def test_an_order_that_is_none(tmp_path, order, error, fault):
    path = columns(tmp_path / "t.csv", pain=["gar nicht", "stark", "wenig"], smokes=["nein", "ja", "nie"])
    with pytest.raises(error, match=fault):
        told(path, target="ill", order=order)


@pytest.mark.parametrize(
    ("labels", "positive", "classes", "y"),
    [
        (["Ja", "ja ", "nein", "Nein", "ja", "nein"], None, ("ja", "nein"), [-1, -1, 1, 1, -1, 1]),
        (["Ja", "nein"], "ja", ("nein", "Ja"), [1, -1]),
        (["Ja", "ja", "nein", "vielleicht"], "ja", ("not Ja", "Ja"), [1, 1, -1, -1]),
        (["A", "a"], None, ("A", "a"), [-1, 1]),
        (["A", "a"], "A", ("a", "A"), [1, -1]),
    ],
)
def test_labels_that_differ_in_case_alone(labels, positive, classes, y):
    data, said = told(pd.DataFrame({"a": range(len(labels)), "label": labels}), positive=positive)
    assert (data.labels, data.y.tolist()) == (classes, y)
    assert len(said) == (len(labels) > 2)


TABLE = "a;b;ill\n1,5;2;yes\n2,5;3;no\n"
X = [[1.5, 2.0], [2.5, 3.0]]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Study of 3.4.2026, confidential\n\n" + TABLE, "left out, above the header: 2 lines"),
        ("Study;;\n;;\n" + TABLE, "left out, above the header: 2 lines"),
        ("sep=;\n" + TABLE, "left out, above the header: 1 lines"),
        (TABLE + "\nTotal: 2 rows\nAs of 3.4.2026\n", "the last line is left out: 'Total: 2 rows'"),
        (TABLE + "Total;5;\n", "1 of 3 rows have no label and are left out: 3"),
        (TABLE.replace("a;", '"a\n";'), ""),
        (TABLE.replace("\n", ";;\n"), ""),
        (";" + TABLE.replace("\n1,5", "\nr1;1,5").replace("\n2,5", "\nr2;2,5"), "the first column, which has no name"),
        (TABLE.replace("\n1,5", "\nr1;1,5").replace("\n2,5", "\nr2;2,5"), "the first column, which has no name"),
        ('"a" "b" "ill"\n"1" 1.5 2 "yes"\n"2" 2.5 3 "no"\n', "the first column, which has no name"),
    ],
)
def test_what_is_around_a_table(tmp_path, text, said):
    data, sentences = told(written(tmp_path, "t.csv", text), target="ill")
    assert (data.features, data.X.tolist()) == (("a", "b"), X)
    assert any(one.startswith(said) for one in sentences)


@pytest.mark.parametrize("separator", [";", "\t"])
@pytest.mark.parametrize("below", ["", "As of: today\n"])
def test_names_with_commas_are_names_also_above_a_remark(tmp_path, separator, below):
    text = '"a, b";"c, d";"ill"\n"-1,5 %";"2";"yes"\n"-2,5 %";"3";"no"\n' + below
    path = written(tmp_path, "t.csv", text.replace(";", separator))
    error, data, _ = answered(path, target="ill")
    assert error.answers == {"numbers": ["a, b"]}
    assert (data.features, data.X.tolist()) == (("a, b", "c, d"), [[-1.5, 2], [-2.5, 3]])


def test_a_free_text_of_several_lines_is_one_cell(tmp_path):
    rows = "".join(f'{i};"first\nsecond; {i}";{ILL[i]}\n' for i in range(N))
    data, said = told(written(tmp_path, "t.csv", "a;notes;ill\n" + rows), target="ill")
    assert (data.n, data.features) == (N, ("a",))
    assert "'notes' (24 different texts" in said[-1]


def test_columns_of_the_same_name_can_be_left_out(tmp_path):
    path = written(tmp_path, "t.csv", TABLE.replace("b", "b;b").replace("2;", "2;2;").replace("3;", "3;3;"))
    error, data, _ = answered(path, target="ill")
    assert "duplicate feature names: b" in error.message
    assert data.features == ("a",)


def test_a_column_without_name_and_a_row_that_was_cut_are_refused(tmp_path):
    for text, fault in (
        ("a;;ill\n1;2;yes\n3;4;no\n", "column 2 has values and no name"),
        (TABLE + "3", "has 1 fields"),
    ):
        with pytest.raises(DataError, match=fault):
            told(written(tmp_path, "t.csv", text), target="ill")


@pytest.mark.parametrize(
    ("cells", "days"),
    [
        (["03/18/2026", "04/01/2026"], [77, 91]),
        (["18/03/2026", "01/04/2026"], [77, 91]),
        (["2026/3/18", "2026/4/1"], [77, 91]),
        (["2026-03-18T12:00:00Z", "2026-04-01T00:00Z"], [77.5, 91]),
    ],
)
def test_dates_with_slashes_and_times(tmp_path, cells, days):
    first = np.datetime64("2025-12-31").astype(int)
    data, _ = told(columns(tmp_path / "t.csv", day=cells), target="ill")
    assert (data.X[:2, 0] - first).tolist() == days
    with pytest.raises(DataError, match="column 'day': '03/04/2026' may be 2026-04-03 or 2026-03-04"):
        told(columns(tmp_path / "t.csv", day=["03/04/2026", "01/01/2026"]), target="ill")


def test_unicode_text_and_archives(tmp_path):
    text = TABLE.replace(";", "\t").replace("\n", "\r\n").encode("utf-16")
    (tmp_path / "t.txt").write_bytes(text)
    with zipfile.ZipFile(tmp_path / "t.zip", "w") as archive:
        archive.writestr("folder/t.txt", text)
        archive.writestr("__MACOSX/._t.txt", "")
    for name in ("t.txt", "t.zip"):
        data, said = told(tmp_path / name, target="ill")
        assert (data.X.tolist(), data.name, said) == (X, "t", ["read as utf-16, tab, decimal ','"])
    with zipfile.ZipFile(tmp_path / "t.zip", "a") as archive:
        archive.writestr("b.csv", TABLE)
    with pytest.raises(DataError, match=r"2 data files, it holds folder/t.txt, b.csv: unpack it"):
        told(tmp_path / "t.zip", target="ill")
    for content in (b"", b"PK\x03\x04 broken"):
        (tmp_path / "t.zip").write_bytes(content)
        with pytest.raises(DataError, match=r"no \.zip archive, or damaged"):
            told(tmp_path / "t.zip", target="ill")


def workbook(path, **sheets):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def test_the_sheet_with_the_target_and_the_row_of_names_are_found(tmp_path):
    day = datetime.datetime(2026, 3, 31)
    hour = datetime.time(8, 30)
    rows = [["a", "day", "text", "hour", "ill"], *[[i / 2, day, f"{i},5", hour, ILL[i]] for i in range(N)]]
    title = [["Study of 2026"], ["confidential", None, None, None], []]
    path = workbook(tmp_path / "t.xlsx", Cover=[["Note"], ["see Data"]], Data=[*title, *rows], Other=rows[:9])
    data, said = told(path, target="ill", onehot=True)
    assert (data.n, data.features) == (N, ("a", "day", "text", "hour=08:30:00"))
    assert data.X[3].tolist() == [1.5, 20543, 3.5, 1]
    assert said == [
        "read as sheet 'Data' of 'Cover', 'Data', 'Other'",
        "left out, above the names of the columns: 2 rows",
    ]
    assert told(path, target="ill", sheet="Other", drop="hour")[0].n == 8
    assert load_samples(path, layout=Layout("absent", sheet="Other")).n == 8
    with pytest.raises(DataError, match="there is no sheet 'data': name one with sheet=: 'Cover', 'Data', 'Other'"):
        told(path, target="ill", sheet="data")
    with pytest.raises(DataError, match="sheet 'Cover' is empty"):
        told(workbook(path, Cover=[]), target="ill")


def test_a_row_of_totals_makes_no_texts_of_numbers(tmp_path):
    rows = [[None, "a", "b", "ill"], *[[None, i / 2, i, ILL[i]] for i in range(N)], [None, "Total", 99, None]]
    data, said = told(workbook(tmp_path / "t.xlsx", Data=[[], *rows]), target="ill")
    assert data.features == ("a", "b")
    assert said == ["1 of 25 rows have no label and are left out: 25"]


NUMBERS = pd.DataFrame({"a": [1.5, 2.0, -1.0, 0.5], "b": [1, 2, 3, 4]})


@pytest.mark.parametrize("backend", ["numpy_nullable", "pyarrow"])
def test_nullable_and_arrow_columns_are_numbers(backend):
    if backend == "pyarrow":
        pytest.importorskip("pyarrow")
    frame = NUMBERS.convert_dtypes(dtype_backend=backend)
    data = fsopt.Dataset(frame, [1, -1, 1, -1])
    assert (data.features, data.X.tolist()) == (("a", "b"), NUMBERS.to_numpy().tolist())
    assert fsopt.fit("svm", frame, pd.Series([1, 0, 1, 0]).convert_dtypes(dtype_backend=backend)).features
    frame.loc[2, "a"] = None
    with pytest.raises(DataError, match="1 missing value in row 3, column 'a'"):
        fsopt.Dataset(frame, [1, -1, 1, -1])
    with pytest.raises(DataError, match=r"column 'c' of X is of type .*load_dataset\(frame"):
        fsopt.Dataset(frame.assign(c="x"), [1, -1, 1, -1])


def test_an_index_of_samples_and_labels_that_differs_is_said():
    labels = pd.Series([1, -1, 1, -1])
    with pytest.raises(DataError, match=r"same index in another order: give y.loc\[X.index\]"):
        fsopt.Dataset(NUMBERS, labels[::-1])
    with pytest.warns(UserWarning, match="differ in their index, and are taken by position"):
        assert fsopt.Dataset(NUMBERS, labels.set_axis(range(4, 8))).y.tolist() == [1, -1, 1, -1]
    assert fsopt.Dataset(NUMBERS.to_numpy(), labels[::-1]).y.tolist() == [-1, 1, -1, 1]


def test_what_is_asked_and_said_of_a_file_is_on_one_line_and_commands_no_terminal(tmp_path):
    rows = "".join(f'{i},"{i % 3}\n\x1b[2J<",{i % 2}\n' for i in range(N))
    path = written(tmp_path, "t.csv", f'a,"b\x1b[31m",label\n{rows}')
    error, data, _ = answered(path)
    assert "'b\\x1b[31m': '0\\x0a\\x1b[2J<' is not a number" in str(error)
    assert data.p == 4
    marks = "".join(f"{i},M\x1b-{i},{i % 2}\n" for i in range(N))
    _, said = told(written(tmp_path, "marks.csv", f"a,b\x1b[31m,label\n{marks}"), onehot=True)
    assert "M\\x1b-0" in said[0]
    assert CONTROL.search(repr(error) + str(error) + "".join(said)) is None
