"""Text formats against other readers, Parquet, and the damages and limits of all formats."""

import io
import os
import struct
import subprocess
import sys
import zipfile

import numpy as np
import pandas as pd
import pytest
from scipy.io import arff
from support import written

from fsopt.data import load_dataset, load_samples
from fsopt.data.tables import text
from fsopt.errors import DataError, PackageError, ParameterError

X3 = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
FRAME = pd.DataFrame({"a": [1.0, None, 3.0], "b": [1, 0, 1], "label": ["no", "yes", "no"]})


def drawn(rng):
    """Return the rows of a file: numbers in many spellings, missing values, quotes and blanks."""
    n, p = int(rng.integers(1, 12)), int(rng.integers(1, 6))
    spell = (
        repr,
        "{:.3e}".format,
        " {} ".format,
        '"{}"'.format,
        "+{:g}".format,
        lambda v: "?",
        lambda v: "",
        "{:.0f}".format,
    )
    signs = [
        spell[k](abs(v))
        for k, v in zip(rng.integers(0, 8, n * p), (rng.standard_normal(n * p) * 1e3).tolist(), strict=True)
    ]
    rows = [[*signs[i * p : (i + 1) * p], rng.choice(["x", '"y"', " z", "1.0"])] for i in range(n)]
    return p, ("\n", "\r\n", "\r")[rng.integers(3)].join([",".join(map(str, row)) for row in rows]) + "\n"


def test_pandas_and_one_row_after_the_other_read_the_same(tmp_path, monkeypatch):
    rng = np.random.default_rng(5)
    by_pandas = text._by_pandas
    read = []
    for _ in range(60):
        p, rows = drawn(rng)
        path = written(tmp_path, "t.csv", ",".join([*(f"f{j}" for j in range(p)), "label"]) + "\n" + rows)
        tables = []
        for way in (lambda *given: read.append(by_pandas(*given)) or read[-1], lambda *given: None):
            monkeypatch.setattr(text, "_by_pandas", way)
            tables.append(load_samples(path))
        fast, slow = tables
        assert np.array_equal(fast.X, slow.X, equal_nan=True), rows
        assert [fast.labels, fast.features] == [slow.labels, slow.features], rows
    assert sum(frame is not None for frame in read) > 30


def test_quotes_around_everything_as_r_writes_them(tmp_path):
    path = written(tmp_path, "r.csv", '"a","b c","label"\n"1","2.5","M"\n"3","4","B, or not"\n')
    data = load_dataset(path)
    assert (data.features, data.labels, data.X.tolist()) == (("a", "b c"), ("B, or not", "M"), [[1, 2.5], [3, 4]])


@pytest.mark.parametrize("name", ["t.tsv", "t.tsv.gz"])
def test_tsv(tmp_path, name):
    data = load_dataset(written(tmp_path, name, "a\tlabel\tb, c\n1\tyes\t2\n?\tno\t\n"), missing="mean")
    assert (data.features, data.labels, data.name) == (("a", "b, c"), ("no", "yes"), "t")
    assert data.X.tolist() == [[1.0, 2.0], [1.0, 2.0]]
    with pytest.raises(DataError, match=r"row 1 \(line 2\) has 2 fields, there are 3 columns"):
        load_dataset(written(tmp_path, name, "a\tb\tlabel\n1\t2\n"))
    assert load_samples(written(tmp_path, name, "a\tb\n1\t2\n")).labels == []


def test_arff_agrees_with_scipy(tmp_path):
    rng = np.random.default_rng(0)
    rows = [[f"{v:.6g}" for v in row] for row in rng.standard_normal((20, 3))]
    text = "@relation r\n@attribute 'a b' numeric\n@attribute c REAL\n@attribute d numeric\n"
    text += "@attribute class {u,v}\n@data\n"
    text += "\n".join(",".join([*row, "uv"[i % 2]]) for i, row in enumerate(rows))
    table, meta = arff.loadarff(io.StringIO(text))
    data = load_dataset(written(tmp_path, "t.arff", text))
    assert [*data.features, "class"] == meta.names()
    assert np.array_equal(data.X, np.array([[row[k] for k in range(3)] for row in table.tolist()]))
    assert [data.labels[int(v > 0)] for v in data.y] == [word.decode() for word in table["class"]]


def test_parquet(tmp_path):
    path = tmp_path / "t.parquet"
    FRAME.to_parquet(path)
    data = load_dataset(path, missing="mean")
    assert (data.features, data.labels, data.X.tolist()) == (("a", "b"), ("no", "yes"), [[1, 1], [2, 0], [3, 1]])
    FRAME.convert_dtypes().assign(label=[0.0, 1.0, None]).to_parquet(path)
    data = load_dataset(path, missing="mean", label="b")
    assert (data.features, data.labels, data.X.tolist()) == (("a", "label"), ("0", "1"), [[1, 0], [2, 1], [3, 0.5]])
    FRAME.drop(columns="label").to_parquet(path)
    assert load_samples(path).labels == []
    with pytest.raises(DataError, match="there is no column 'label'"):
        load_dataset(path)


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (FRAME.assign(a=["x", "y", "z"]), "row 1, column 'a': 'x' is not a number .*: 2, 3"),
        (FRAME.assign(a=pd.to_timedelta([1, 2, 3])), "column 'a' holds values of the type timedelta"),
        (FRAME.assign(a=[[1], [2], [3]]), "column 'a' holds values of the type object"),
        (FRAME[["label"]], "'label' is the only column"),
        (FRAME[:0], "there is no row"),
        (FRAME, "1 missing value in 1 column, the first in row 2, column 'a'"),
    ],
)
def test_parquet_refuses(tmp_path, frame, message):
    frame.to_parquet(tmp_path / "t.parquet")
    with pytest.raises(DataError, match=message):
        load_dataset(tmp_path / "t.parquet")


