"""The cut loop with groups of features, signs and bounds on weights: enumeration, units, false statements."""

import copy
import itertools
import math

import numpy as np
import pyomo.environ as pyo
import pytest
from support import blobs, exact_value, keeps, sampled

import fsopt
from fsopt.algorithms.svm.interior_point import svm_interior_point
from fsopt.answers.fits import fit_record
from fsopt.answers.records import sealed
from fsopt.drivers.gbd.driver import gbd
from fsopt.errors import ParameterError
from fsopt.models.gbd.fsp_master import build_fsp_master
from fsopt.models.gbd.fsp_sub import build_fsp_sub
from fsopt.verification.checking import check_record

LIMITS = ("m", "costs", "lam")
RULES = ("", "include", "exclude", "implies", "conflicts")
KINDS = [*itertools.product((True, False), ("signs", "bounds", "both", ""), LIMITS, RULES)]
"""Groups or none, bounds, limit, rule."""


def problem(seed):
    """Return data in units of their own, parameters, the groups (p,), bounds (p,) in these units, and the limits."""
    rng = np.random.default_rng(seed)
    grouped, kind, limit, rule = KINDS[rng.integers(len(KINDS))]
    p = int(rng.integers(3, 6))
    of = np.sort(rng.integers(0, p, p)) if grouped else np.arange(p)
    of = np.unique(of, return_inverse=True)[1][rng.permutation(p)]
    of = np.array([list(dict.fromkeys(of.tolist())).index(g) for g in of])  # in the order of their first features
    drawn = blobs(int(rng.integers(14, 30)), p, seed=seed, gap=float(rng.uniform(0.2, 0.8)))
    data = fsopt.Dataset(drawn.X * 10.0 ** rng.integers(-2, 3, p) + rng.normal(0, 5, p), drawn.y)
    lower, upper = np.full(p, -np.inf), np.full(p, np.inf)
    sizes = 0.3 / data.X.std(axis=0)
    if kind in ("signs", "both"):
        signs = rng.integers(-1, 2, p)
        lower[signs > 0], upper[signs < 0] = 0.0, 0.0
    if kind in ("bounds", "both"):
        below, above = (rng.random(p) < 0.5) & (upper > 0), (rng.random(p) < 0.5) & (lower < 0)
        lower[below], upper[above] = -(sizes * rng.random(p))[below], (sizes * rng.random(p))[above]
    k = int(of.max()) + 1
    limits = {"m": {"m": int(rng.integers(1, k + 1))}, "lam": {"lam": rng.uniform(0, 3, k).tolist()}}
    limits["costs"] = {"costs": rng.integers(0, 4, k).astype(float).tolist(), "budget": 4.0}
    pairs = rng.permutation(k)[:2].tolist()
    rules = {"include": {"include": pairs[:1]}, "exclude": {"exclude": pairs[:1]}}
    rules |= {name: {name: [pairs]} for name in ("implies", "conflicts") if k > 1}
    found = limits[limit] | rules.get(rule, {})
    if rule == "include" and limit == "costs":
        found["budget"] = 9.0
    return data, of, lower, upper, found


def parameters(data, of, lower, upper, limits):
    """Return the same in the words of a user: a rule names a group by its last feature."""
    last = {int(g): int(np.flatnonzero(of == g)[-1]) for g in of}
    named = {
        name: [[last[g] for g in one] if isinstance(one, list) else last[one] for one in value]
        if name in RULES
        else value
        for name, value in limits.items()
    }
    groups = [np.flatnonzero(of == g).tolist() for g in sorted(last) if np.sum(of == g) > 1]
    signs = {"positive": lower == 0.0, "negative": upper == 0.0}
    named |= {name: np.flatnonzero(at).tolist() for name, at in signs.items()}
    for name, ends in (("lower", lower), ("upper", upper)):
        at = np.flatnonzero(np.isfinite(ends) & (ends != 0.0))
        named[name] = {data.features[j]: float(ends[j]) for j in at}
    return named | ({"groups": groups} if groups else {})


