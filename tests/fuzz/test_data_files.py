"""Damaged data files of every format: each is read, or is an error of the package.

Damaged checkpoints: each is taken up or refused, and nothing else.
"""

import gzip
import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from fuzz.attack import FACTOR, attack, damaged, generator
from support import blobs, sampled

import fsopt
from fsopt.data import load_dataset, load_samples
from fsopt.data.layout import SUFFIXES

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


def framed(suffix: str, rng: np.random.Generator) -> bytes:
    frame = pd.DataFrame(ROWS, columns=["a", "b", "d"]).assign(label=WORDS)
    if rng.integers(2):
        frame = frame.astype({"a": "Int64"}, errors="ignore").assign(d=[1, None, 2, 3, None])
    packed = io.BytesIO()
    frame.to_parquet(packed, compression=rng.choice(["snappy", "gzip", "zstd"]))
    return packed.getvalue()


def content(suffix: str, rng: np.random.Generator) -> bytes:
    """Return a damaged file of a format; half of the compressed ones are damaged before they are compressed."""
    if suffix == ".npz":
        packed = io.BytesIO()
        np.savez_compressed(packed, X=np.array(ROWS), y=np.array(WORDS), features=np.array(["a", "b", "d"]))
        return damaged(packed.getvalue(), rng)
    if suffix == ".parquet":
        return damaged(framed(suffix, rng), rng)
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


CHECKPOINTS_CASES, CHECKPOINTS_PARTS = 100, 2
"""Files of a part, and parts; of 100 damaged files about 4 are taken."""
DATA = blobs(16, 3, seed=2)
VALUES = (None, True, False, 0, -1, 1, 2, 0.5, 1e308)


@pytest.mark.parametrize("part", sampled(range(CHECKPOINTS_PARTS), 1))
def test_every_damaged_checkpoint_is_taken_or_refused(part, tmp_path):
    start = tmp_path / "start.npz"
    fsopt.fit("gbd", DATA, m=2, max_cuts=3, checkpoint=start)
    whole = start.read_bytes()
    with np.load(start) as arrays:
        held = {name: arrays[name] for name in arrays.files}

    def content(rng: np.random.Generator, path: Path) -> None:
        if rng.integers(2):
            path.write_bytes(damaged(whole, rng))
            return
        new = dict(held)
        name = list(new)[rng.integers(len(new))]
        kind = rng.integers(5)
        if kind == 0:
            del new[name]
        elif kind == 1:
            new[name] = np.frombuffer(damaged(new[name].tobytes(), rng), dtype=np.uint8)
        elif kind == 2 and new[name].dtype.kind == "f":
            new[name] = new[name] * rng.choice([np.nan, 1e300, -1.0, 2.0])
        elif kind == 3:
            new[name] = new[name].reshape(-1)[: rng.integers(4)]
        else:
            new[name] = np.array([VALUES[rng.integers(len(VALUES))]], dtype=object).astype("U")
        np.savez(path, **new)

    def cases():
        for k in range(part * CHECKPOINTS_CASES * FACTOR, (part + 1) * CHECKPOINTS_CASES * FACTOR):
            path = tmp_path / f"{k}.npz"
            content(generator(3, k), path)
            yield path.name, lambda path=path: fsopt.fit("gbd", DATA, m=2, max_cuts=4, resume=path)
            path.unlink()

    ends = attack(cases())
    assert min(ends.get("answer", 0), ends["file"]) > 0, ends
