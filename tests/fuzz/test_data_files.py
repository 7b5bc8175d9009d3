"""Damaged data files of every format: each is read, or is an error of the package."""

from __future__ import annotations

import gzip
import io
import re
import zipfile
from collections import Counter
from functools import cache

import numpy as np
import pandas as pd
import pytest
from fuzz.attack import FACTOR, attack, damaged, generator
from fuzz.grammar import Damaged
from fuzz.grammar import damaged as other
from support import sampled

from fsopt.data import load_dataset, load_samples
from fsopt.data.tables.registry import READERS
from fsopt.errors import FsoptError

CASES, PARTS = 120, 16
ROWS = [[0.5, -1.25, 3e5], [1.0, 2.0, 0.0], [-7.125, 0.001, 12.0], [4.0, 4.5, 1e-9], [2.0, 0.0, -3.5]]
WORDS = ["no", "yes", "no", "yes", "yes"]
CSV = "a,b c,d,label\n" + "\n".join(",".join([*map(repr, row), w]) for row, w in zip(ROWS, WORDS, strict=True)) + "\n"
QUOTED = '"a","b, c","d","label"\r\n' + "".join(
    '"{}","{}",{},"{}"\r\n'.format(*row, word) for row, word in zip(ROWS, WORDS, strict=True)
)
ARFF = """% comment
@relation 'a b'
@attribute 'x (mm)' numeric
@attribute y INTEGER
@attribute z {0, 1}
@attribute class {good,'very bad'}
@data
1.5, 2, 0, good
% another
?,3,1,'very bad'
2.5,4,1,good
"""
LIBSVM = "+1 1:0.5 3:-2\n-1 2:4 # note\n-1 1:1 2:3e-7 7:1\n+1 3:2\n"


def npz(rng: np.random.Generator) -> bytes:
    """Return an archive, one of whose members may be damaged inside, by another zip method or stored twice."""
    with np.errstate(invalid="ignore", over="ignore"):
        X = np.array(ROWS).astype(rng.choice(["f8", "f4", "i4", "u1", "f2", ">f8", "g", "c16", "U3", "b1"]))
    arrays = {
        "X": X,
        "y": np.array(WORDS) if rng.integers(2) else np.array([0, 1, 0, 1, 1], dtype=rng.choice(["i8", "f8", "u1"])),
        "features": np.array(["a", "b", "größe"]),
    }
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED][rng.integers(2)]) as archive:
        for name, array in arrays.items():
            member = io.BytesIO()
            np.save(member, np.asfortranarray(array))
            content = member.getvalue()
            archive.writestr(f"{name}.npy", damaged(content, rng) if rng.integers(3) == 0 else content)
    return packed.getvalue()


SHEET = """<row r="1">
<c r="A1" t="inlineStr"><is><t>a</t></is></c><c r="B1" t="inlineStr"><is><t>b</t></is></c>
<c r="C1" t="inlineStr"><is><t>label</t></is></c></row>
<row r="2"><c r="A2"><v>0.5{0 0}</v></c><c r="B2"><v>3{0 1}</v></c><c r="C2"><v>1</v></c></row>
<row r="3"><c r="A3"><v>-7{1 0}</v></c><c r="B3"><v>4.5{1 1}</v></c><c r="C3"><v>0</v></c></row>
<row r="4"><c r="A4"><v>2{2 0}</v></c><c r="B4"><v>-1.5{2 1}</v></c><c r="C4"><v>1</v></c></row>
<row r="5"><c r="A5"><v>8{3 0}</v></c><c r="B5"><v>6{3 1}</v></c><c r="C5"><v>0</v></c></row>
"""
"""Rows of a sheet: two features of four samples and their label."""


@cache
def empty_workbook() -> bytes:
    packed = io.BytesIO()
    pd.DataFrame({"a": [1]}).to_excel(packed, index=False)
    return packed.getvalue()