def least(data, of, lower, upper, limits, c):
    """Return the smallest value over the allowed selections, in standardised units."""
    scale = data.X.std(axis=0)
    work = fsopt.Dataset((data.X - data.X.mean(axis=0)) / scale, data.y)
    rules = dict(limits)
    lam = np.array(rules.pop("lam", np.zeros(int(of.max()) + 1)))
    best = np.inf
    for s in map(np.array, itertools.product((0, 1), repeat=len(lam))):
        if keeps(s, **rules):
            best = min(best, exact_value(work, s[of], c, "hinge", lower * scale, upper * scale) + float(lam @ s))
    return best


@pytest.mark.parametrize("seed", sampled(range(120), 8))
def test_the_loop_finds_the_best_of_all_selections_in_the_units_of_the_features(seed) -> None:
    data, of, lower, upper, limits = case = problem(seed)
    params = parameters(*case)
    method = "gbd-lambda" if "lam" in limits else "gbd"
    fit = fsopt.fit(method, data, c=1.5, **params)
    assert (fit.status, fsopt.verify(fit, data).verified) == ("optimal", True)
    assert fit.objective == pytest.approx(least(*case, 1.5), rel=2e-6)
    allowed = 1e-12 / data.X.std(axis=0)
    assert np.all((lower - fit.coef <= allowed) & (fit.coef - upper <= allowed))
    chosen = np.isin(np.arange(data.p), fit.support)
    assert all(len(set(chosen[of == g])) == 1 for g in of)
    assert not fit.coef[~chosen].any()


DATA = fsopt.Dataset(blobs(24, 4, seed=1).X * [1.0, 20.0, 0.1, 3.0], blobs(24, 4, seed=1).y, features=list("abcd"))
WORDS = {"m": 2, "groups": [["a", "c"]], "positive": ["c"], "upper": {"a": 0.3, "b": 0.05}}
"""All of them are active."""
FALSE = {
    "no sign": {"positive": []},
    "another sign": {"positive": [], "negative": ["c"]},
    "a wider bound": {"upper": {"a": 0.6, "b": 0.05}},
    "no bound": {"upper": None},
    "a narrower bound": {"upper": {"a": 0.2, "b": 0.05}},
    "no groups": {"groups": None},
    "other groups": {"groups": [["a", "d"]]},
    "damaged groups": {"groups": [["a", "z"]]},
    "a damaged bound": {"upper": {"a": -3.0}},
    "a bound of another kind": {"upper": [3.0]},
}


def test_a_false_statement_on_groups_or_bounds_is_refused() -> None:
    record = fit_record(fsopt.fit("gbd", DATA, c=2.0, **WORDS), data=DATA, source="blobs")
    assert check_record(sealed(record), DATA, "file").verified
    for what, change in FALSE.items():
        forged = copy.deepcopy(record)
        forged["params"] |= change
        try:
            found = check_record(sealed(forged), DATA, "file").verified
        except fsopt.FsoptError:
            found = False
        assert not found, what
    forged = copy.deepcopy(record)
    forged["coef"][0] = math.copysign(2.0, -forged["coef"][0])
    assert not check_record(sealed(forged), DATA, "file").verified


def test_a_subproblem_without_the_bounds_of_the_master_is_refused() -> None:
    master = build_fsp_master(DATA, m=2, positive=["a"], upper={"b": 0.5})
    for bounds in ({}, {"positive": ["a"]}, {"positive": ["a"], "upper": {"b": 0.4}}, {"positive": ["a", "b"]}):
        with pytest.raises(ParameterError, match="the bounds on the weights of 'fsp-sub' given to 'gbd' are not those"):
            gbd(DATA, master, build_fsp_sub(DATA, **bounds), c=1.0)
    with pytest.raises(ParameterError, match="bounds weights, a function trains without"):
        gbd(DATA, master, svm_interior_point, c=1.0)


def test_rows_on_the_weights_of_the_subproblem_are_kept_and_nothing_is_claimed_of_the_optimum() -> None:
    def rows(model):
        model.own = pyo.Constraint(expr=model.w[0] + model.w[1] <= 0.1)

    changed = {"fsp-sub": rows}
    fit = fsopt.fit("gbd", DATA, c=2.0, m=2, scale="none", customise=changed)
    assert fit.status == "feasible"
    assert fit.coef[0] + fit.coef[1] <= 0.1 + 1e-6
    free = fsopt.fit("gbd", DATA, c=2.0, m=2, scale="none")
    assert fit.bound <= free.objective < fit.objective * (1 - 1e-3)
    assert fsopt.verify(fit, DATA, customise=changed).verified
