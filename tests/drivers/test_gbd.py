"""GBD: all selections by brute force, swapped parts, valid cuts, bounds, stops, changed masters, groups and signs."""

import itertools

import numpy as np
import pytest
from grouped_cases import drawn, enumerated
from support import all_values, blobs, keeps, reference, sampled, there

import fsopt
from fsopt.answers.results import Status
from fsopt.drivers.gbd import subproblem
from fsopt.drivers.gbd.driver import GbdSettings, gbd
from fsopt.drivers.gbd.master import ClosedForm
from fsopt.drivers.recorder import Recorder
from fsopt.drivers.run import Run
from fsopt.errors import ParameterError
from fsopt.linear.interior_point import minimise
from fsopt.models.gbd.fsp_master import build_fsp_master, cut_coefficients
from fsopt.models.gbd.fsp_sub import build_fsp_sub

C = 4.0
GOLDEN, TWO = reference("gbd_n6"), {"m": 2}


def run(data=GOLDEN, limits=TWO, c=C, *, solver=None, **settings):
    """Run the driver on the models of the limits, or on a master."""
    master = fsopt.build("fsp-master", data, **limits) if isinstance(limits, dict) else limits
    return gbd(data, master, fsopt.build("fsp-sub", data, c=c), c=c, settings=GbdSettings(**settings), run=Run(solver))


def least(values, limits):
    """Return the smallest value over the selections that keep the limits, with the penalty weights of the features."""
    rules = {k: v for k, v in limits.items() if k != "lam"}
    lam = limits.get("lam", 0.0)
    return min(v + np.sum(lam * np.array(s)) for s, v in values.items() if keeps(np.array(s), **rules))


CASES = {
    "cardinality": ({"m": 2}, {}),
    "budget": ({"costs": [1.0, 4.0, 3.0, 2.0], "budget": 5.0}, {}),
    "logic": ({"m": 3, "implies": [[0, 1]], "conflicts": [[1, 2]], "exclude": [3]}, {}),
    "include": ({"m": 2, "include": [1], "conflicts": [[1, 0]]}, {"start": "zero", "master_solver": "highs"}),
    "high penalty weight": ({"lam": 1e3}, {}),
    "penalty weights": ({"lam": [0.1, 6.0, 0.5, 2.0]}, {"start": [0.0, 0.3, 1.0, 0.5]}),
    "all as printed": ({"m": 2}, {"start": "zero", "solver": "piqp"}),
    "penalty weight, scip": ({"lam": 2.0}, {"master_solver": "scip"}),
    "cardinality, gurobi": ({"m": 2}, {"master_solver": "gurobi"}),
    "include, ipopt": ({"m": 2, "include": [1]}, {"solver": "ipopt"}),
}
"""Name -> limits of a selection, settings of the loop."""


@pytest.mark.parametrize("case", sampled(CASES, 7))
@pytest.mark.parametrize("seed", sampled(range(3), 1))
def test_gbd_finds_the_best_of_all_allowed_selections_whatever_the_parts_of_the_loop(case, seed):
    limits, options = CASES[case]
    for name in (options.get("master_solver"), options.get("solver")):
        if name in fsopt.SOLVERS:
            there(name)
    c = (2.0, 0.5, 8.0)[seed]
    data = blobs(20, 4, seed=seed)
    result = run(data, limits, c, **options)
    best = least(all_values(data, c), limits)
    assert result.status is Status.OPTIMAL
    assert result.objective == pytest.approx(best, rel=2e-6)
    assert result.bound == pytest.approx(best, rel=2e-6)
    assert keeps(result.point["sigma"], **{k: v for k, v in limits.items() if k != "lam"})
    assert not np.any(result.point["w"][result.point["sigma"] == 0])


def fixed(m):
    m.sigma[0].fix(1)
    m.sigma[3].fix(0)
    m.sigma[4].setub(0)
    m.sigma[5].setlb(0.5)