def workbook(rows: str) -> bytes:
    """Return a workbook whose sheet has these rows, as text of its XML."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(empty_workbook())) as archive, zipfile.ZipFile(made, "w") as new:
        for name in archive.namelist():
            text = archive.read(name)
            if name.endswith("sheet1.xml"):
                text = re.sub(rb"(?s)<sheetData>.*</sheetData>", b"<sheetData>" + rows.encode() + b"</sheetData>", text)
            new.writestr(name, text)
    return made.getvalue()


@pytest.mark.filterwarnings("ignore:.*read as:UserWarning")
def test_a_workbook_of_which_a_cell_is_another_is_read_as_it_says_or_refused(tmp_path):
    path, ends = tmp_path / "sheet.xlsx", Counter[str]()

    def run(case: Damaged) -> None:
        path.write_bytes(workbook(case.text))
        try:
            found = load_dataset(path, label="label").X
        except FsoptError:
            ends["refused"] += 1
            return
        if case.facts is not None:
            expected = [[case.facts[f"{i} {j}"] for j in range(2)] for i in range(4)]
            assert np.array_equal(found, expected), found
            ends["read"] += 1

    def cases():
        for k in range(CASES // 6 * FACTOR):
            case = other(SHEET, generator(31, k))
            yield f"case {k}, {case.what}", lambda case=case: run(case)

    attack(cases())
    assert min(ends["read"], ends["refused"]) > 0, ends


def framed(suffix: str, rng: np.random.Generator) -> bytes:
    frame = pd.DataFrame(ROWS, columns=["a", "b", "d"]).assign(label=WORDS)
    if rng.integers(2):
        frame = frame.astype({"a": "Int64"}, errors="ignore").assign(d=[1, None, 2, 3, None])
    packed = io.BytesIO()
    if suffix == ".feather":
        frame.to_feather(packed, compression=rng.choice(["lz4", "zstd", "uncompressed"]))
    else:
        frame.to_parquet(packed, compression=rng.choice(["snappy", "gzip", "zstd"]))
    return packed.getvalue()


def content(suffix: str, rng: np.random.Generator) -> bytes:
    """Return a damaged file of a format; half of the compressed ones are damaged before they are compressed."""
    if suffix == ".npz":
        whole = npz(rng)
        return whole if rng.integers(2) else damaged(whole, rng)
    if suffix in (".parquet", ".feather"):
        return damaged(framed(suffix, rng), rng)
    texts = {".arff": (ARFF,), ".libsvm": (LIBSVM,)}.get(suffix, (CSV, QUOTED))
    text = texts[rng.integers(len(texts))]
    if suffix.startswith(".tsv"):
        text = text.replace(",", "\t")
    raw = text.encode()
    if not suffix.endswith(".gz"):
        return damaged(raw, rng)
    return gzip.compress(damaged(raw, rng)) if rng.integers(2) else damaged(gzip.compress(raw), rng)


@pytest.mark.filterwarnings("ignore:.*read as:UserWarning")
@pytest.mark.parametrize("part", sampled(range(PARTS), 1))
def test_every_damaged_file_is_read_or_refused(part, tmp_path):
    suffixes = [suffix for suffix in READERS if suffix != ".xlsx"]

    def cases():
        for k in range(part * CASES * FACTOR, (part + 1) * CASES * FACTOR):
            rng = generator(1, k)
            suffix = suffixes[k % len(suffixes)]
            path = tmp_path / f"{k}{suffix}"
            path.write_bytes(content(suffix, rng))
            if rng.integers(4):
                missing = (None, "drop", "mean")[rng.integers(3)]
                yield path.name, lambda path=path, missing=missing: load_dataset(path, missing=missing)
            else:
                yield path.name, lambda path=path: load_samples(path)
            path.unlink()

    ends = attack(cases())
    assert min(ends["answer"], ends["data"]) > CASES / 100, ends
