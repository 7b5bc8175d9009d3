"""What is refused: the call, the kind of the error, its words."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from support import written

import fsopt
from fsopt.data import Dataset, gbd_set_one, gbd_set_two, gmeb_type1, gmeb_type2, load_dataset, mpm_synthetic
from fsopt.data.dataset import random_parts, stratified_folds
from fsopt.data.given import dataset_of
from fsopt.data.hyperplanes import Kernel, loss_of
from fsopt.errors import DataError, ParameterError

X3 = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
Y3 = [1, -1, 1]
DATA = Dataset(X3, Y3)
OUTSIDE = sp.csr_array(X3)
OUTSIDE.indices[0] = 99
FRAME = pd.DataFrame(X3, columns=["age", "size"])
TABLE = pd.DataFrame({"b": [1, 2, 3], "label": [0, 1, 0]})


def numbered(positive, negative):
    return Dataset(np.arange(positive + negative)[:, None], [1.0] * positive + [-1.0] * negative)


PARTS = [
    ({"X": [1.0, 2.0]}, r"in two dimensions; its shape is \(2,\)"),
    ({"X": [["a", "b"]] * 3}, "X is not numeric, its values are of type <U1"),
    ({"X": X3.astype(object)}, "X is not numeric, its values are of type object"),
    ({"X": [[1.0], [1.0, 2.0]]}, "X is not a matrix, its rows differ in length"),
    ({"X": np.zeros((0, 2)), "y": []}, r"at least one sample and one feature, .* its shape is \(0, 2\)"),
    ({"X": sp.csr_array(X3 * 1j)}, "not numeric"),
    ({"X": sp.csr_array((3, 0))}, r"its shape is \(3, 0\)"),
    ({"X": OUTSIDE}, "no valid sparse matrix"),
    ({"X": np.ma.masked_greater(X3, 5.5)}, "X has masked values"),
    ({"y": np.ma.masked_array(Y3, [1, 1, 0])}, "y has masked values"),
    ({"X": [[10**400, 1.0]] * 3}, "X is not numeric"),
    ({"y": [1, -1]}, r"y has shape \(2,\), expected \(3,\) for the 3 samples"),
    ({"y": [[1], [-1], [1]]}, r"y has shape \(3, 1\), expected \(3,\)"),
    ({"y": [[1], [1, 2], [1]]}, "y is not a vector"),
    ({"y": [0, 1, 2]}, "exactly two different values, 3 found: '0', '1', '2': .*make two classes"),
    ({"y": [1, -1, np.nan]}, "y has a value that is no label: nan"),
    ({"y": ["yes", "no", " "]}, "y has a value that is no label: ' '"),
    ({"y": [1, 1, 1]}, "exactly two different values, 1 found: '1': give samples of both classes"),
    ({"X": FRAME, "y": pd.Series(Y3, index=[2, 1, 0])}, r"X and y differ in their index: give y\.loc"),
    ({"features": ("a", "a")}, "there are 2 features .a.:"),
    ({"features": ("a",)}, "there are 1 names for 2 features"),
    ({"features": ("a", " ")}, "a feature has an empty name"),
    ({"features": "ab"}, "features is .ab., not a list of names"),
    ({"labels": ("x", "x")}, "give two different texts"),
    ({"labels": "xy"}, "give two different texts"),
]
ARRAYS = [
    ({"X": X3}, "y is not a file in the archive"),
    ({"x": X3, "Y": X3}, "X is not a file in the archive"),
    ({"X": X3.astype(object), "y": Y3}, "holds objects, as of a DataFrame .*to_parquet"),
    ({"X": X3, "y": Y3, "features": FRAME.columns.astype(object)}, "holds objects, as of a DataFrame"),
    ({"X": X3, "y": Y3, "features": ["a"]}, r"Shape of passed values is \(3, 2\), indices imply \(3, 1\)"),
    ({"X": X3, "y": np.ones((3, 2))}, r"features \(p,\).*numpy: "),
    ({"X": X3, "y": [1, 0]}, r"Length of values \(2\) does not match length of index \(3\)"),
]
LIBSVM = [
    ("1 1:1\n-1 100000000:1\n", "the matrix of 2 samples and 100000000 features .*more than 25 GB"),
    ("1 1:1\n-1 2147483647:1\n", "FSOPT_DATA_LIMIT|beyond"),
    ("1 1:1\n-1 2147483648:1\n", "libsvm format|beyond 2147483647"),
    ("1 1:1\n-1 2:x\n", "not in libsvm format"),
    ("1,2 1:3\n2 1:4\n", "the file is not in libsvm format"),
    ("", "at least one sample"),
]
CSV = [
    ("", {}, "cannot be read .*No columns"),
    ("a,b,label\n", {}, "there is no row"),
    ("a,b,label\n1,2,1\n1,2,3,4\n", {}, "cannot be read"),
    ("a,label,label\n1,2,1\n", {}, "there are 2 columns 'label'"),
    ("label\n1\n0\n", {}, "no column is left"),
    ("a,label\n1,1\n2,1\n", {}, "exactly two different values, 1 found: '1': give samples of both classes"),
    ("a,label\n" + "".join(f"1,{k}\n" for k in range(8)), {}, "8 found: '0', .*'4' and 3 more"),
    ("a,label\n1,u\n2,v\n", {}, "the labels are 'u', 'v', and either may be .1: name .* positive="),
    ("a,label\n1,u\n2,v\n3,w\n", {"positive": "x"}, "no sample has the label 'x': .*'u', 'v', 'w'"),
    ("a,label\n1,u\n2,v\n", {"positive": ["u", "v"]}, "every label is positive"),
    ("a,label\n1,\n2,\n", {}, "every one of the 2 rows has no label"),
    ("a,b,c,label\n1,x,u,0\n2,y,v,1\n", {}, "column 'b' holds texts, such as 'x':"),
    ("a,b,label\n1,2,0\n2,y,1\n3,4,1\n", {"onehot": True}, "would be numbers, such as '2', and 'y' in row 2"),
    ("a,b,label\n1,2,0\n3,4,1\n", {"drop": "aa"}, "no column 'aa' .*drop=; did you mean a"),
    ("a,w,label\n1,2,0\n3,x,1\n", {"weights": "w"}, "column 'w' holds texts, such as '2'"),
    ("a,b,label\n1,,1\n,2,0\n", {"missing": "drop"}, "every one of the 2 rows has a missing value"),
    ("a,label\ninf,1\n-inf,0\n,1\n", {"missing": "mean"}, "X has 3 infinite or missing values"),
]
COLUMNS = [
    ({"a": pd.to_timedelta([1, 2, 3])}, "column 'a' holds Timedelta.*, neither a number nor a text"),
    ({"a": pd.to_datetime(["2026-01-01"] * 3)}, "column 'a' holds Timestamp"),
    ({"a": [[1], [2], [3]]}, r"column 'a' holds \[1\]"),
    ({"a": ["1", "2", "3"]}, "column 'a' holds texts that would be numbers, such as '1'"),
]
KEYWORDS = [{"encoding": 8}, {"missing": "most"}, {"onehot": 1}, {"id": 3}, {"positive": 1j}]
DRAWN = [
    (lambda: gmeb_type1(1, 0), "n is 1: n is a whole number, at least 2"),
    (lambda: gmeb_type1(10.0, 0), "n is 10.0: n is a whole number, at least 2"),
    (lambda: gmeb_type1(10, 0, p=5), "p is 5: p is a whole number, at least 6"),
    (lambda: gmeb_type1(10, -1), "seed is -1: seed is a whole number, at least 0"),
    (lambda: gmeb_type2(10, 0, p=3, n_informative=4), "p is 3: p is a whole number, at least 4"),
    (lambda: mpm_synthetic(10, 0, p=9), "p is 9: p is a whole number, at least 10"),
    (lambda: gbd_set_one(4, 10, 0), "p is 4: p is a whole number, at least 5"),
    (lambda: gbd_set_one(20, 10, 10), "k is 10: k is a whole number, 0 to 9"),
    (lambda: gbd_set_two(11, 0, p=10, n=10), "m is 11: m is a whole number, 1 to 10"),
]
GIVEN = [
    (FRAME, None, "neither a Dataset nor samples with labels.*'label'"),
    ("wdbc", Y3, "names the column of labels"),
    (None, None, "neither a Dataset"),
    (3.0, None, "neither a Dataset"),
    (DATA, ["svm"], "all else by its keyword"),
    ((X3, Y3, Y3), None, "neither a Dataset"),
    (DATA, Y3, "give .X, y. or a Dataset"),
]
CALLS = [
    *((lambda given=given: Dataset(**({"X": X3, "y": Y3} | given)), DataError, words) for given, words in PARTS),
    *((lambda new=new: load_dataset(TABLE.assign(**new), missing="mean"), DataError, words) for new, words in COLUMNS),
    *((lambda wrong=wrong: load_dataset(TABLE, **wrong), ParameterError, next(iter(wrong))) for wrong in KEYWORDS),
    *((call, ParameterError, words) for call, words in DRAWN),
    *((lambda data=data, y=y: dataset_of(data, y), ParameterError, words) for data, y, words in GIVEN),
    (lambda: fsopt.fit("svm", X3, Y3[:-1]), DataError, r"y has shape \(2,\), expected \(3,\)"),
    (lambda: fsopt.fit("svm", FRAME.assign(age="old"), Y3), DataError, "column 'age' holds texts, such as 'old'"),
    (lambda: fsopt.fit("svm", FRAME, target="ill"), ParameterError, r"load_dataset\(\.\.\., target="),
    *((lambda k=k: stratified_folds(numbered(3, 9), k, 0), ParameterError, "class has 3 samples") for k in (1, 4)),
    (lambda: random_parts(numbered(1, 3), (0.6, 0.2, 0.2), 0), DataError, "1 and 3 samples"),
    (lambda: loss_of("log"), ParameterError, "squared-hinge"),
    (lambda: DATA.rows([0, 2]), DataError, "give samples of both classes"),
    (lambda: DATA.rows([0, 3]), ParameterError, "these are not samples of the data set .*out of bounds"),
    (lambda: DATA.rows(1), DataError, "give samples of both classes"),
    (lambda: DATA.columns([2]), ParameterError, "these are not features of the data set"),
    (lambda: DATA.with_X(np.ones((3, 3))), DataError, "there are 2 names for 3 features"),
    (lambda: Kernel("rbf", X3), ParameterError, "kernel is"),
    *((lambda w=w: Kernel("gaussian", X3, width=w), ParameterError, "kernel is") for w in (0.0, np.inf, "wide", True)),
    (lambda: Kernel("linear", np.array([[np.nan, 1.0]])), DataError, "patterns"),
]


@pytest.mark.parametrize(("call", "kind", "words"), CALLS)
def test_a_wrong_call_is_one_line(call, kind, words):
    with pytest.raises(kind, match=words) as caught:
        call()
    assert caught.value.hint
    assert "\n" not in str(caught.value)


FILES = [
    *((".csv", content, keywords, words) for content, keywords, words in CSV),
    *((".npz", arrays, {}, words) for arrays, words in ARRAYS),
    *((".libsvm", content, {}, words) for content, words in LIBSVM),
    (".arff", f"@relation t\n@attribute a numeric\n@data\n{chr(39) * 45_000}\n", {}, "more than 10000 quotes"),
]


@pytest.mark.parametrize(("suffix", "content", "keywords", "words"), FILES)
def test_a_wrong_file_is_one_line_with_its_path(tmp_path, suffix, content, keywords, words):
    path = tmp_path / f"t{suffix}"
    np.savez(path, **content) if suffix == ".npz" else written(tmp_path, path.name, content)
    with pytest.raises(DataError, match=words) as caught:
        load_dataset(path, **keywords)
    assert caught.value.message.startswith(f"{path}: ")
    assert caught.value.hint
    assert "\n" not in str(caught.value)
