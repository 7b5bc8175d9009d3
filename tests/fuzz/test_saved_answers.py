"""Damaged and foreign answers and checkpoints: each is judged, used or refused, and nothing else."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fuzz.attack import FACTOR, TOKENS, attack, damaged, generator
from support import blobs, sampled

import fsopt
from fsopt.answers.fits import fit_record
from fsopt.answers.records import sealed
from fsopt.answers.saved import fit_from, intact, read_record, solve_record
from fsopt.verification.checking import check_record

ANSWERS, ANSWER_PARTS = 150, 5
CHECKPOINTS, CHECKPOINT_PARTS = 100, 2
"""Files of a part, and parts; of 100 damaged files about 14 answers and 4 checkpoints are taken."""
DATA = blobs(16, 3, seed=2)
FITS: dict[str, dict[str, Any]] = {
    "svm": {},
    "gbd": {"m": 2},
    "best-subset": {"m": 2},
    "l0-mpm": {"delta": 0.1},
    "mpm": {"kernel": "gaussian"},
    "rsvm": {},
    "misclass": {},
    "pearson": {},
    "gmeb": {"r_plus": 2.0, "r_minus": 2.0},
}
SOLVES: dict[str, dict[str, Any]] = {"gmeb-dual": {"r_plus": 2.0, "r_minus": 2.0}, "fsp-master": {"m": 2}, "rlp": {}}
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2, 0.5, 1e308, -1e-320, 10**400),
    *("", "nan", "inf", "-inf", "x", "optimal", "é\ud800", "0" * 300),
    *([], {}, [[]], [1, 2, 3], ["a"], {"a": 1}, [None], [[1.0] * 3] * 16),
)


@cache
def answers() -> tuple[dict[str, Any], ...]:
    """Return saved fits and solves."""
    found = [sealed(fit_record(fsopt.fit(name, DATA, **at), data=DATA, source="d")) for name, at in FITS.items()]
    for slug, at in SOLVES.items():
        model = fsopt.build(slug, DATA, **at)
        record = solve_record(model, fsopt.solve(model), slug=slug, data=DATA, source="d", params=at)
        found.append(sealed(record | {"scale": "none"}))
    return tuple(found)


def changed(value: Any, rng: np.random.Generator) -> Any:
    """Return plain data with one value, somewhere inside, replaced, lost or moved."""
    if isinstance(value, dict) and value and rng.integers(8):
        key = list(value)[rng.integers(len(value))]
        if not rng.integers(10):
            return {k: v for k, v in value.items() if k != key}
        return value | {key: changed(value[key], rng)}
    if isinstance(value, list) and value and rng.integers(4):
        place = int(rng.integers(len(value)))
        if not rng.integers(6):
            return value[:place] + value[place + 1 :] * int(rng.integers(3))
        return [*value[:place], changed(value[place], rng), *value[place + 1 :]]
    if isinstance(value, float) and rng.integers(2):
        return value * float(rng.choice([-1.0, 1e200, 1e-200, 1 + 1e-6]))
    return VALUES[rng.integers(len(VALUES))]


def text_of(rng: np.random.Generator) -> bytes:
    """Return a damaged file: in its text, in its values with the old or a new digest, or by a token."""
    record = answers()[rng.integers(len(answers()))]
    kind = rng.integers(4)
    if kind == 0:
        return damaged(json.dumps(record).encode(), rng)
    if kind == 1:
        text = json.dumps(record)
        place = text.index(":", int(rng.integers(len(text) - 200))) + 1
        return text[:place].encode() + TOKENS[rng.integers(len(TOKENS))] + text[place:].encode()
    for _ in range(int(rng.integers(1, 4))):
        new = changed(record, rng)
        record = new if isinstance(new, dict) else record
    return json.dumps(record if kind == 2 else _resealed(record)).encode()


def _resealed(record: dict[str, Any]) -> dict[str, Any]:
    try:
        return sealed({k: v for k, v in record.items() if k != "digest"})
    except (TypeError, ValueError, OverflowError):
        return record


def use(path: Path) -> None:
    """Do with a file what ``fsopt check`` and ``fsopt predict`` do."""
    record = read_record(path)
    check_record(record, DATA, str(path))
    if "method" in record and intact(record):
        fit = fit_from(record, path)
        fit.predict(DATA.X)


@pytest.mark.parametrize("part", sampled(range(ANSWER_PARTS), 1))
def test_every_damaged_answer_is_judged_or_refused(part, tmp_path):
    def cases():
        for k in range(part * ANSWERS * FACTOR, (part + 1) * ANSWERS * FACTOR):
            path = tmp_path / f"{k}.json"
            path.write_bytes(text_of(generator(2, k)))
            yield path.name, lambda path=path: use(path)
            path.unlink()

    ends = attack(cases())
    assert min(ends["answer"], ends["file"]) > ANSWERS / 20, ends


@pytest.mark.parametrize("part", sampled(range(CHECKPOINT_PARTS), 1))
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
            new[name] = np.array([VALUES[rng.integers(9)]], dtype=object).astype("U")
        np.savez(path, **new)

    def cases():
        for k in range(part * CHECKPOINTS * FACTOR, (part + 1) * CHECKPOINTS * FACTOR):
            path = tmp_path / f"{k}.npz"
            content(generator(3, k), path)
            yield path.name, lambda path=path: fsopt.fit("gbd", DATA, m=2, max_cuts=4, resume=path)
            path.unlink()

    ends = attack(cases())
    assert min(ends.get("answer", 0), ends["file"]) > 0, ends


@pytest.mark.parametrize("text", ["", "null", "[]", "{}", "5", '"x"', '{"method": 1}', "\ufeff{}", '{"a": NaN}'])
def test_foreign_json_is_refused(tmp_path, text):
    path = tmp_path / "foreign.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(fsopt.FsoptError, match="is not"):
        use(path)
