"""Data sets and paths shared by the tests."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import numpy as np

from fsopt.data import Dataset

ROOT = Path(__file__).resolve().parent.parent
REFERENCE = ROOT / "tests" / "reference"
SHARED = Path(os.environ.get("FSOPT_SHARED", ROOT.parent / "shared"))


def reference(name: str) -> Dataset:
    """Return a data set of tests/reference/data by name, exactly as stored."""
    with np.load(REFERENCE / "data" / f"{name}.npz", allow_pickle=False) as arrays:
        return Dataset(arrays["X"], arrays["y"], name=name)


def blobs(n: int = 30, p: int = 4, seed: int = 0, gap: float = 0.6) -> Dataset:
    """Return two overlapping Gaussian classes that differ in the first two features."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    X = rng.standard_normal((n, p))
    X[:, : min(2, p)] += gap * y[:, None]
    return Dataset(X, y)


def written(folder: Path, name: str, content: str | bytes) -> Path:
    """Write a file, gzip'ed if its name ends in .gz, and return its path."""
    path = folder / name
    data = content.encode() if isinstance(content, str) else content
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path
