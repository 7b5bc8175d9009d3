"""Algorithm 1 and the method mopfs: bounds of each iteration, Proposition 1, s = 1, saved fits and damaged ones."""

from importlib import import_module

import numpy as np
import pytest
from support import blobs, reference

import fsopt
from fsopt.answers.results import Status
from fsopt.data.hyperplanes import hinge, midpoint_intercept
from fsopt.drivers.mop import PROPOSITION, mop, risk_bound
from fsopt.methods import large_programs
from fsopt.methods.preprocessing import preprocess

driver, programs = import_module("fsopt.drivers.mop"), import_module("fsopt.drivers.kernel_scaling")
TRAP = reference("mop_a"), 5.0
"""Data and W0 at whose first hyperplane s = 1 is the optimum of (15): a golden value, H = 5."""


def noisy(seed=0, n=30, p=10):
    """Return preprocessed data with a few informative columns."""
    return preprocess(blobs(n, p, seed=seed), "unit-rows")[0]


@pytest.mark.parametrize(("seed", "c", "scaling"), [(0, 0.0, "global"), (1, 0.02, "global"), (4, 0.0, "local")])
def test_every_iteration_is_proved(seed, c, scaling):
    data = noisy(seed)
    result = mop(data, w_cap=4.0, c=c, scaling=scaling)
    E, H = np.array(result.point["E"]), np.array(result.point["H"])
    assert result.iterations >= 2
    for record in result.history:
        # With costs the global answer is a solver's word: its first-order condition is proved.
        proved = scaling == "global" and not c
        assert record["status"] == ("optimal" if proved else "stationary")
        assert record["worst"] <= 1e-6
        assert record["E_bound"] <= record["E"] * (1 + 1e-12) + 1e-12
        assert record["E"] - record["E_bound"] <= 1e-6 * max(1.0, record["E"])
        if proved:
            assert 0 <= record["value"] - record["bound"] <= 1e-6 * max(1.0, record["value"])
    assert result.status is Status.FEASIBLE
    assert result.objective == E[-1]
    assert np.all(np.diff(E) <= 1e-6 * np.maximum(1.0, E[:-1]))
    assert [r["E"] for r in result.history] == E[: len(result.history)].tolist()
    if c == 0:
        assert np.all(np.diff(H) <= 1e-6 * np.maximum(1.0, H[:-1]))
        assert "rise of H" in result.certificate.residuals
    assert result.stop == "settled"
    assert result.certificate.notes == ((PROPOSITION,) if c else ())
    assert "c = 0" in PROPOSITION
    assert result.certificate.ok


@pytest.mark.parametrize(("n", "p", "seed", "w_cap"), [(12, 5, 9, 8.0), (20, 4, 2, 1.0)])
def test_the_global_alternation_takes_a_lower_product_at_the_same_hyperplane(n, p, seed, w_cap):
    data = preprocess(blobs(n, p, seed=seed), "standard")[0]
    local, best = (mop(data, w_cap=w_cap, scaling=s, max_iterations=1) for s in ("local", "global"))
    assert local.point["E"][0] == best.point["E"][0]
    assert local.history[0]["status"] == "stationary"
    assert best.history[0]["status"] == "optimal"
    assert best.point["H"][0] < 0.997 * local.point["H"][0]


@pytest.mark.parametrize("seed", range(2))
def test_no_hyperplane_within_the_cap_has_a_lower_loss_than_the_bound(seed):
    data, rng = noisy(seed), np.random.default_rng(seed)
    result = mop(data, w_cap=3.0)
    at = result.point
    alive = at["scales"] > 0
    assert (at["w"][alive] ** 2 / at["scales"][alive]).sum() <= at["cap"] * (1 + 1e-9)
    assert not at["w"][~alive].any()
    bound = risk_bound(data, at["scales"], at["cap"], at["alpha"])
    assert bound == pytest.approx(result.objective, rel=1e-6)
    for noise in (1e-3, 0.1, 1.0):
        worse = risk_bound(data, at["scales"], at["cap"], at["alpha"] + noise * rng.standard_normal(data.n))
        assert worse <= bound + 1e-6 * bound
        u = at["w"] / np.sqrt(np.where(alive, at["scales"], 1.0)) + noise * rng.standard_normal(data.p)
        w = np.sqrt(at["scales"]) * u * np.sqrt(at["cap"]) / np.linalg.norm(u)
        scores = data.X @ w
        assert hinge(scores + midpoint_intercept(scores, data.y), data.y) >= bound - 1e-9


@pytest.mark.parametrize(("scaling", "shown"), [("local", "stationary"), ("global", "optimal")])
def test_the_trap_of_the_paper_is_named_and_proved_where_it_is(scaling, shown):
    data, w_cap = TRAP
    fit = fsopt.fit("mopfs", data, w_cap=w_cap, c=0.0, scale="none", scaling=scaling)
    assert fit.details["H"][0] == pytest.approx(5.0, rel=1e-6)
    assert any(f"s = 1 is already {shown}" in w for w in fit.warnings)
    free = fsopt.fit("mopfs", noisy(1), w_cap=4.0, scaling=scaling, max_iterations=1)
    assert not any("s = 1" in w for w in free.warnings)


def without_models(patch):
    """Let data of every size be solved without models, and restricted programs begin with few samples."""
    patch.setattr(large_programs, "INTERIOR", 1)
    patch.setattr(programs, "NEAREST", 5)
    patch.setattr(programs, "FOR_EACH", 0)
    patch.setattr(programs, "FARTHEST", 2)


@pytest.fixture
def parts(monkeypatch):
    without_models(monkeypatch)


@pytest.mark.parametrize(("w_cap", "c"), [(0.5, 0.0), (4.0, 0.02), (1e6, 0.0)])
def test_parts_of_the_samples_have_the_answer_of_all(w_cap, c, parts):
    data = noisy(5, n=60)
    whole, part = (mop(data, w_cap=w_cap, c=c, scaling="global", generate=g) for g in (False, True))
    assert part.certificate.ok
    assert part.solver == ("fsopt+scip+highs" if c else "fsopt+highs")
    assert part.point["E"][0] == pytest.approx(whole.point["E"][0], rel=1e-6)
    # At the smallest loss of all the feasible scales are few, and their values as exact as the loss is.
    exact = 1e-4 if w_cap == 1e6 else 1e-6
    assert part.history[0]["value"] == pytest.approx(whole.history[0]["value"], rel=exact)
    assert c or part.history[0]["bound"] == pytest.approx(whole.history[0]["bound"], rel=exact)
    assert part.point["inactive"] == whole.point["inactive"]


def test_a_cap_of_zero_leaves_the_best_constant_and_its_proof():
    data = noisy(5, n=9)
    smaller = min(len(data.positive), len(data.negative))
    for at in (mop(data, w_cap=1e-30).point, mop(data.with_X(0.0 * data.X), w_cap=1.0).point):
        assert not at["w"].any()
        assert at["E"] == pytest.approx([2.0 * smaller] * len(at["E"]))
        assert risk_bound(data, at["scales"], at["cap"], at["alpha"]) == pytest.approx(2.0 * smaller)
