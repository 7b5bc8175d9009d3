"""The stored optima, and .nl files in the readers of CasADi and POUNCE: both evaluate them at the stored optimum."""

from __future__ import annotations

import json
import tomllib

import casadi
import numpy as np
import pounce
import pytest
from support import ROOT

import fsopt
from fsopt.compiler import compile_model
from tools import instances, optima

LIBRARY = ROOT / "models"
WRITTEN = [slug for slug in fsopt.MODELS if (LIBRARY / slug / f"{slug}.nl").is_file()]
NL = [slug for slug in WRITTEN if fsopt.MODELS[slug].problem_class != "MPEC"]
"""The .nl files that these readers take: those with complementarities are in formats/test_complementarities.py."""


def facts_of(slug):
    return tomllib.loads((LIBRARY / slug / "instance.toml").read_text(encoding="utf-8"))


def stored(slug):
    return json.loads((LIBRARY / slug / optima.JSON).read_text(encoding="utf-8"))


def in_order(slug, suffix=".col"):
    return (LIBRARY / slug / f"{slug}{suffix}").read_text(encoding="utf-8").split()


def numbers(slug):
    """Return the dual and primal values of a .sol file."""
    lines = (LIBRARY / slug / f"{slug}.sol").read_text(encoding="utf-8").splitlines()
    start = lines.index("Options") + 1
    start += int(lines[start]) + 1
    _, duals, _, primals = map(int, lines[start : start + 4])
    assert lines[-1] == "objno 0 0"
    values = np.array(lines[start + 4 : -1], dtype=float)
    assert len(values) == duals + primals
    return values[:duals], values[duals:]


def minimised(slug):
    """Return the optimum as these readers state it: they minimise the negative of a maximisation."""
    optimum = facts_of(slug)["optimum"]
    return -optimum["objective"] if optimum["sense"] == "maximise" else optimum["objective"]


def feasible(g, low, high):
    g, low, high = (np.asarray(a, dtype=float).ravel() for a in (g, low, high))
    return np.max(np.maximum(low - g, g - high) / (1.0 + np.abs(g)), initial=0.0) <= 1e-6


@pytest.mark.parametrize("slug", fsopt.MODELS)
def test_the_stored_optimum_is_a_point_of_the_model_with_the_recorded_value(slug):
    program = compile_model(instances.solvable(instances.build_instance(slug)))
    found = stored(slug)
    assert optima.is_optimum(program, found, found["objective"])
    assert found["objective"] == pytest.approx(facts_of(slug)["optimum"]["objective"], rel=1e-7)
    forged = {**found, "variables": {k: v + 0.1 for k, v in found["variables"].items()}}
    assert not optima.is_optimum(program, forged, found["objective"])
    if not program.objective_terms:
        assert program.objective_at(optima.point_of(program, found)) == pytest.approx(found["objective"], rel=1e-6)


def test_every_nl_file_is_there_that_the_format_holds():
    assert set(fsopt.MODELS) - set(WRITTEN) == {"gmeb-sdp"}
    assert all(b"#" not in (LIBRARY / slug / f"{slug}.nl").read_bytes() for slug in WRITTEN)


@pytest.mark.parametrize("slug", NL)
def test_other_readers_of_the_nl_file_find_the_optimum_at_the_stored_point_which_is_in_the_sol_file(slug):
    path, known = str(LIBRARY / slug / f"{slug}.nl"), stored(slug)
    x = np.array([known["variables"][name] for name in in_order(slug)])
    nl = casadi.NlpBuilder()
    nl.import_nl(path)
    value, g = casadi.Function("f", [casadi.vertcat(*nl.x)], [nl.f, casadi.vertcat(*nl.g)])(x)
    assert float(value) == pytest.approx(minimised(slug), rel=1e-6)
    assert feasible(g, nl.g_lb, nl.g_ub)
    assert feasible(x, nl.x_lb, nl.x_ub)
    problem = pounce.read_nl(path)
    assert problem.objective(x) == pytest.approx(minimised(slug), rel=1e-6)
    assert feasible(problem.constraints(x), problem.g_l, problem.g_u)
    assert feasible(x, problem.x_l, problem.x_u)
    duals, primals = numbers(slug)
    assert primals.tolist() == x.tolist()
    rows = in_order(slug, ".row")[:-1]
    assert duals.tolist() == [known["duals"][name] for name in rows if all(row in known["duals"] for row in rows)]


def test_a_good_point_stays_and_a_bad_one_is_replaced(tmp_path):
    instances.write_instance("rlp", tmp_path / "rlp")
    place = tmp_path / "rlp" / optima.JSON
    first = place.read_text()
    marked = json.dumps({**json.loads(first), "solver": "another"})
    place.write_text(marked)
    instances.write_instance("rlp", tmp_path / "rlp")
    assert place.read_text() == marked
    place.write_text(json.dumps({**json.loads(first), "objective": 0.0}))
    instances.write_instance("rlp", tmp_path / "rlp")
    assert json.loads(place.read_text())["objective"] == json.loads(first)["objective"]