FIXED = {"include": [0, 5], "exclude": [3, 4]}
priced = lambda m: m.objective.set_value(m.theta + 7.0 * m.sigma[4] - 2.0 * m.sigma[1])  # noqa: E731
CHANGED = [  # m, the change of the master, what it stands for, and settings
    (3, priced, {"lam": [0, -2.0, 0, 0, 7.0, 0]}, {}),
    (2, fixed, FIXED, {"start": "zero"}),
    (6, fixed, FIXED, {"start": "all"}),
    (2, fixed, FIXED, {"start": "all", "master_solver": "scip"}),
]


@pytest.mark.parametrize(("m", "change", "limits", "settings"), CHANGED)
def test_penalty_weights_bounds_and_values_that_the_user_gives_the_master_count(m, change, limits, settings):
    change(master := fsopt.build("fsp-master", GOLDEN, m=m))
    result = run(GOLDEN, master, **settings)
    best = least(all_values(GOLDEN, C), {"m": m, **limits})
    assert result.status is Status.OPTIMAL
    assert result.objective == pytest.approx(best, rel=2e-6)
    assert result.bound <= best * (1 + 1e-9)


def test_multipliers_off_balance_are_measured_in_the_unit_of_c():
    off = [subproblem.cut_residuals(reference("gbd_n6"), [np.eye(40)[0]], c) for c in (0.5, 1.0, 4.0)]
    assert [found["alpha balance"] for found in off] == [1.0, 1.0, 0.25]


def test_a_master_that_repeats_itself_ends_the_loop_without_a_claim(monkeypatch):
    """A subproblem solved badly gives weak cuts: the bounds stay true, the gap open."""
    data, exact = reference("gbd_n6"), subproblem.project_multipliers
    monkeypatch.setattr(subproblem, "project_multipliers", lambda a, y, c: exact(0.8 * a, y, c))
    result = run(data, {"m": 2})
    best = least(all_values(data, C), {"m": 2})
    assert (result.stop, result.status) == ("repeated", Status.FEASIBLE)
    assert result.bound <= best * (1 + 1e-6) <= result.objective * (1 + 2e-6)
    assert result.bound < 0.999 * result.objective


@pytest.mark.parametrize("seed", range(6))
def test_no_selection_has_a_lower_value_on_one_cut(seed):
    data, rng = blobs(12, 7, seed=seed), np.random.default_rng(seed)
    lam, alpha = rng.choice([0.0, 0.3, 2.0], 7), rng.uniform(0.0, 1.0, 12)
    master = ClosedForm(data, build_fsp_master(data, lam=lam), None)
    master.add(alpha)
    bound, sigma, _ = master.solve(Recorder([]), 0.0)
    constant, slopes = cut_coefficients(data, alpha)
    values = [constant + (lam - slopes) @ s for s in itertools.product((0.0, 1.0), repeat=7)]
    assert constant + (lam - slopes) @ sigma == pytest.approx(min(values), abs=1e-12)
    assert bound == pytest.approx(max(min(values), 0.0), abs=1e-12)


@pytest.mark.parametrize("k", sampled(range(100, 190), 5))
def test_the_loop_finds_the_best_of_all_selections_in_the_units_of_the_features(k) -> None:
    data, params = drawn(k)
    fit = fsopt.fit("gbd-lambda" if "lam" in params else "gbd", data, c=1.5, **params)
    assert (fit.status, fsopt.verify(fit, data).verified) == ("optimal", True)
    assert fit.objective == pytest.approx(enumerated(data, params, 1.5, "hinge"), rel=2e-6)


DATA = fsopt.Dataset(blobs(24, 4, seed=1).X * [1.0, 20.0, 0.1, 3.0], blobs(24, 4, seed=1).y, features=list("abcd"))


def test_a_subproblem_without_the_bounds_of_the_master_is_refused() -> None:
    master = build_fsp_master(DATA, m=2, positive=["a"], upper={"b": 0.5})
    for other in ({}, {"positive": ["a"]}, {"positive": ["a"], "upper": {"b": 0.4}}, {"positive": ["a", "b"]}):
        with pytest.raises(ParameterError, match="the bounds on the weights of 'fsp-sub' given to 'gbd' are not those"):
            gbd(DATA, master, build_fsp_sub(DATA, **other), c=1.0)
    with pytest.raises(ParameterError, match="bounds weights, a function trains without"):
        gbd(DATA, master, minimise, c=1.0)
