"""The named methods: every fit is consistent, invariant, selected by its rule, at the reference values, or refused."""

import dataclasses
import json

import numpy as np
import pytest
from support import REFERENCE, blobs, reference, sampled

import fsopt
from fsopt.errors import ParameterError, SolverError
from fsopt.methods.preprocessing import SelectionRule, without_rounding
from fsopt.methods.spec import SavedFit, selected
from fsopt.solvers.base import Session

PARAMS = {"gbd": {"m": 2, "max_cuts": 20}, "l0-mpm": {"delta": 0.2}, "l1-mpm": {"delta": 0.2}}
SLOWER = ("onsvm", "l0-mpm", "misclass", "mopfs", "gbd")


@pytest.mark.parametrize("name", ["svm", "l0-mpm", "mopfs", "gbd"])
def test_scores_and_predictions_are_those_of_the_hyperplane_in_raw_units(name, wdbc):
    raw = wdbc.rows(slice(0, 60)).columns([1, 3, 7, 20, 24])  # of sizes from 1e-2 to 1e3
    fit = fsopt.fit(name, raw, **PARAMS.get(name, {}))
    Z = (raw.X - raw.X.mean(axis=0)) / raw.X.std(axis=0)
    scores = raw.X @ fit.coef + fit.intercept
    if name == "mopfs":  # on unit rows
        scores = (raw.X - raw.X.mean(axis=0)) @ fit.coef / np.linalg.norm(Z, axis=1) + fit.intercept
        assert np.maximum(1 - raw.y * scores, 0).sum() == pytest.approx(fit.objective, abs=1e-6)
    np.testing.assert_allclose(fit.decision_function(raw.X), scores, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(fit.predict(raw.X), np.where(scores > 0, 1.0, -1.0))
    assert fit.scores(raw)["accuracy"] == pytest.approx(np.mean(fit.predict(raw.X) == raw.y))
    assert fit.features == tuple(raw.features[j] for j in fit.support)
    size = np.abs(fit.coef * raw.X.std(axis=0))
    assert np.all(size[list(fit.support)] > 0)
    assert np.delete(size, fit.support).max(initial=0.0) <= 1e-4 * size.max()


@pytest.mark.parametrize(
    "name", sampled(["gmeb", "svm", "l1-mpm", "fsv", "rsvm", "pearson", "gmeb-penalised", *SLOWER], 7)
)
def test_a_constant_feature_is_never_selected_and_changes_nothing(name):
    data = blobs(24, 4, seed=1)
    wider = fsopt.Dataset(np.column_stack([data.X[:, :2], np.full(24, 0.1), data.X[:, 2:]]), data.y)
    before, after = (fsopt.fit(name, d, **PARAMS.get(name, {})) for d in (data, wider))
    assert 2 not in after.support
    assert after.support == tuple(j + (j >= 2) for j in before.support)
    assert after.objective == pytest.approx(before.objective, rel=1e-6, abs=1e-7)
    assert np.all(np.abs(after.coef) < 1e3)
    np.testing.assert_allclose(after.predict(wider.X), before.predict(data.X))
    if "gmeb" in name:
        assert after.coef[2] == after.details["sigma"][2] == 0.0
        assert fsopt.verify(after, wider).verified


def test_concave_terms_are_as_steep_as_in_the_papers():
    assert {fsopt.METHODS[name].parameters["alpha"] for name in ("fsv", "misclass", "l0-mpm")} == {5.0}


def test_gmeb_does_not_depend_on_the_units_of_the_features(wdbc):
    rng = np.random.default_rng(5)
    scale, shift = 10.0 ** rng.uniform(-7, 7, wdbc.p), 10 * rng.standard_normal(wdbc.p)
    moved = fsopt.Dataset((wdbc.X - wdbc.X.mean(axis=0)) * scale + shift * scale, wdbc.y)
    one, two = (fsopt.fit("gmeb", d, r_plus=5.0, r_minus=1.75) for d in (wdbc, moved))
    assert one.objective == pytest.approx(97.01383924195684, rel=2e-6)
    assert two.objective == pytest.approx(one.objective, rel=1e-6)
    assert two.support == one.support
    np.testing.assert_allclose(two.decision_function(moved.X), one.decision_function(wdbc.X), atol=1e-4)


ENTRIES = json.loads((REFERENCE / "golden.json").read_text())
FITS = [e for e in ENTRIES if e["kind"] == "fit" and e["name"] in fsopt.METHODS]
LONG = [e for e in FITS if (e["name"], e["data"]) in (("gmeb-penalised", "wdbc_std"), ("fsv", "sgm_wdbc_std"))]


def name_of(entry):
    words = [f"{k}={v}" for k, v in entry["params"].items() if not isinstance(v, list)]
    return "-".join([entry["name"], entry["data"], *words])


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
    stored = {"scale": "none"} if entry.get("no_scaling") else {}  # the value was computed on the data as stored
    fit = fsopt.fit(entry["name"], data, **entry["params"], **stored)
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


@pytest.mark.parametrize("method", ["onsvm", "l1-svm"])
def test_rounding_is_not_selected_where_w_is_zero(method):
    fit = fsopt.fit(method, blobs(30, 3), c=1e-3, scale="standard")  # HiGHS returns 7e-15 for one weight
    assert fit.objective == pytest.approx(0.03)
    assert fit.support == ()


@pytest.mark.parametrize("kernel", [None, "gaussian"])
def test_a_method_selects_by_its_threshold(kernel):
    data = blobs(4, 4)
    fit = fsopt.fit("svm", data, kernel=kernel)
    for name, spec in fsopt.METHODS.items():
        for share, expected in ((2.0 * spec.threshold, (0, 2)), (1.9 * spec.threshold, (0,)), (np.nan, ())):
            w = np.nan_to_num(np.array([-2.0, 0.0, share, 0.0])) * np.isfinite(share)
            coef = w / (1.0 if kernel else data.X.std(axis=0))
            saved = SavedFit(spec, dataclasses.replace(fit, coef=coef), data, data, coef, 0.0)
            assert selected(saved) == expected, name


@pytest.mark.parametrize("units", ["raw", "scaled"])
def test_a_threshold_is_relative_to_the_largest_weight_absolute_or_the_smaller_of_both(units):
    coef, deviation = np.array([0.4, 0.0, -0.1, 0.02]), np.array([1.0, 1.0, 50.0, 20.0])
    size = np.abs(coef) * (deviation if units == "scaled" else 1.0)
    for rule, most in (("relative", size.max()), ("absolute", 1.0), ("either", min(size.max(), 1.0))):
        for epsilon in (0.0, 0.05, 0.25, 1.0):
            chosen = tuple(np.flatnonzero((size > 0) & (size >= epsilon * most)))
            assert SelectionRule(rule, units, epsilon).select(coef, deviation) == chosen


def test_a_rounded_zero_is_a_weight_that_moves_no_score():
    w = without_rounding(np.array([1e-12, 1e-12, -1.0]), np.array([1.0, 1e6, 1.0]))
    assert w.tolist() == [0.0, 1e-12, -1.0]


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
    *(("rfe", {name: wrong}, f"'{name}'") for name, wrong in (("m", 7), ("m", 1.5))),
    ("gmeb", {"r_plus": np.inf, "r_minus": np.inf}, "r_plus"),
]


@pytest.mark.parametrize(("method", "params", "words"), REFUSED, ids=str)
def test_a_wrong_parameter_is_refused_before_any_solver(method, params, words, monkeypatch):
    monkeypatch.setattr(Session, "solve", lambda *args, **keywords: pytest.fail("a solver was called"))
    with pytest.raises(ParameterError, match=words):
        fsopt.fit(method, reference("gbd_n6"), **params)


@pytest.mark.parametrize("params", [{"solver": "scip"}, {"solver": "highs", "route": "dual"}], ids=str)
def test_a_solver_without_multipliers_or_of_another_class_is_refused(params):
    words = "installed for SOCP" if "route" in params else r"scip.*gives no multipliers.*clarabel"
    with pytest.raises(SolverError, match=words):
        fsopt.fit("gmeb", blobs(), **params)


@pytest.mark.parametrize("method", ["rsvm", "gmeb"])
def test_samples_without_a_difference_are_refused(method):
    with pytest.raises(fsopt.FsoptError, match=r"all samples are the same|all features are constant"):
        fsopt.fit(method, fsopt.Dataset(np.ones((6, 2)), np.array([1.0, -1.0] * 3)))
