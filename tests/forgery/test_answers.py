"""Changed saved answers: none is verified unless it states what was stated before, or what is true.

Any change with the old digest is refused; one with a digest of its own, as anybody can write it, is judged by its
evidence. `make test` takes a few cases of each answer, `make test-all` 40, `make truth` (FSOPT_TRUTH=1) 400.
"""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np
import pytest
from forgery.answers import CASES, SOLVES, data_of, differing, record_of, true
from forgery.engine import changed
from fuzz.attack import FACTOR, TOKENS, attack, damaged, generator
from support import sampled

import fsopt
from fsopt.answers.records import sealed
from fsopt.answers.saved import fit_from, intact, read_record
from fsopt.verification.exact_checking import verify_record

SEEDS = range(400 if os.environ.get("FSOPT_TRUTH") else 40)
PARTS = 4
NAMES = [name for name, _, _ in CASES]
FITS = [name for name in NAMES if name.startswith("fit")]


@pytest.fixture
def judged(tmp_path):
    """Return the function that does with the text of a file what ``fsopt check`` and ``fsopt predict`` do."""

    def judge(text: str | bytes, name: str) -> Any:
        path = tmp_path / "answer.json"
        path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))
        record, data = read_record(path), data_of(name)
        found = verify_record(record, data, str(path))
        if "method" in record and intact(record):
            fit_from(record, path).predict(data.X)
        return found

    return judge


def resealed(record: Any) -> Any:
    """Return a changed record with its own digest, or as it is where it has none."""
    try:
        return sealed({key: value for key, value in record.items() if key != "digest"})
    except (TypeError, ValueError, OverflowError):
        return record


@pytest.mark.parametrize("name", NAMES)
def test_an_untouched_file_is_verified_and_states_the_same(name, judged):
    record = record_of(name)
    assert resealed(record) == record
    assert judged(json.dumps(record), name).verified
    assert differing(record, record) == set()


def test_every_method_and_class_is_there():
    assert {name.split()[1] for name in FITS} == set(fsopt.METHODS)
    assert {fsopt.MODELS[slug].problem_class for slug in SOLVES} >= {
        "LP",
        "QP",
        "SOCP",
        "SDP",
        "MILP",
        "MIQP",
        "MISOCP",
    }


@pytest.mark.parametrize("part", sampled(range(PARTS), 1))
def test_nothing_is_verified_but_the_same_statement(part, judged):
    false: list[str] = []

    def case(name: str, seed: int) -> None:
        record = record_of(name)
        kinds, new = changed(record, generator(7, seed))
        if new != record:
            assert new.get("digest") != record["digest"] or "format" not in new or not intact(new), (name, seed, kinds)
            new = resealed(new)
            found = judged(json.dumps(new), name)
            if found.verified and differing(new, record) and not true(new, record, found.certificate.kind):
                false.append(f"{name}, seed {seed}, {kinds}: {differing(new, record)}")

    seeds = SEEDS[part::PARTS] if part or len(SEEDS) > 40 else SEEDS[::16]
    attack((f"{name} {k}", lambda name=name, k=k: case(name, k)) for name in NAMES for k in seeds)
    assert not false, "\n".join([f"{len(false)} false answers verified", *false])


def _quietly(judged, text: str, name: str) -> bool:
    """Return whether a file is verified; one that is refused is not."""
    try:
        return bool(judged(text, name).verified)
    except fsopt.FsoptError:
        return False


def shorter(record: dict[str, Any], by: int = 1) -> dict[str, Any]:
    """Return support and features with fewer entries."""
    return {"support": record["support"][:-by], "features": record["features"][:-by]}


def longer(record: dict[str, Any]) -> dict[str, Any]:
    """Return support and features with one more: the first feature that is not there, or the last one again."""
    rest = [j for j in range(len(record["coef"])) if j not in record["support"]] or record["support"][-1:]
    names = record["columns"] if record["kernel"] is None else [f"row {j}" for j in range(len(record["coef"]))]
    return {"support": [*record["support"], rest[0]], "features": [*record["features"], names[rest[0]]]}


def another_bound(record: dict[str, Any]) -> dict[str, Any]:
    """Return a bound where there is none, and a larger one where there is one."""
    value, bound = record["objective"], record["bound"]
    return {"bound": value - 10.0 if bound is None else bound + 0.01 * max(1.0, abs(bound))}