def test_parquet_without_pyarrow_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setattr("fsopt.data.tables.frames.find_spec", lambda name: None)
    with pytest.raises(PackageError, match=r"pip install 'fsopt\[parquet\]'"):
        load_dataset(written(tmp_path, "t.parquet", "PAR1"))


def header(shape, kind="<f8"):
    text = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()


@pytest.mark.parametrize(
    ("member", "message"),
    [
        (b"no magic at all", "an array cannot be read"),
        (header((3_000_000_000, 1)), "X has the shape .* of float64, which its 0 bytes are not"),
        (header((-1, 2)) + bytes(16), "X has the shape"),
        (header("(3, 2"), "an array cannot be read"),
        (header((1, 2), "<f8888"), "an array cannot be read"),
        (b"\x93NUMPY\x09\x00" + bytes(40), "an array cannot be read"),
        (header((2, 1), "<U1") + b"\xff" * 8, "X has texts with characters that there are not"),
        (header((1, 1), "|O") + b"cos\nsystem\n", "it holds Python objects"),
    ],
)
def test_damaged_members_of_npz(tmp_path, member, message):
    path = tmp_path / "t.npz"
    np.savez(path, y=[0, 1, 1])
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("X.npy", member)
    with pytest.raises(DataError, match=message):
        load_dataset(path)


def test_an_unknown_zip_method_and_a_wrong_checksum(tmp_path):
    path = tmp_path / "t.npz"
    np.savez(path, X=X3, y=[0, 1, 1])
    whole = path.read_bytes()
    damaged = bytearray(whole)
    place = whole.index(b"PK\x01\x02") + 10
    damaged[place : place + 2] = struct.pack("<H", 77)
    path.write_bytes(damaged)
    with pytest.raises(DataError, match=r"an array cannot be read .*compression method"):
        load_dataset(path)
    damaged = whole.replace(struct.pack("<d", 6.0), struct.pack("<d", 7.0))
    assert damaged != whole
    path.write_bytes(damaged)
    with pytest.raises(DataError, match="CRC-32"):
        load_dataset(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("1 1:1\n-1 100000000:1\n", "the sparse matrix of 2 samples and 100000000 features .*about 10 GB"),
        ("1 1:1\n-1 2147483647:1\n", "FSOPT_DATA_LIMIT"),
        ("1 1:1\n-1 2147483648:1\n", "libsvm format|beyond 2147483647"),
        ("1 1:1\n-1 99999999999999999999:1\n", "libsvm format"),
        ("1 1:1\n-1 2:x\n", "not in libsvm format"),
        ("1,2 1:3\n2 1:4\n", "the file is not in libsvm format"),
        ("1 1:3\n2 1:3\n3 1:1\n", "exactly two different values, 3 found: '1', '2', '3'"),
        ("", "at least one sample"),
        ("1 1:1\n-1 2:1,3\n1 a:3\n", "see line 3|libsvm format"),
        ("1 1:1\n-1 1 2\n", "see line 2"),
    ],
)
def test_damaged_libsvm(tmp_path, content, message):
    with pytest.raises(DataError, match=message):
        load_dataset(written(tmp_path, "t.libsvm", content))


@pytest.mark.slow
def test_a_small_file_that_expands_beyond_the_limit_is_refused_in_little_memory(tmp_path):
    path = tmp_path / "bomb.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("y.npy", header((2,)) + bytes(16))
        archive.writestr("X.npy", header((2, 10_000_000)) + bytes(160_000_000))
    assert path.stat().st_size < 4e6
    code = (
        "import sys, resource; from fsopt.data import load_dataset; from fsopt.errors import DataError\n"
        "import numpy, pandas\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "try: load_dataset(sys.argv[1])\n"
        "except DataError as error: print(error.hint, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    words, limited = [sys.executable, "-c", code, str(path)], {**os.environ, "FSOPT_DATA_LIMIT": "0.05"}
    done = subprocess.run(words, capture_output=True, text=True, check=True, env=limited)
    hint, _, kilobytes = done.stdout.rpartition(" ")
    assert "FSOPT_DATA_LIMIT=" in hint
    assert int(kilobytes) < 100_000


def test_the_limit_can_be_raised_and_must_be_a_number(tmp_path, monkeypatch):
    path = written(tmp_path, "t.csv.gz", "a,label\n" + "".join(f"{i},{i % 2}\n" for i in range(1000)))
    monkeypatch.setenv("FSOPT_DATA_LIMIT", "1e-5")
    with pytest.raises(DataError, match=r"would take more than .* GB of memory.*raise the limit"):
        load_dataset(path)
    monkeypatch.setenv("FSOPT_DATA_LIMIT", "1e-3")
    assert load_dataset(path).n == 1000
    for wrong in ("much", "0", "nan", "-1", "inf"):
        monkeypatch.setenv("FSOPT_DATA_LIMIT", wrong)
        with pytest.raises(ParameterError, match="FSOPT_DATA_LIMIT is"):
            load_dataset(path)
