"""Changed proofs: each is refuted or not readable, or what it states is still true by brute force.

Where numbers are changed, the checker in fsopt confirms the same parts as fsopt-verify, at the same ends.

``FSOPT_PROOFS=100000`` (``make proofs``) sets the number of cases, ``make test-all`` takes 2,000 and ``make test`` a
quarter of them. The counts by kind of change are written to the file that ``FSOPT_PROOFS_REPORT`` names.
"""

import collections
import json
import os
import random

import pytest
from proof_files import agreed, claimed_parts, verdict, written
from proofs.forging import DATA, MAKERS, TREES, base, forged
from proofs.truth import false_claim
from support import sampled

from fsopt.data.synthetic.files import write

CASES = int(os.environ.get("FSOPT_PROOFS") or 2000)
FIRST = int(os.environ.get("FSOPT_PROOFS_FIRST") or 0)
SLICES = 4
NUMBERS = {"change_number", "change_few", "split", "scale", "tightened"}
WORD = {0: "confirmed", 1: "refuted", 2: "not readable"}


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "data.csv"
    write(DATA, path)
    return path


@pytest.mark.parametrize("name", MAKERS)
def test_the_honest_proofs_are_confirmed(name, tmp_path, table):
    path = written(tmp_path / "proof.json", base(name))
    code, shown = verdict(path)
    assert code == 0, shown
    assert false_claim(base(name)) is None
    derived = name not in ("gmeb-sdp", "misclass-milp", "svm-dual", "vertex", "no point", *TREES)
    code, shown = verdict(path, "--data", str(table))
    assert code == (0 if derived else 2), shown


@pytest.mark.parametrize("part", sampled(range(SLICES), 1))
def test_no_false_statement_is_confirmed(part, tmp_path, table):
    counts = collections.Counter()
    honest = {name: json.dumps(base(name)) for name in MAKERS}
    for seed in range(FIRST + part, FIRST + CASES, SLICES):
        name, kinds, proof = forged(seed)
        text = json.dumps(proof)
        with_data = random.Random(seed).random() < 0.3
        code, shown = verdict(written(tmp_path / "proof.json", text), *(["--data", str(table)] if with_data else []))
        word = "unchanged" if text == honest[name] else WORD[code]
        counts[(" + ".join(kinds), word)] += 1
        assert code in WORD, seed
        assert "it is damaged" not in shown, (seed, shown)
        if NUMBERS.issuperset(kinds):
            assert all(map(agreed, claimed_parts(proof))), (seed, name, kinds)
        if code == 0:
            assert false_claim(proof) is None, (seed, name, kinds)
            if with_data:
                assert proof["statement"]["data"] == base(name)["statement"]["data"], (seed, name, kinds)
    report(counts)


def report(counts):
    """Add the counts to the file of the report."""
    path = os.environ.get("FSOPT_PROOFS_REPORT")
    if path:
        with open(path, "a", encoding="utf-8") as file:
            file.writelines(json.dumps([*key, n]) + "\n" for key, n in sorted(counts.items()))
