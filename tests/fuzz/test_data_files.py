"""Damaged data files of every format: each is read, or is an error of the package."""

from __future__ import annotations

import gzip
import io
import zipfile

import numpy as np
import pandas as pd
import pytest
from fuzz.attack import FACTOR, attack, damaged, generator
from support import sampled

from fsopt.data import load_dataset, load_samples
from fsopt.data.tables.registry import READERS

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


def framed(suffix: str, rng: np.random.Generator) -> bytes:
    frame = pd.DataFrame(ROWS, columns=["a", "b", "d"]).assign(label=WORDS)
    if rng.integers(2):
        frame = frame.astype({"a": "Int64"}, errors="ignore").assign(d=[1, None, 2, 3, None])
    packed = io.BytesIO()
    if suffix == ".xlsx":
        frame.to_excel(packed, index=False)
    elif suffix == ".feather":
        frame.to_feather(packed, compression=rng.choice(["lz4", "zstd", "uncompressed"]))
    else:
        frame.to_parquet(packed, compression=rng.choice(["snappy", "gzip", "zstd"]))
    return packed.getvalue()


def content(suffix: str, rng: np.random.Generator) -> bytes:
    """Return a damaged file of a format; half of the compressed ones are damaged before they are compressed."""
    if suffix == ".npz":
        whole = npz(rng)
        return whole if rng.integers(2) else damaged(whole, rng)
    if suffix in (".parquet", ".feather", ".xlsx"):
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
    suffixes = list(READERS)

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
