"""Damaged data files of every format: each is read, or is an error of the package."""

import csv
import gzip
import io

import numpy as np
import pandas as pd
import pytest
from fuzz.attack import FACTOR, attack, damaged, generator
from support import sampled

from fsopt.data import load_dataset
from fsopt.data.given import load_samples
from fsopt.data.layout import SUFFIXES

CASES, PARTS = 120, 16
ROWS = [[0.5, -1.25, 3e5], [1.0, 2.0, 0.0], [-7.125, 0.001, 12.0], [4.0, 4.5, 1e-9], [2.0, 0.0, -3.5]]
WORDS = ["no", "yes", "no", "yes", "yes"]
FRAME = pd.DataFrame(ROWS, columns=["a", "b c", "d"]).assign(label=WORDS)
CSV, QUOTED = FRAME.to_csv(index=False), FRAME.to_csv(index=False, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
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


def framed(rng: np.random.Generator) -> bytes:
    frame, packed = FRAME, io.BytesIO()
    if rng.integers(2):
        frame = frame.astype({"a": "Int64"}, errors="ignore").assign(d=[1, None, 2, 3, None])
    frame.to_parquet(packed, compression=rng.choice(["snappy", "gzip", "zstd"]))
    return packed.getvalue()


def content(suffix: str, rng: np.random.Generator) -> bytes:
    """Return a damaged file of a format; half of the compressed ones are damaged before they are compressed."""
    if suffix == ".npz":
        packed = io.BytesIO()
        np.savez_compressed(packed, X=np.array(ROWS), y=np.array(WORDS), features=np.array(["a", "b", "d"]))
        return damaged(packed.getvalue(), rng)
    if suffix == ".parquet":
        return damaged(framed(rng), rng)
    texts = {".arff": (ARFF,), ".libsvm": (LIBSVM,), ".svm": (LIBSVM,)}.get(suffix, (CSV, QUOTED))
    text = texts[rng.integers(len(texts))]
    if suffix.startswith(".tsv"):
        text = text.replace(",", "\t")
    raw = text.encode()
    if not suffix.endswith(".gz"):
        return damaged(raw, rng)
    return gzip.compress(damaged(raw, rng)) if rng.integers(2) else damaged(gzip.compress(raw), rng)


@pytest.mark.filterwarnings("ignore:.*left out:UserWarning")
@pytest.mark.parametrize("part", sampled(range(PARTS), 1))
def test_every_damaged_file_is_read_or_refused(part, tmp_path):
    suffixes = [suffix for suffix in SUFFIXES if suffix != ".xlsx"]

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
