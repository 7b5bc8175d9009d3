"""Calls of public functions and command lines with arguments of every kind: an answer, or an error of the package."""

import json
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyomo.environ as pyo
import pytest
import scipy.sparse as sp
from fuzz.attack import FACTOR, Nasty, attack, generator
from support import blobs, sampled

import fsopt
from fsopt.cli import main
from fsopt.models.registry import MODELS

CASES, PARTS = 80, 16
"""Calls of a part, and parts, the first of which is for `make test`."""
DATA = blobs(12, 3, seed=4)
OTHER = blobs(14, 2, seed=5)


NUMBERS: tuple[Any, ...] = (
    *(0, 1, 2, 3, -1, 0.5, 1.0, 1e-9, 1e9, 1e300, -1e300, 5e-324, 10**400, -(10**400), 2**31, 2**63),
    *(float("nan"), float("inf"), -float("inf"), np.float32(0.5), np.int8(2), np.float64(1), np.longdouble("1e400")),
    *(True, False, None, 1j, Fraction(1, 3), Decimal("0.1"), np.bool_(True), np.datetime64("2020")),
)
TEXTS: tuple[Any, ...] = (
    *("", "1", "x", "svm", "wdbc", "standard", "clarabel", "highs", "\u00e9\ud800", "a\0b", "n" * 400, b"x"),
)
LISTS: tuple[Any, ...] = (
    *([], [1], [1, 2, 3], [0.5, 0.5, 0.5], [1, "a"], [[1, 2], [3]], (0, 1), [None] * 3, [10**400] * 3),
    *({"a": 1}, {1: 2}, {0, 1}, range(3), iter([1, 2, 3]), pd.Series([1, 2]), sp.eye(3)),
    *(np.ones(3), np.ones((3, 3)), np.ones(0), np.array("x"), np.array([{}]), np.ma.masked_array([1, 2, 3], [0, 1, 0])),
    *(np.full(3, np.nan), np.arange(3), np.array(5)),
)
OBJECTS: tuple[Any, ...] = (
    *(object(), Nasty(), int, len, DATA, OTHER, pd.DataFrame(DATA.X), Path("x"), pyo.AbstractModel()),
)
POOLS = (NUMBERS, TEXTS, LISTS, OBJECTS)


