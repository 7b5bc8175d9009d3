"""Values of the methods against other software: tests/reference/golden.json, and all selections by libsvm."""

import json
import re
from itertools import pairwise

import numpy as np
import pyomo.environ as pyo
import pytest
from support import REFERENCE, all_values, blobs, reference, sampled

import fsopt
from fsopt.answers.results import Status
from fsopt.drivers.gbd.driver import gbd
from fsopt.errors import InfeasibleError
from fsopt.solvers.base import Session

ENTRIES = json.loads((REFERENCE / "golden.json").read_text())
FITS = [e for e in ENTRIES if e["kind"] == "fit" and e["name"] in fsopt.METHODS]
LONG = [e for e in FITS if (e["name"], e["data"]) in (("gmeb-penalised", "wdbc_std"), ("fsv", "sgm_wdbc_std"))]
ERRORS = [e for e in ENTRIES if e["kind"] == "error" and e["name"] in fsopt.METHODS]


def name_of(entry):
    """Return a short test id."""
    words = [f"{k}={v}" for k, v in entry["params"].items() if not isinstance(v, list)]
    return "-".join([entry["name"], entry["data"], *words])


def scaling(entry):
    """Return the keyword that turns preprocessing off where the value was computed on the data as stored."""
    return {"scale": "none"} if entry.get("no_scaling") or entry["kind"] == "error" else {}


def ends_first(entries):
    """Return the entries, first and last of each method, data set and C before those between them."""
    groups = {}
    for entry in entries:
        groups.setdefault((entry["name"], entry["data"], entry["params"].get("c")), []).append(entry)
    ends = [e for group in groups.values() for e in group if e in (group[0], group[-1]) and e not in LONG]
    return sampled([*ends, *(e for e in entries if e not in ends)], len(ends))


@pytest.mark.parametrize("entry", ends_first(FITS), ids=name_of)
def test_fit_reaches_the_reference_value(entry):
    data = reference(entry["data"])
    fit = fsopt.fit(entry["name"], data, **entry["params"], **scaling(entry))
    value, allowed = entry["objective"], entry["atol"] + entry["rtol"] * abs(entry["objective"])
    if entry.get("at_most"):
        assert fit.objective <= value + allowed
    else:
        assert fit.objective == pytest.approx(value, abs=allowed, rel=0)
    assert fit.certificate.ok, fit.certificate
    if entry.get("support") is not None:
        assert list(fit.support) == entry["support"]
        assert fit.features == tuple(data.features[j] for j in entry["support"])
    if "support_at_1e5" in entry:
        size = np.abs(fit.coef)
        assert np.flatnonzero(size > 1e-5 * size.max()).tolist() == entry["support_at_1e5"]
    if "plane_errors" in entry:
        wrong = int(np.sum(data.y * fit.decision_function(data.X) <= 0))
        assert fit.details["plane_errors"] == wrong == entry["plane_errors"]


@pytest.mark.parametrize("entry", ERRORS, ids=name_of)
def test_what_cannot_be_asked_for_is_refused_before_any_solver(entry, monkeypatch):
    def refuse(*args, **kwargs):
        pytest.fail("a solver was called")

    monkeypatch.setattr(Session, "solve", refuse)
    with pytest.raises(InfeasibleError) as caught:
        fsopt.fit(entry["name"], reference(entry["data"]), **entry["params"], **scaling(entry))
    numbers = [float(x) for x in re.findall(r"\d+\.\d+", str(caught.value))]
    assert min(abs(x - entry["mentions"]) for x in numbers) <= 1e-3


# ---------------------------------------------------------------- GBD against all selections


@pytest.mark.parametrize("seed", range(3))
def test_gbd_finds_the_best_of_all_selections(seed):
    n, p, c = (20, 24, 30)[seed % 3], 4 + seed % 3, (0.5, 2.0, 8.0)[seed % 3]
    data = blobs(n, p, seed=seed)
    values = all_values(data, c)
    costs = np.random.default_rng(seed).integers(1, 5, p).astype(float)
    budget = float(costs.sum() // 2)
    limits = [({"m": m}, lambda s, m=m: sum(s) <= m) for m in (1, 2, p)]
    limits.append(({"costs": costs.tolist(), "budget": budget}, lambda s: costs @ s <= budget))
    for limit, allowed in limits:
        smallest = min(v for s, v in values.items() if allowed(s))
        fit = fsopt.fit("best-subset", data, c=c, scale="none", **limit)
        assert fit.status == "optimal"
        assert fit.objective == pytest.approx(smallest, rel=2e-6)
        assert fit.bound == pytest.approx(smallest, rel=2e-6)
        sigma = np.zeros(p, dtype=int)
        sigma[list(fit.support)] = 1
        assert allowed(tuple(sigma))
        assert values[tuple(sigma)] == pytest.approx(smallest, rel=2e-6)


@pytest.mark.parametrize("seed", [0, 2])
def test_every_cut_of_gbd_is_dual_feasible_and_valid_everywhere(seed):
    data, c = blobs(24, 5, seed=seed), (0.5, 2.0, 8.0)[seed]
    values = all_values(data, c)
    fit = fsopt.fit("gbd", data, m=2, c=c, scale="none")
    assert len(fit.details["alphas"]) >= 2
    for alpha in fit.details["alphas"]:
        assert alpha.min() >= 0.0
        assert alpha.max() <= c
        assert abs(alpha @ data.y) <= 1e-12 * max(1.0, alpha.sum())
        slopes = 0.5 * (data.X.T @ (alpha * data.y)) ** 2
        for sigma, value in values.items():
            assert alpha.sum() - slopes @ sigma <= value + 1e-7 * max(1.0, value)


@pytest.mark.parametrize(("data", "m"), [(blobs(24, 5, seed=1), 3), (reference("gbd_n6"), 1)], ids=str)
def test_gbd_encloses_the_best_value_in_every_iteration(data, m):
    c = 4.0
    smallest = min(v for s, v in all_values(data, c).items() if sum(s) <= m)
    master, sub = fsopt.build("fsp-master", data, m=m), fsopt.build("fsp-sub", data, c=c)
    result = gbd(data, master, sub, c=c)
    lower, upper = ([h[k] for h in result.history] for k in ("bound", "objective"))
    slack = 2e-6 * smallest
    assert max(lower) <= smallest + slack
    assert min(upper) >= smallest - slack
    assert np.all(np.diff(lower) >= 0)
    assert all(b <= a for a, b in pairwise(upper))
    assert result.status is Status.OPTIMAL
    assert result.objective == pytest.approx(smallest, rel=2e-6)
    assert result.bound == lower[-1]


def test_gbd_obeys_a_rule_that_the_user_adds_to_the_master():
    data, c = reference("gbd_n6"), 4.0
    master, sub = fsopt.build("fsp-master", data, m=2), fsopt.build("fsp-sub", data, c=c)
    master.rule = pyo.Constraint(expr=master.sigma[1] >= 1)
    result = gbd(data, master, sub, c=c)
    smallest = min(v for s, v in all_values(data, c).items() if sum(s) <= 2 and s[1])
    assert result.status is Status.OPTIMAL
    assert result.point["sigma"][1] == 1
    assert result.objective == pytest.approx(smallest, rel=2e-6)
