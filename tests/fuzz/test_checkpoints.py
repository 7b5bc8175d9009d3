"""Damaged checkpoints: each is taken up or refused, and nothing else."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from fuzz.attack import FACTOR, attack, damaged, generator
from support import blobs, sampled

import fsopt

CASES, PARTS = 100, 2
"""Files of a part, and parts; of 100 damaged files about 4 are taken."""
DATA = blobs(16, 3, seed=2)
VALUES = (None, True, False, 0, -1, 1, 2, 0.5, 1e308)


@pytest.mark.parametrize("part", sampled(range(PARTS), 1))
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
        for k in range(part * CASES * FACTOR, (part + 1) * CASES * FACTOR):
            path = tmp_path / f"{k}.npz"
            content(generator(3, k), path)
            yield path.name, lambda path=path: fsopt.fit("gbd", DATA, m=2, max_cuts=4, resume=path)
            path.unlink()

    ends = attack(cases())
    assert min(ends.get("answer", 0), ends["file"]) > 0, ends
