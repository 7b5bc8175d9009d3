"""The cut loop with groups of features, signs and bounds on weights: enumeration, units, false statements."""

import copy
import math

import numpy as np
import pyomo.environ as pyo
import pytest
from grouped_cases import bounds, drawn, enumerated, partition
from support import blobs, sampled

import fsopt
from fsopt.answers.fits import fit_record
from fsopt.answers.records import sealed
from fsopt.drivers.gbd.driver import gbd
from fsopt.errors import ParameterError
from fsopt.linear.interior_point import minimise
from fsopt.models.gbd.fsp_master import build_fsp_master
from fsopt.models.gbd.fsp_sub import build_fsp_sub
from fsopt.verification.checking import check_record


@pytest.mark.parametrize("k", sampled(range(100, 190), 8))
def test_the_loop_finds_the_best_of_all_selections_in_the_units_of_the_features(k) -> None:
    data, params = drawn(k)
    fit = fsopt.fit("gbd-lambda" if "lam" in params else "gbd", data, c=1.5, **params)
    assert (fit.status, fsopt.verify(fit, data).verified) == ("optimal", True)
    assert fit.objective == pytest.approx(enumerated(data, params, 1.5, "hinge"), rel=2e-6)
    (lower, upper), allowed = bounds(data, params), 1e-12 / data.X.std(axis=0)
    assert np.all((lower - fit.coef <= allowed) & (fit.coef - upper <= allowed))
    of, selected = partition(data, params.get("groups", []))[0], np.isin(np.arange(data.p), fit.support)
    assert all(len(set(selected[of == g])) == 1 for g in of)
    assert not fit.coef[~selected].any()


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
    for other in ({}, {"positive": ["a"]}, {"positive": ["a"], "upper": {"b": 0.4}}, {"positive": ["a", "b"]}):
        with pytest.raises(ParameterError, match="the bounds on the weights of 'fsp-sub' given to 'gbd' are not those"):
            gbd(DATA, master, build_fsp_sub(DATA, **other), c=1.0)
    with pytest.raises(ParameterError, match="bounds weights, a function trains without"):
        gbd(DATA, master, minimise, c=1.0)


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