class Draws:
    """Arguments of one call."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng

    def one(self, pool: tuple[Any, ...]) -> Any:
        return pool[self.rng.integers(len(pool))]

    def any(self) -> Any:
        return self.one(POOLS[self.rng.choice(4, p=[0.5, 0.15, 0.2, 0.15])])

    def mostly(self, value: Any) -> Any:
        """Return a valid value, or in one of four draws any other."""
        return value if self.rng.integers(4) else self.any()

    def some(self, names: list[str], most: int = 2) -> dict[str, Any]:
        """Return a few of these keywords."""
        count = min(len(names), int(self.rng.integers(most + 1)))
        return {str(name): self.any() for name in self.rng.permutation(names)[:count]}


def fit(draw: Draws) -> object:
    name = draw.one(tuple(fsopt.METHODS))
    params = draw.some(list(fsopt.METHODS[name].parameters))
    run = draw.some(["solver", "options", "checkpoint", "resume"], 1) if not draw.rng.integers(3) else {}
    found = fsopt.fit(draw.mostly(name), draw.mostly(DATA), **params, **run, time_limit=draw.mostly(2.0))
    return found.predict(draw.mostly(DATA.X)), found.scores(draw.mostly(DATA))


def build(draw: Draws) -> object:
    slug = draw.one(tuple(MODELS))
    known = MODELS[slug].parameters
    params = dict(MODELS[slug].instance.params) if draw.rng.integers(4) else {}
    params |= draw.some(list(known))
    model = fsopt.build(draw.mostly(slug), draw.mostly(DATA), **params)
    return fsopt.classify(model) if draw.rng.integers(2) else fsopt.solve(model, time_limit=2.0)


def solve(draw: Draws) -> object:
    model = fsopt.build("svm", DATA, c=1.0)
    options = {draw.one(("tolerance", "mip_gap", "threads", "seed", "max_iter", "x")): draw.any()}
    solver = draw.mostly(draw.one((None, "clarabel", "scip", "ipopt", "scs")))
    options = draw.mostly(options) if draw.rng.integers(2) else None
    return fsopt.solve(draw.mostly(model), solver, time_limit=draw.mostly(2.0), options=options, tee=draw.mostly(False))


def session(draw: Draws) -> object:
    model = fsopt.build("svm", DATA, c=1.0)
    opened = fsopt.Session(model, "clarabel")
    opened.update(draw.mostly(model.margin))
    opened.add(draw.mostly(model.margin[0]))
    opened.columns(draw.mostly(model.w))
    opened.rows(draw.mostly(model.margin))
    return opened.solve(time_limit=draw.mostly(2.0), load=draw.mostly(True), mip_gap=draw.mostly(1e-3))


def dataset(draw: Draws) -> object:
    data = fsopt.Dataset(draw.mostly(DATA.X), draw.mostly(DATA.y), draw.mostly(["a", "b", "c"]), name=draw.mostly("d"))
    data = fsopt.Dataset(data.X, data.y, labels=draw.mostly(("no", "yes")))
    data.rows(draw.mostly(slice(0, 6)))
    return data.columns(draw.mostly([0, 2])), data.with_X(draw.mostly(DATA.X))


def load(draw: Draws) -> object:
    return fsopt.load_dataset(draw.mostly("wdbc"), target=draw.mostly(None), missing=draw.mostly(None))


def certify(draw: Draws) -> object:
    model = fsopt.build("mpm", DATA)
    result = fsopt.solve(model)
    other = fsopt.build("svm", OTHER, c=1.0)
    result.duals(draw.mostly(model.w))
    return fsopt.certify(draw.mostly(draw.one((model, other))), draw.mostly(result))


def studies(draw: Draws) -> object:
    more = draw.some(["test", "folds", "seed", "scale"])
    return fsopt.radius_path(draw.mostly(DATA), draw.mostly((1.0, 2.0)), **more)


CALLS = (fit, fit, fit, build, build, solve, dataset, load, certify, session, studies)


@pytest.mark.parametrize("part", sampled(range(PARTS), 1))
def test_every_call_answers_or_is_refused(part, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def cases():
        for k in range(part * CASES * FACTOR, (part + 1) * CASES * FACTOR):
            call = CALLS[k % len(CALLS)]
            yield f"{call.__name__} {k}", lambda call=call, k=k: call(Draws(generator(4, k)))

    ends = attack(cases())
    assert min(ends["answer"], ends["parameter"]) > CASES / 40, ends  # how many are drawn of each is chance


LINES = 200
VERBS = (
    *("solve svm", "solve rlp", "solve gmeb-dual", "solve nothing", "fit svm", "fit gbd", "fit l1-mpm", "fit pearson"),
    *("export svm -o m.lp", "export rlp -o m.nl", "check fit.json", "predict fit.json", "show svm"),
    *("models", "solvers", "methods", "compare --methods svm,fisher --folds 2 --jobs 1", "x"),
    *("show fit.json", "study --store s.sqlite"),
)
TOKENS = (
    *("", "0", "1", "-1", "2.5", "nan", "inf", "1e300", "9" * 400, "x", "é", "\udcff", "a=b", "c=1", "c=[" * 2000),
    *("m=2", "m=-1", "m=9", "scale=none", "scale=x", "d.csv", "fit.json", "wdbc", "~nosuchuser/x", "n" * 300),
    *(".", "/", "nowhere/x", "/dev/null", "clarabel", "highs", "scip", "pyomo:x", "drop", "mean", "label", "--"),
)
OPTIONS = (
    *("--data", "--param", "--solver", "--time-limit", "--target", "--missing", "--options", "-o", "--scale", "--read"),
    *("--checkpoint", "--resume", "--folds", "--seed", "--jobs", "--methods", "--version", "--help", "--tee", "--no"),
    *("--verify", "--json", "--proof", "--exact"),
)


@pytest.mark.slow
def test_every_command_line_ends_as_promised(tmp_path, monkeypatch, capsys, in_process):
    data = blobs(14, 3, seed=6)
    rows = [",".join([*map(repr, x), str(int(y))]) for x, y in zip(data.X.tolist(), data.y, strict=True)]
    content = "\n".join(["a,b,c,label", *rows]) + "\n"
    (tmp_path / "d.csv").write_text(content)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FSOPT_TRACEBACK", "1")  # what nobody foresaw is raised
    monkeypatch.delenv("FSOPT_DATA", raising=False)

    def run(arguments: list[str]) -> None:
        try:
            main(arguments)
        except SystemExit as stopped:
            code = stopped.code
        out, err = capsys.readouterr()
        assert code in (0, 1, 2), code
        assert "Traceback" not in err
        assert "Internal" not in err
        if "--json" in arguments and out and code != 2 and not {"--help", "--version", "--tee"} & set(arguments):
            json.loads(out)

    run(["fit", "svm", "--data", "d.csv", "-o", "fit.json"])
    fit = (tmp_path / "fit.json").read_text()

    def cases():
        for k in range(LINES * FACTOR):
            rng = generator(7, k)
            arguments = VERBS[rng.integers(len(VERBS))].split()
            if rng.integers(6):
                arguments += ["--data", "d.csv"]
            for _ in range(int(rng.integers(4))):
                arguments.append(OPTIONS[rng.integers(len(OPTIONS))])
                if rng.integers(6):
                    arguments.append(TOKENS[rng.integers(len(TOKENS))])
            arguments += ["--json"] * int(rng.integers(2))
            (tmp_path / "d.csv").write_text(content)  # the last command may have written over them
            (tmp_path / "fit.json").write_text(fit)
            yield f"{k} {arguments}", lambda arguments=arguments: run(arguments)

    attack(cases())
