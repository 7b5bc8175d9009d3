"""`fsopt check` and `fsopt predict` on changed files: nothing false is verified, and none ends in a traceback.

Statements that can be recomputed from the data are changed with the old digest and with a new one: a digest shows that
a file is as it was written, not that it was true. Damage of any kind, which no reader may stumble over, is in `fuzz`.
The slow tests check a seeded sample of the changed files, ``make truth`` (FSOPT_TRUTH=1) all of them.
"""

from __future__ import annotations

import json
import os

import numpy as np
import pytest
from corruption.answers import SOLVES, Answers, Case, Outcome, cases
from corruption.changes import WORD, Changed, changed_files, digest_renewed, edited
from corruption.claim_changes import BAD_VALUES
from corruption.kinds import FIT_KINDS, SOLVE_KINDS
from truth.instances import seed_of

import fsopt

BY_WORD = (
    "solve fsv-exact (MILP)",
    "solve fsp-m-bigm (MIQP)",
    "solve fsp-m-perspective (MISOCP)",
    "solve fsp-m (MINLP)",
    "solve kernel-scaling (NLP)",
)
"""The answers of searches that cannot be repeated."""
WHOLE = bool(os.environ.get("FSOPT_TRUTH"))
CASES, FILES = 4, 6
"""In the sample: answers for each kind of change, and changed files of each answer."""
KINDS = [("fit", kind) for kind in FIT_KINDS] + [("solve", kind) for kind in SOLVE_KINDS]
REFITS = ("params: changed", "params: removed", "method: renamed")
"""The kinds that are judged by fitting again: one answer of each in the sample."""


@pytest.fixture(scope="session")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Answers:
    found = Answers(tmp_path_factory.mktemp("answers"))
    found.write_data()
    return found


def answers_of(verb: str) -> list[Case]:
    return [case for case in cases() if case.words[0] == verb]


def sampled(verb: str, kind: str) -> list[Case]:
    """Return the answers to which a kind of change is applied: all, or the next few of them."""
    of_verb = answers_of(verb)
    if WHOLE:
        return of_verb
    start = CASES * KINDS.index((verb, kind))
    return [of_verb[(start + k) % len(of_verb)] for k in range(1 if kind in REFITS else CASES)]


def files(answers: Answers, case: Case, kind: str) -> list[Changed]:
    """Return the changed files of an answer: all, or a seeded sample."""
    rng = np.random.default_rng(seed_of(f"{case.name} {kind}"))
    found = changed_files(kind, answers.record(case), rng, answers.dataset())
    return found if WHOLE else [found[k] for k in sorted(rng.permutation(len(found))[:FILES])]


@pytest.mark.parametrize("case", cases(), ids=lambda c: c.name)
def test_an_untouched_file_is_verified(case: Case, answers: Answers) -> None:
    record = answers.record(case)
    assert digest_renewed(record) == record
    outcome = answers.check(json.dumps(record))
    assert outcome.fault == ""
    assert outcome.code == 0, (case.name, outcome.out, outcome.err)
    assert json.loads(outcome.out)["verified"] is True
    assert outcome.by_word == (case.name in BY_WORD), outcome.out


def test_the_sample_touches_every_answer() -> None:
    touched = {case.name for verb, kind in KINDS for case in sampled(verb, kind)}
    assert touched == {case.name for case in cases()}
    assert {case.words[1] for case in cases() if case.is_fit} == set(fsopt.METHODS)
    assert {fsopt.MODELS[case.words[1]].problem_class for case in cases() if not case.is_fit} >= set(SOLVES)


def faults_of(where: str, changed: Changed, outcome: Outcome, answers: Answers, *, predicts: bool) -> list[str]:
    """Return what is wrong with the ways in which check and predict end on a changed file.

    Predict is given the file with its own digest, so that nothing is refused for the digest alone.
    """
    found = [f"{where}: {outcome.fault}"] if outcome.fault else []
    if predicts:
        predicted = answers.predict(resealed(changed.text))
        if predicted.code not in (0, 2) or predicted.fault:
            found.append(f"predict, {where}: {predicted.fault or predicted.code}")
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("verb", "kind"), KINDS, ids=[f"{verb}-{kind}" for verb, kind in KINDS])
def test_a_false_file_is_not_verified(verb: str, kind: str, answers: Answers) -> None:
    false, faults = [], []
    for case in sampled(verb, kind):
        for changed in files(answers, case, kind):
            where = f"{case.name}, {kind}" + (f", {changed.what}" if changed.what else "")
            outcome = answers.check(changed.text)
            faults += faults_of(where, changed, outcome, answers, predicts=verb == "fit")
            if outcome.verified and (changed.false is True or (changed.false == WORD and not outcome.by_word)):
                found = json.loads(outcome.out)
                false.append(f"{where}: verified as {found['claimed']} by a certificate {found['certificate']['kind']}")
    assert not false + faults, "\n".join([f"{len(false)} false files verified, {len(faults)} faults", *false, *faults])


@pytest.mark.parametrize("value", list(BAD_VALUES))
@pytest.mark.parametrize("field", ["coef", "intercept"])
def test_predict_refuses_numbers_that_are_none(field: str, value: str, answers: Answers) -> None:
    accepted = []
    for case in sampled("fit", f"{field}: {value}"):
        path = (field, 0) if field == "coef" else (field,)
        changed = digest_renewed(edited(answers.record(case), *path, value=BAD_VALUES[value]))
        outcome = answers.predict(json.dumps(changed))
        if outcome.code != 2 or outcome.fault:
            accepted.append(f"{case.name}, {field} {value}: exit code {outcome.code} {outcome.fault}")
    assert not accepted, "\n".join(accepted)


def resealed(text: str) -> str:
    """Return the text of a changed file with its own digest, unchanged where it is no record."""
    try:
        record = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return json.dumps(digest_renewed(record)) if isinstance(record, dict) else text
