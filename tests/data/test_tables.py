"""Tables as people have them: texts, dates, identifiers, missing values, several classes, and wrong columns."""

import numpy as np
import pandas as pd
import pytest
from support import written

import fsopt
from fsopt.data.splits import train_and_test
from fsopt.data.tables.columns import typed_columns
from fsopt.data.tables.encoding import Encoding
from fsopt.data.tables.layout import Layout
from fsopt.data.tables.readers import load_table
from fsopt.errors import DataError, ParameterError

CSV = """id;color;size;seen;member;kind
p1;red;1.5;2026-01-02;true;a
p2;blue;?;2026-01-03;false;b
p3;green;2.5;2026-01-01;TRUE;a
p4;red;NA;2026-01-05;false;c
p5;;3.5;2026-01-04;true;b
"""


def frame_of(text=CSV):
    from io import StringIO

    frame = pd.read_csv(StringIO(text), sep=";", na_values=["?"])
    return frame.assign(seen=pd.to_datetime(frame["seen"]), color=frame["color"].astype("category"))


@pytest.mark.parametrize("missing", ["mean", "median", "indicator"])
def test_a_file_and_its_frame_give_the_same_features(tmp_path, missing):
    path = written(tmp_path, "t.csv", CSV)
    at = {"target": "kind", "positive": ["a", "c"], "id": "id", "missing": missing}
    from_file = fsopt.load_dataset(path, **at, sep=";", onehot=True)
    from_frame = fsopt.Dataset.from_frame(frame_of(), **at, encode="onehot")
    assert from_file.features == from_frame.features
    assert np.array_equal(from_file.X, from_frame.X)
    assert (from_file.y.tolist(), from_file.labels) == ([1, -1, 1, 1, -1], ("b", "a|c"))
    features = dict(zip(from_file.features, from_file.X.T.tolist(), strict=True))
    assert features["seen"] == [20455.0, 20456.0, 20454.0, 20458.0, 20457.0]  # days since 1970-01-01
    assert features["member"] == [1, 0, 1, 0, 1]
    assert features["size"] == [1.5, 2.5, 2.5, 2.5, 3.5]
    last = 0.0 if missing == "indicator" else 1.0
    assert features["color=red"] == [1, 0, 0, 1, last]
    if missing == "indicator":
        assert features["size missing"] == [0, 1, 0, 1, 0]
        assert features["color missing"] == [0, 0, 0, 0, 1]


def test_columns_are_chosen_in_the_order_of_the_file(tmp_path):
    path = written(tmp_path, "t.csv", "a,b,c,label\n1,x,2,0\n3,y,4,1\n")
    assert fsopt.load_dataset(path, columns=["c", "a"]).features == ("a", "c")
    assert fsopt.load_dataset(path, drop="b").X.tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize(
    ("text", "keywords", "message"),
    [
        (
            "a,b,label\n1,x,0\n2,y,1\n3,z,1\n",
            {},
            r"row 1 \(line 2\), column 'b': 'x' is not a number .*2, 3.*onehot=True makes",
        ),
        (
            "a,b,label\n1,2,0\n2,y,1\n3,4,1\n",
            {"onehot": True},
            r"row 2 \(line 3\), column 'b': 'y' is not .*numbers=.*missing values: 'y'",
        ),
        ("a,label\n1,u\n2,v\n3,w\n", {}, r"exactly two different values, 3 found: .*positive= makes.*positive=\['u'\]"),
        ("a,label\n1,u\n2,v\n3,w\n", {"positive": "x"}, "no sample has the label 'x': .*'u', 'v', 'w'"),
        ("a,label\n1,u\n2,v\n", {"positive": ["u", "v"]}, "every label is positive"),
        ("a,b,label\n1,2,0\n3,4,1\n", {"drop": "aa"}, "no column 'aa' .*drop=.*: a"),
        ("a,b,label\n1,2,0\n3,4,1\n", {"columns": "a", "drop": "a"}, "asked for and left out"),
        ("a,b,label\n1,,0\n3,,1\n", {"missing": "median"}, "column 'b' has no value at all"),
        ("a;b;label\n1;2;0\n3;4;1\n", {"sep": ","}, "the header has one column.*sep="),
        ("a,w,label\n1,2,0\n3,x,1\n", {"weights": "w"}, r"row 2 \(line 3\), column 'w': 'x' is no weight"),
    ],
)
def test_a_wrong_table_is_named(tmp_path, text, keywords, message):
    with pytest.raises(DataError, match=message):
        fsopt.load_dataset(written(tmp_path, "t.csv", text), **keywords)


