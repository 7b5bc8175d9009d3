"""Calls of fit that are refused by a word of their own, most of them before any solver."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from support import blobs, reference

import fsopt
from fsopt.errors import ParameterError, SolverError
from fsopt.solvers.base import Session

LOOPS = {"best-subset": "gbd", "best-subset-penalised": "gbd-lambda"}
CLOSED = r"penalty weights alone.*gbd-lambda"
REFUSED = [
    *(("gbd", {"start": start}, "start") for start in ("half", [0.5], [2.0] * 6)),
    ("gbd", {"root_cuts": 5}, "no parameter 'root_cuts'"),
    ("gbd", {"m": 1, "include": [0, 1]}, "no selection"),
    ("gbd", {"include": ["nix"]}, "nix"),
    ("gbd", {"m": 2, "preset": "closed-form"}, CLOSED),
    ("gbd-lambda", {"include": [0], "preset": "closed-form"}, CLOSED),
    ("gbd-lambda", {"implies": [[0, 1]], "preset": "closed-form"}, CLOSED),
    *(("gbd-lambda", {"lam": lam}, "lam") for lam in (-1.0, [1.0], "much")),
    ("best-subset", {"m": 2, "solver": "clarabel"}, "calls no solver, and is given solver='clarabel'"),
    ("best-subset", {"m": 2, "options": {"verbose": True}}, "calls no solver, and is given options"),
    ("best-subset", {"m": 2, "jobs": 2, "executor": print}, "an executor"),
    *(("rfe", {name: wrong}, f"'{name}'") for name, wrong in (("m", 7), ("m", 1.5))),
    ("gmeb", {"r_plus": np.inf, "r_minus": np.inf}, "r_plus"),
]


@pytest.mark.parametrize(("method", "params", "words"), REFUSED, ids=str)
def test_a_wrong_parameter_is_refused_before_any_solver(method, params, words, monkeypatch):
    monkeypatch.setattr(Session, "solve", lambda *args, **keywords: pytest.fail("a solver was called"))
    with pytest.raises(ParameterError, match=words):
        fsopt.fit(method, reference("gbd_n6"), **params)


@pytest.mark.parametrize(("search", "loop"), LOOPS.items())
@pytest.mark.parametrize("name", ["max_cuts", "preset", "max_nodes", "loss"])
def test_a_parameter_of_the_other_method_is_refused_with_its_name(search, loop, name):
    method, other = (search, loop) if name in ("max_cuts", "preset") else (loop, search)
    with pytest.raises(ParameterError, match=f"method '{method}' has no parameter '{name}'") as caught:
        fsopt.fit(method, reference("gbd_n6"), **{name: 3})
    assert other in caught.value.hint.split(": ")[1].split(", ")


@pytest.mark.parametrize("params", [{"solver": "scip"}, {"solver": "highs", "route": "dual"}], ids=str)
def test_a_solver_without_multipliers_or_of_another_class_is_refused(params):
    words = "installed for SOCP" if "route" in params else r"scip.*gives no multipliers.*clarabel"
    with pytest.raises(SolverError, match=words):
        fsopt.fit("gmeb", blobs(), **params)


@pytest.mark.parametrize(("method", "params"), [("svm", {}), ("best-subset", {"m": 2}), ("best-subset", {"jobs": 1})])
def test_an_executor_without_tasks_is_refused(method, params):
    with ThreadPoolExecutor(1) as executor, pytest.raises(ParameterError, match="no more than one"):
        fsopt.fit(method, blobs(), executor=executor, **params)


@pytest.mark.parametrize("method", ["rsvm", "gmeb"])
def test_samples_without_a_difference_are_refused(method):
    with pytest.raises(fsopt.FsoptError, match=r"all samples are the same|all features are constant"):
        fsopt.fit(method, fsopt.Dataset(np.ones((6, 2)), np.array([1.0, -1.0] * 3)))
