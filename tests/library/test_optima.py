"""The stored optima, and .nl files in the readers of CasADi and POUNCE: both evaluate them at the stored optimum."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import casadi
import numpy as np
import pounce
import pytest
from support import ROOT

import fsopt
from fsopt.compiler import compile_model
from fsopt.library import instances, optima

LIBRARY = ROOT / "models"
NL = [slug for slug in fsopt.MODELS if (LIBRARY / slug / f"{slug}.nl").is_file()]


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
    assert set(fsopt.MODELS) - set(NL) == {"gmeb-sdp", "misclass-lpec"}
    assert all(b"#" not in (LIBRARY / slug / f"{slug}.nl").read_bytes() for slug in NL)


@pytest.mark.parametrize("slug", NL)
def test_casadi_reads_the_nl_file_and_finds_the_optimum_at_the_stored_point(slug):
    nl = casadi.NlpBuilder()
    nl.import_nl(str(LIBRARY / slug / f"{slug}.nl"))
    x = [stored(slug)["variables"][name] for name in in_order(slug)]
    f = casadi.Function("f", [casadi.vertcat(*nl.x)], [nl.f, casadi.vertcat(*nl.g)])
    value, g = f(x)
    assert float(value) == pytest.approx(minimised(slug), rel=1e-6)
    assert feasible(g, nl.g_lb, nl.g_ub)
    assert feasible(x, nl.x_lb, nl.x_ub)


@pytest.mark.parametrize("slug", NL)
def test_pounce_reads_the_nl_file_and_finds_the_optimum_at_the_stored_point(slug):
    problem = pounce.read_nl(str(LIBRARY / slug / f"{slug}.nl"))
    x = np.array([stored(slug)["variables"][name] for name in in_order(slug)])
    assert problem.objective(x) == pytest.approx(minimised(slug), rel=1e-6)
    assert feasible(problem.constraints(x), problem.g_l, problem.g_u)
    assert feasible(x, problem.x_l, problem.x_u)


@pytest.mark.parametrize("slug", NL)
def test_the_sol_file_has_the_values_in_the_order_of_the_nl_file(slug):
    duals, primals = numbers(slug)
    assert primals.tolist() == [stored(slug)["variables"][name] for name in in_order(slug)]
    rows = in_order(slug, ".row")[:-1]
    known = stored(slug)["duals"]
    assert duals.tolist() == [known[name] for name in rows if all(row in known for row in rows)]


@pytest.mark.slow
@pytest.mark.parametrize("slug", [slug for slug in NL if facts_of(slug)["class"] in ("LP", "QP")])
def test_pounce_solves_the_nl_file_to_the_known_optimum(slug, tmp_path):
    path = Path(shutil.copy(LIBRARY / slug / f"{slug}.nl", tmp_path))
    program = shutil.which("pounce") or str(Path(sys.executable).parent / "pounce")
    done = subprocess.run([program, str(path), "-AMPL"], capture_output=True, text=True, timeout=60)
    assert "Optimal" in done.stdout + path.with_suffix(".sol").read_text()
    problem = pounce.read_nl(str(path))
    lines = path.with_suffix(".sol").read_text().splitlines()
    end = next(k for k, line in enumerate(lines) if line.startswith("objno"))
    x = np.array(lines[end - problem.n : end], dtype=float)
    assert problem.objective(x) == pytest.approx(minimised(slug), rel=1e-6, abs=1e-6)


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