STRONGER = {"feasible": "stationary", "stationary": "optimal", "optimal": "infeasible", "infeasible": "optimal"}
FORGERIES = {
    "fewer features": shorter,
    "more features": longer,
    "no features": lambda r: {"support": [], "features": []},
    "weights and support of the next feature": lambda r: {
        "coef": r["coef"][1:] + r["coef"][:1],
        "support": sorted((j - 1) % len(r["coef"]) for j in r["support"]),
    },
    "a bound": another_bound,
    "a stronger status": lambda r: {"status": STRONGER[r["status"]]},
    "the bound of an optimum": lambda r: {"status": "optimal", "bound": r["objective"] - 1e-3 * abs(r["objective"])},
    "no parameters": lambda r: {"params": {}},
    "another ridge": lambda r: {
        "params": {**r["params"], "ridge": r["details"]["ridge"] + 0.1},
        "details": {**r["details"], "ridge": r["details"]["ridge"] + 0.1},
    },
    "labels reversed": lambda r: {"labels": r["labels"][::-1]},
    "columns reversed": lambda r: {"columns": r["columns"][::-1]},
    "a better score": lambda r: {"train": {**r["train"], "accuracy": r["train"]["accuracy"] - 0.1}},
    "a fraction of the objective": lambda r: {"objective": 0.9 * r["objective"] - 0.1},
    "a larger weight": lambda r: {"coef": [1.05 * v for v in r["coef"]]},
    "another intercept": lambda r: {"intercept": r["intercept"] - 1.0},
    "an encoding": lambda r: {"encoding": {"missing": "mean", "columns": []}},
    "another fill": lambda r: {
        "encoding": {
            **r["encoding"],
            "columns": [{**c, "fill": "blue" if c["levels"] else 5.0} for c in r["encoding"]["columns"]],
        }
    },
    "a kernel": lambda r: {"kernel": {"name": "linear", "patterns": [[0.0] * len(r["columns"])]}},
    "a point of a program without one": lambda r: {"objective": 1.0, "solution": {"w": [1.0]}},
}
"""What no change of one part makes."""


@pytest.mark.parametrize("kind", FORGERIES)
def test_parts_that_were_changed_together_are_no_evidence(kind, judged):
    tried = 0
    for name in NAMES:
        record = record_of(name)
        try:
            new = resealed({**record, **{k: v for k, v in FORGERIES[kind](record).items() if k in record}})
        except (KeyError, TypeError, IndexError, AttributeError):
            continue  # it has no such part
        if new != record and differing(new, record):
            tried += 1
            if _quietly(judged, json.dumps(new), name):
                assert true(new, record, judged(json.dumps(new), name).certificate.kind), name
    assert tried


@pytest.mark.parametrize("name", sampled(FITS, 4))
def test_the_fit_of_another_method_is_not_verified(name, judged):
    record = record_of(name)
    for method in fsopt.METHODS:
        new = resealed({**record, "method": method})
        assert method == record["method"] or not _quietly(judged, json.dumps(new), name) or true(new, record, "")


def test_the_old_digest_and_a_key_that_stands_twice_are_refused(judged):
    record = record_of("fit svm")
    assert not _quietly(judged, json.dumps({**record, "stop": "time-limit"}), "fit svm")
    text = json.dumps(record)
    assert not _quietly(judged, text[:-1] + ', "objective": 12345.0}', "fit svm")


@pytest.mark.parametrize("part", sampled(range(5), 1))
def test_every_damaged_text_is_judged_or_refused(part, judged):
    """A file with injured bytes is used as it is, or refused; nothing else comes out."""

    def text(rng: np.random.Generator) -> tuple[bytes, str]:
        name = NAMES[rng.integers(len(NAMES))]
        whole = json.dumps(record_of(name)).encode()
        if rng.integers(2):
            return damaged(whole, rng), name
        place = whole.index(b":", int(rng.integers(len(whole) - 200))) + 1
        return whole[:place] + TOKENS[rng.integers(len(TOKENS))] + whole[place:], name

    made = (text(generator(2, k)) for k in range(60 * part * FACTOR, 60 * (part + 1) * FACTOR))
    ends = attack((f"damaged {k}", lambda one=one: judged(*one)) for k, one in enumerate(made))
    assert ends["file"] > 20, ends


@pytest.mark.parametrize("text", ["", "null", "[]", "{}", "5", '"x"', '{"method": 1}', "\ufeff{}", '{"a": NaN}'])
def test_foreign_json_is_refused(text, judged):
    with pytest.raises(fsopt.FsoptError, match="is not"):
        judged(text, "fit svm")
