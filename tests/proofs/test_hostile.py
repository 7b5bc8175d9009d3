"""Changed proofs: each is refuted or not readable, or what it states is still true by brute force.

A proof that ``fsopt check`` confirms for the data is about the program of these data and of the stated parameters,
which is built anew here.

``FSOPT_PROOFS=100000`` (``make proofs``) sets the number of cases, ``make test-all`` takes 2,000 and ``make test`` a
quarter of them. The counts by kind of change are written to the file that ``FSOPT_PROOFS_REPORT`` names.
"""

import collections
import json
import os
import random

import pytest
from proof_files import verdict, written
from proofs.forging import DATA, FITS, MAKERS, MODELS, base, forged
from proofs.truth import false_claim
from support import blobs, sampled

from fsopt.errors import FsoptError
from fsopt.verification.origins import check_proof

CASES = int(os.environ.get("FSOPT_PROOFS") or 2000)
FIRST = int(os.environ.get("FSOPT_PROOFS_FIRST") or 0)
SLICES = 4
OTHER = blobs(n=8, p=3, seed=6, gap=0.4)
WORD = {0: "confirmed", 1: "refuted", 2: "not readable"}
OF_DATA = (*FITS, *MODELS, "alternatives", "all alternatives", "path", "necessity")
"""Proofs whose programs are those of data."""


@pytest.mark.parametrize("name", MAKERS)
def test_the_honest_proofs_are_confirmed_and_for_their_data_alone(name, tmp_path):
    path = written(tmp_path / "proof.json", base(name))
    code, shown = verdict(path)
    assert code == 0, shown
    assert false_claim(base(name)) is None
    if name not in OF_DATA:
        with pytest.raises(FsoptError, match="a proof of a model file"):
            check_proof(path, DATA)
        return
    assert check_proof(path, DATA).reason == ""
    assert "the data are other ones" in check_proof(path, OTHER).reason


@pytest.mark.parametrize("part", sampled(range(SLICES), 1))
def test_no_false_statement_is_confirmed(part, tmp_path):
    counts = collections.Counter()
    honest = {name: json.dumps(base(name)) for name in MAKERS}
    for seed in range(FIRST + part, FIRST + CASES, SLICES):
        name, kinds, proof = forged(seed)
        text = json.dumps(proof)
        path = written(tmp_path / "proof.json", text)
        code, shown = verdict(path)
        word = "unchanged" if text == honest[name] else WORD[code]
        assert code in WORD, seed
        assert "it is damaged" not in shown, (seed, shown)
        if code == 0:
            assert false_claim(proof) is None, (seed, name, kinds)
            assert printed(path) == [{k: s[k] for k in s if k != "origin"} for s in statements(proof)], (seed, kinds)
        if code == 0 and name in OF_DATA and random.Random(seed).random() < 0.3:
            word += of_data(path, proof, (seed, name, kinds))
        counts[(" + ".join(kinds), word)] += 1
    report(counts)


def statements(proof):
    """Return the statements of a proof."""
    return [claim["statement"] for claim in proof["claims"]]


def printed(path):
    """Return the statements that the verifier prints."""
    return json.loads(verdict(path, "--json")[1])["statements"]


def of_data(path, proof, case):
    """Return a word where a changed proof is confirmed for the data: each program is that of its origin."""
    try:
        confirmed = check_proof(path, DATA).reason == ""
    except FsoptError:
        return ""
    honest = {}
    for name in OF_DATA:
        for claim in base(name)["claims"]:
            honest[json.dumps(claim["statement"]["origin"], sort_keys=True)] = claim["program"]
    for claim in proof["claims"] if confirmed else ():
        own = honest.get(json.dumps(claim["statement"]["origin"], sort_keys=True), claim["program"])
        assert own == claim["program"], case
    return " of the data" if confirmed else ""


def report(counts):
    """Add the counts to the file of the report."""
    path = os.environ.get("FSOPT_PROOFS_REPORT")
    if path:
        with open(path, "a", encoding="utf-8") as file:
            file.writelines(json.dumps([*key, n]) + "\n" for key, n in sorted(counts.items()))
