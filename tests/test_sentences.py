"""Sentences of the first pages that claim something: each stands beside what tells whether it is true."""

import inspect
import re
import tomllib

import pandas as pd
import pyomo.environ as pyo
import pytest
from support import ROOT, blobs, sampled

import fsopt
from fsopt.common.files import size_limit
from fsopt.data.layout import SUFFIXES

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
DATA = blobs(40, 5, seed=3, gap=0.8)
PAIRS = (("malignant", "benign"), ("yes", "no"), ("3", "-2"))
"""Labels, that of class +1 first."""
PARAMS = {"best-subset": {"m": 2}, "gbd": {"m": 2}}
OVERLAPPING = blobs(24, 4, seed=3, gap=0.1)
PROOF = {"nothing": "feasible", "stationary": "stationary", "monotone": "feasible"}
"""A word of the page on what an answer proves -> the status on data that overlap; others are of an optimum."""


def words(page: str) -> str:
    return " ".join((ROOT / page).read_text("utf-8").split())


def refused(call) -> bool:
    with pytest.raises(fsopt.FsoptError):
        call()
    return True


def positive(*labels: str) -> str:
    return fsopt.load_dataset(pd.DataFrame({"a": range(12), "label": [*labels] * 6})).labels[1]


def program(lower: float, upper: float, sense=pyo.minimize, domain=pyo.Reals) -> pyo.ConcreteModel:
    model = pyo.ConcreteModel()
    model.x = pyo.Var(domain=domain, bounds=(lower, upper))
    model.objective = pyo.Objective(expr=model.x, sense=sense)
    return model


def default(function, name: str):
    return inspect.signature(function).parameters[name].default


def ends(sense) -> list[float]:
    found = fsopt.certify(model := program(1.0, 2.0, sense), fsopt.solve(model))
    return [found.objective, found.bound]


def missing() -> bool:
    frame = pd.DataFrame({"a": [None, *range(11)], "label": [0, 1] * 6})
    kept = [fsopt.load_dataset(frame, missing=kind).n for kind in ("drop", "mean", "median")]
    return refused(lambda: fsopt.load_dataset(frame)) and kept == [11, 12, 12]


SENTENCES = {
    ("README.md", "with Python 3.11 or newer"): lambda: PROJECT["requires-python"] == ">=3.11",
    ("docs/start.md", "HiGHS and Clarabel come along"): lambda: (
        {"highspy", "clarabel"} <= {re.split(r"\W", one)[0] for one in PROJECT["dependencies"]}
    ),
    ("docs/start.md", "of two words the one that sounds like the condition"): lambda: (
        [positive(*two) for two in PAIRS] == [two[0] for two in PAIRS]
    ),
    ("docs/start.md", "(malignant, yes, positive ...); where neither does, it is asked for"): (
        lambda: refused(lambda: positive("red", "blue"))
    ),
    ("docs/start.md", "an error without `--missing`, which is `drop`, `mean` or `median`"): missing,
    ("docs/start.md", "refused beyond 0.5 GB"): lambda: size_limit() == 0.5e9,
    ("docs/start.md", "means over five stratified folds"): lambda: default(fsopt.compare, "folds") == 5,
    ("docs/start.md", "Every fit stops after 30 seconds"): lambda: default(fsopt.compare, "time_limit") == 30,
    ("docs/start.md", "`.csv`, `.tsv` (also `.gz`)"): lambda: (
        {one.removesuffix(".gz") for one in SUFFIXES} <= set(re.findall(r"`(\.\w+)`", words("docs/start.md")))
    ),
    ("docs/which.md", "the worst case of `mpm` is 1 there"): (
        lambda: fsopt.fit("mpm", blobs(12, 30, seed=1)).objective < 1e-9  # 1/kappa: the worst case is k^2/(1 + k^2)
    ),
    ("docs/certificates.md", "For a maximum the interval is [f, L]"): lambda: (
        ends(pyo.maximize) == pytest.approx([2, 2]) and ends(pyo.minimize) == pytest.approx([1, 1])
    ),
    ("docs/certificates.md", "(`x >= 1`, `x <= 0`; an integer between 0.2 and 0.8), before any solver is called"): (
        lambda: (
            [fsopt.solve(one).status for one in (program(1, 0), program(0.2, 0.8, domain=pyo.Integers))]
            == ["infeasible", "infeasible"]
        )
    ),
    ("docs/certificates.md", "the status line says whose: `optimal (bound: highs)`"): lambda: (
        fsopt.solve(program(0.5, 2.5, domain=pyo.Integers), "highs").status_line == "optimal (bound: highs)"
    ),
    ("docs/certificates.md", "above it `stop` says, for example, `within 0.1`"): lambda: (
        fsopt.fit("best-subset", DATA, m=2, tolerance=0.1).stop == "within 0.1"
    ),
    (
        "docs/start.md",
        "stops the exact search `best-subset` after 3,000 nodes, which is a proof on `wdbc`",
    ): lambda: fsopt.fit("best-subset", fsopt.load_dataset("wdbc"), max_nodes=3000, tolerance=1e-3).status == "optimal",
}
"""Page and sentence -> what tells whether it is true; the last one takes seconds."""


@pytest.mark.parametrize(("page", "sentence"), sampled(SENTENCES, len(SENTENCES) - 1), ids=lambda text: text[:40])
def test_a_sentence_of_a_first_page_is_true(page, sentence):
    assert sentence in words(page)
    assert SENTENCES[page, sentence]()


def rows():
    for line in (ROOT / "docs/which.md").read_text("utf-8").splitlines():
        for method in re.findall(r"\]\(/methods/([\w-]+)\.md\)", line):
            proved = next((part for part in line.split("|")[3].split(";") if f"({method})" in part), line.split("|")[3])
            yield method, next((status for word, status in PROOF.items() if word in proved), "optimal")


@pytest.mark.parametrize(("method", "stated"), dict(rows()).items())
def test_the_status_of_a_method_is_what_the_page_says_that_its_answer_proves(method, stated):
    found = fsopt.fit(method, OVERLAPPING, **PARAMS.get(method, {}))
    assert found.status == stated
    assert f"`{found.certificate.kind}`" in words("docs/certificates.md")