def test_an_identifier_is_no_category(tmp_path):
    rows = "".join(f"{i},u{i},{i % 2}\n" for i in range(40))
    path = written(tmp_path, "t.csv", "a,u,label\n" + rows)
    for onehot in (False, True):
        with pytest.warns(UserWarning, match=r"t.csv: left out, .*option id.*'u' \(40 different texts in 40 rows"):
            assert fsopt.load_dataset(path, onehot=onehot).features == ("a",)
    assert fsopt.load_dataset(path, id="u").features == ("a",)
    with pytest.raises(DataError, match="column 'u': 'u0' is not a number"):
        fsopt.load_dataset(path, columns=["a", "u"])


@pytest.mark.parametrize(
    "wrong",
    [
        {"sep": ";;"},
        {"decimal": ";"},
        {"thousands": "000"},
        {"thousands": ",", "decimal": ","},
        {"encoding": 8},
        {"missing": "most"},
        {"onehot": 1},
        {"id": 3},
        {"label": "a", "target": "b"},
    ],
)
def test_a_wrong_keyword_is_refused(wrong):
    with pytest.raises(ParameterError):
        Layout.of(**{"label": "label", "target": None, **wrong})


def test_the_layout_survives_its_record():
    layout = Layout("y", ("a",), ("b", "c"), (), "id", True, "tab", "mean", "w", (("a", 2.0),))
    assert Layout.saved({"layout": layout.stated}) == layout
    assert Layout.saved({}) == Layout()


def test_training_samples_alone_tell_substitutes_and_categories():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.standard_normal(40), "u": rng.choice(["a", "b", "c"], 40), "label": [0, 1] * 20})
    frame.loc[::5, "x"] = np.nan
    frame.loc[3, "u"] = "rare"
    data = fsopt.Dataset.from_frame(frame, target="label", encode="onehot", missing="mean")
    held_out = np.array([3, 5, 6, 8])
    train, test = train_and_test(data, held_out)
    rest = frame.drop(index=held_out)
    assert train.features == ("x", "u=a", "u=b", "u=c"), "the rare text is not in the training samples"
    assert np.allclose(test.X[1, 0], rest["x"].mean())
    assert test.X[0, 1:].tolist() == [0, 0, 0]
    moved = frame.copy()
    moved.loc[held_out, "x"] = 1e6
    again, _ = train_and_test(
        fsopt.Dataset.from_frame(moved, target="label", encode="onehot", missing="mean"), held_out
    )
    assert np.array_equal(again.X, train.X), "the samples to be tested have no influence"


def test_an_encoding_is_the_same_after_its_record():
    source = typed_columns(frame_of()[["color", "size", "seen"]])
    for missing in ("mean", "indicator"):
        encoding = Encoding.learned(source, missing)
        assert Encoding.of_plain(encoding.plain) == encoding
        assert np.array_equal(Encoding.of_plain(encoding.plain).matrix(source), encoding.matrix(source))


def test_another_kind_of_column_is_refused_in_predictions():
    def columns(**texts):
        return typed_columns(pd.DataFrame(texts))

    encoding = Encoding.learned(columns(seen=["2026-01-01", "2026-01-02"], x=["1", "2"]), "mean")
    with pytest.raises(DataError, match="column 'seen' holds numbers, it held dates in training"):
        encoding.matrix(columns(seen=["1"], x=["2"]))
    with pytest.raises(DataError, match="row 1, column 'x': 'big' is not a number"):
        encoding.matrix(columns(seen=["2026-01-01"], x=["big"]))


def test_a_category_without_any_value_is_named():
    frame = pd.DataFrame({"a": range(4), "u": pd.Categorical([None] * 4, categories=["x"]), "label": [0, 1] * 2})
    for missing in ("mean", None):
        with pytest.raises(DataError, match=r"column 'u' has no value at all.*drop=\['u'\]"):
            fsopt.Dataset.from_frame(frame, target="label", missing=missing)


def test_class_weights_of_a_layout():
    data = load_table(frame_of(), Layout("kind", ("a",), columns=("member",), class_weight="balanced"))
    assert [data.weights[data.y > 0].sum(), data.weights[data.y < 0].sum()] == [2.5, 2.5]
