"""`fsopt check` on changed files: none that states something false is verified, and none ends in a traceback.

Statements that can be recomputed from the data are changed with the old digest, with a new one and without one: a
digest shows that a file is as it was written, not that it was true. The normal run checks a seeded sample of the
changed files, ``make truth`` (FSOPT_TRUTH=1) all of them. The summary counts kinds, files, false files that were
verified, and tracebacks.
"""

from __future__ import annotations

import json
import os

import numpy as np
import pytest
from corruption.answers import Answers, Case, cases
from corruption.changes import Changed, changed_files, digest_kept, digest_removed, digest_renewed, edited
from corruption.claim_changes import BAD_VALUES
from corruption.kinds import FIT_KINDS, SOLVE_KINDS
from truth.instances import seed_of

WHOLE = bool(os.environ.get("FSOPT_TRUTH"))
CASES, FILES = 3, 5
"""In the normal run: answers for each kind of change, and changed files of each answer."""
KINDS = [("fit", kind) for kind in FIT_KINDS] + [("solve", kind) for kind in SOLVE_KINDS]
REFITS = ("params: changed", "params: removed", "method: renamed")
"""The kinds that are judged by fitting again: fewer of them in the normal run."""


@pytest.fixture(scope="session")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Answers:
    found = Answers(tmp_path_factory.mktemp("answers"))
    found.write_data()
    return found


def answers_of(verb: str) -> list[Case]:
    return [case for case in cases() if case.words[0] == verb]


def sampled(verb: str, kind: str) -> list[Case]:
    """Return the answers to which a kind of change is applied: all, or a seeded sample."""
    of_verb = answers_of(verb)
    if WHOLE:
        return of_verb
    rng = np.random.default_rng(seed_of(f"{verb} {kind}"))
    return [of_verb[k] for k in sorted(rng.permutation(len(of_verb))[: 1 if kind in REFITS else CASES])]


def files(answers: Answers, case: Case, kind: str) -> list[Changed]:
    """Return the changed files of an answer: all, or a seeded sample."""
    rng = np.random.default_rng(seed_of(f"{case.name} {kind}"))
    found = changed_files(kind, answers.record(case), rng, answers.dataset())
    return found if WHOLE else [found[k] for k in sorted(rng.permutation(len(found))[:FILES])]


@pytest.mark.parametrize("case", [c for c in cases() if "infeasible" not in c.name], ids=lambda c: c.name)
def test_an_untouched_file_is_verified(case: Case, answers: Answers) -> None:
    for seal in (digest_kept, digest_renewed, digest_removed):
        outcome = answers.check(json.dumps(seal(answers.record(case))))
        assert outcome.fault == ""
        assert outcome.code == 0, (case.name, seal.__name__, outcome.out, outcome.err)
        assert json.loads(outcome.out)["verified"] is True


def test_an_untouched_claim_of_infeasibility_ends_clearly(answers: Answers) -> None:
    case = next(c for c in cases() if "infeasible" in c.name)
    record = answers.record(case)
    assert record["status"] == "infeasible"
    assert answers.check(json.dumps(record)).fault == ""


@pytest.mark.parametrize(("verb", "kind"), KINDS, ids=[f"{verb}-{kind}" for verb, kind in KINDS])
def test_a_false_file_is_not_verified(verb: str, kind: str, answers: Answers, record_property) -> None:
    false, faults, count = [], [], 0
    for case in sampled(verb, kind):
        for changed in files(answers, case, kind):
            outcome = answers.check(changed.text)
            count += 1
            where = f"{case.name}, {kind}" + (f", {changed.what}" if changed.what else "")
            if outcome.fault:
                faults.append(f"{where}: {outcome.fault}")
            if changed.false and outcome.verified:
                claimed = json.loads(outcome.out)
                false.append(
                    f"{where}: verified as {claimed['claimed']} by a certificate {claimed['certificate']['kind']}"
                )
    record_property("corruption", {"kind": kind, "verb": verb, "files": count, "false": false, "faults": faults})
    assert not false + faults, "\n".join([f"{len(false)} false files verified, {len(faults)} faults", *false, *faults])


@pytest.mark.parametrize("value", list(BAD_VALUES))
@pytest.mark.parametrize("field", ["coef", "intercept"])
def test_predict_refuses_numbers_that_are_none(field: str, value: str, answers: Answers) -> None:
    accepted = []
    for case in sampled("fit", f"predict {field} {value}"):
        record = answers.record(case)
        path = (field, 0) if field == "coef" else (field,)
        outcome = answers.predict(json.dumps(edited(record, *path, value=BAD_VALUES[value])))
        if outcome.code != 2 or outcome.fault:
            accepted.append(f"{case.name}, {field} {value}: exit code {outcome.code} {outcome.fault}")
    assert not accepted, "\n".join(accepted)


@pytest.mark.parametrize("kind", ["labels: renamed", "preprocessing: scale", "preprocessing: shift", "kernel: changed"])
def test_predict_never_ends_in_a_traceback(kind: str, answers: Answers) -> None:
    faults = []
    for case in sampled("fit", f"predict {kind}"):
        for changed in files(answers, case, kind):
            outcome = answers.predict(changed.text)
            if outcome.code not in (0, 2) or (outcome.code == 2 and outcome.fault):
                faults.append(f"{case.name}, {kind}, {changed.what}: {outcome.fault or outcome.code}")
    assert not faults, "\n".join(faults)
