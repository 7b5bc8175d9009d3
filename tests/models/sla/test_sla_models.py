"""The exact and the concave models of Mangasarian: brute force, other formulations, too small an M."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pyomo.environ as pyo
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import blobs, reference, sampled
from truths import fewest_errors, one_norm

import fsopt
from fsopt.cli import main
from fsopt.data.hyperplanes import hyperplane_errors
from fsopt.errors import FileError, SolverError
from fsopt.models.sla.misclass_lpec import without_complementarities

FEW = settings(max_examples=4, deadline=None, derandomize=True)
SEEDS = st.integers(0, 10**6)


def smallest_errors(data: fsopt.Dataset, costs: np.ndarray, features: np.ndarray) -> float:
    """Return the minimum of costs times hinge errors over the hyperplanes x'w = gamma in some features, by scipy."""
    return one_norm(data.X[:, features], data.y, weights=np.zeros(len(features)), loss=costs)[0]


def best(model: pyo.ConcreteModel, solver: str | None = None) -> float:
    result = fsopt.solve(model, solver, time_limit=60)
    assert result.status == "optimal", (result.stop, result.certificate)
    return result.objective


def errors_of(model: pyo.ConcreteModel, data: fsopt.Dataset) -> int:
    return hyperplane_errors(data, np.array([v.value for v in model.w.values()]), -model.gamma.value)


# -- counts -----------------------------------------------------------------------------------------------


@FEW
@given(seed=SEEDS, gap=st.floats(0.1, 0.8))
def test_the_count_is_that_of_enumeration_and_of_its_own_hyperplane(seed: int, gap: float) -> None:
    data = blobs(10, 2, seed=seed, gap=gap)
    minimum = fewest_errors(data.X, data.y)
    m = fsopt.build("misclass-milp", data)
    assert best(m) == minimum == errors_of(m, data)
    assert best(without_complementarities(fsopt.build("misclass-lpec", data))) == minimum
    far = fsopt.Dataset(data.X @ np.array([[2.0, 1.0], [-1.0, 0.5]]) + 3.0, data.y)
    assert best(fsopt.build("misclass-milp", far)) == minimum


def test_too_small_an_m_is_silently_worse() -> None:
    data = blobs(20, 2, seed=11, gap=0.4)
    counts = {}
    for big_m in (1.0, 2.0, 1e4):
        m = fsopt.build("misclass-milp", data, big_m=big_m)
        counts[big_m] = best(m)
        assert errors_of(m, data) <= counts[big_m]
    found = list(counts.values())
    assert found == sorted(found, reverse=True)
    assert counts[2.0] > counts[1e4] == fewest_errors(data.X, data.y)


# -- complementarities ------------------------------------------------------------------------------------


def test_complementarities_are_never_ignored(tmp_path) -> None:
    m = fsopt.build("misclass-lpec", blobs(8, 2))
    assert fsopt.classify(m) == "MPEC"
    for solver in (None, "highs", "scip", "ipopt"):
        with pytest.raises(SolverError, match=r"'misclass-lpec'.*Complementarity \('choice_a\[0\]'\).*gdp\.bigm"):
            fsopt.solve(m, solver)
    for suffix in (".lp", ".mps", ".nl", ".gms", ".cbf", ".dat-s"):
        with pytest.raises(FileError, match=r"[Cc]omplementarit"):
            fsopt.export(m, tmp_path / f"m{suffix}")
    assert list(tmp_path.iterdir()) == []


def test_other_constraints_that_the_arrays_do_not_hold_are_refused_too() -> None:
    m = pyo.ConcreteModel(name="ordered")
    m.x = pyo.Var([1, 2], bounds=(0, 1))
    m.row = pyo.Constraint(expr=m.x[1] + m.x[2] <= 2)
    m.o = pyo.Objective(expr=m.x[1] + m.x[2], sense=pyo.maximize)
    m.yes = pyo.BooleanVar([1, 2])
    m.one = pyo.LogicalConstraint(expr=pyo.lor(m.yes[1], m.yes[2]))
    with pytest.raises(SolverError, match=r"LogicalConstraint \('one'\)"):
        fsopt.solve(m)
    m.one.deactivate()
    assert best(m) == pytest.approx(2)


def test_no_certificate_holds_for_constraints_that_were_not_looked_at() -> None:
    """An earlier solution violates the added constraint, and no class of solvers takes such a model."""
    m = pyo.ConcreteModel(name="ordered")
    m.x = pyo.Var([1, 2], bounds=(0, 1))
    m.o = pyo.Objective(expr=m.x[1] + m.x[2], sense=pyo.maximize)
    solved = fsopt.solve(m)
    assert fsopt.certify(m, solved).ok
    m.yes = pyo.BooleanVar([1, 2])
    m.one = pyo.LogicalConstraint(expr=pyo.lor(m.yes[1], m.yes[2]))
    assert fsopt.classify(m) == "MILP"
    certificate = fsopt.certify(m, solved)
    assert not certificate.ok
    assert "LogicalConstraint ('one')" in certificate.notes[0]
    m.row = pyo.Constraint(expr=m.x[1] + m.x[2] >= 3)
    m.one.deactivate()
    nothing = fsopt.solve(m)
    m.one.activate()
    assert nothing.status == "infeasible"
    assert fsopt.certify(m, nothing).ok, "a part of the constraints suffices for that"


def test_the_mpec_means_the_step_function_and_keeps_the_original() -> None:
    data = blobs(10, 2, seed=4, gap=0.2)
    m = fsopt.build("misclass-lpec", data)
    milp = without_complementarities(m)
    assert fsopt.classify(m) == "MPEC"
    assert fsopt.classify(milp) == "MILP"
    assert best(milp) == fewest_errors(data.X, data.y) == errors_of(milp, data)
    for y, r in ((milp.y, milp.r), (milp.z, milp.s)):
        assert [v.value > 1e-6 for v in y.values()] == [v.value > 0.5 for v in r.values()]
    with pytest.raises(fsopt.FsoptError, match="big_m"):
        without_complementarities(m, big_m=0.0)


def test_as_a_nonlinear_program_it_has_the_same_optimum() -> None:
    data = blobs(8, 2, seed=3, gap=0.2)
    nlp = pyo.TransformationFactory("mpec.simple_nonlinear").create_using(fsopt.build("misclass-lpec", data))
    assert fsopt.classify(nlp) == "NLP"
    assert best(nlp, "scip") == pytest.approx(fewest_errors(data.X, data.y), abs=1e-5)


# -- features ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lam", sampled([0.1, 0.01], 1))
def test_the_features_are_those_of_enumeration(lam: float) -> None:
    data = reference("sla_fs8")
    costs = np.where(data.y > 0, 1 / np.sum(data.y > 0), 1 / np.sum(data.y < 0))
    truth = np.inf
    for k in range(data.p + 1):
        if lam * k < truth:
            supports = itertools.combinations(range(data.p), k)
            minimum = min(smallest_errors(data, costs, np.array(s, dtype=int)) for s in supports)
            truth = min(truth, (1 - lam) * minimum + lam * k)
    assert best(fsopt.build("fsv-exact", data, lam=lam)) == pytest.approx(truth, rel=1e-7)


def test_successive_linearisation_is_not_global() -> None:
    """(21) is at most (17) at every hyperplane, so the optimum of (17) is an upper bound on that of (21)."""
    data = reference("sla_fs8")
    exact = best(fsopt.build("fsv-exact", data, lam=0.05))
    local = fsopt.fit("fsv", data, lam=0.05, scale="none")
    assert exact == pytest.approx(0.25)
    assert local.objective == pytest.approx(0.35069434312, rel=1e-6)


def test_too_small_a_bound_of_the_weights_is_silently_worse() -> None:
    data = reference("sla_fs8")
    found = [best(fsopt.build("fsv-exact", data, lam=0.05, big_m=m)) for m in (0.1, 1.0, 1e4)]
    assert found[0] > found[1] > found[2] + 0.01


# -- concave and bilinear programs ------------------------------------------------------------------------


@pytest.mark.parametrize("slug", ["misclass", "fsv"])
def test_concave_models_global_local_and_by_successive_linearisation(slug: str) -> None:
    data = blobs(10, 2, seed=1, gap=0.3)
    params = {"alpha": 2.0}
    m = fsopt.build(slug, data, **params)
    minimum = best(m, "scip")
    assert pyo.value(m.objective) == pytest.approx(minimum, abs=1e-6)
    sla = fsopt.fit(slug, data, scale="none", **params)
    assert sla.status == "stationary"
    assert minimum <= sla.objective + 1e-6
    ipopt = fsopt.solve(fsopt.build(slug, data, **params), "ipopt")
    assert ipopt.status == "stationary"
    assert minimum <= ipopt.objective + 1e-6
    exact = fewest_errors(data.X, data.y) if slug == "misclass" else best(fsopt.build("fsv-exact", data))
    assert minimum <= exact + 1e-6


@FEW
@given(seed=SEEDS, k=st.integers(0, 2))
def test_the_sum_without_the_largest_errors_is_that_of_enumeration(seed: int, k: int) -> None:
    data = blobs(7, 2, seed=seed, gap=0.2)
    truth = np.inf
    for samples in itertools.combinations(range(data.n), k):
        costs = np.ones(data.n)
        costs[list(samples)] = 0.0
        truth = min(truth, smallest_errors(data, costs, np.arange(2)))
    m = fsopt.build("misclass-pmm", data, delta=float(k))
    assert best(m, "scip") == pytest.approx(truth, rel=1e-6, abs=1e-6)
    assert (truth < 1e-9) == (fewest_errors(data.X, data.y) <= k)


def test_no_tolerance_times_a_free_error_cancels_the_errors_of_other_samples() -> None:
    """With one bilinear sum instead of n constraints, SCIP returns 2.4012 as the certified optimum here."""
    y = np.where(np.arange(12) % 2 == 0, 1.0, -1.0)
    X = np.random.Generator(np.random.PCG64(1)).standard_normal((12, 2)) + 0.25 * y[:, None]
    data = fsopt.Dataset(np.round(64 * X) / 64, y)
    truth = min(smallest_errors(data, np.where(np.arange(12) == i, 0.0, 1.0), np.arange(2)) for i in range(12))
    assert truth == pytest.approx(2.8414408867)
    assert best(fsopt.build("misclass-pmm", data), "scip") == pytest.approx(truth, rel=1e-6)


def test_parameters_are_checked() -> None:
    data = blobs(8, 2)
    for slug, bad in (
        ("misclass", {"alpha": 0.0}),
        ("fsv", {"lam": 1.5}),
        ("misclass-pmm", {"delta": 9.0}),
        ("misclass-milp", {"big_m": -1.0}),
        ("fsv-exact", {"big_m": 0.0}),
    ):
        with pytest.raises(fsopt.FsoptError, match=next(iter(bad))):
            fsopt.build(slug, data, **bad)


def test_the_mpec_is_solved_by_a_flag_which_says_so(tmp_path, capsys) -> None:
    data = blobs(10, 2, seed=4, gap=0.2)
    np.savez_compressed(tmp_path / "d.npz", X=data.X, y=data.y)
    words = ["solve", "misclass-lpec", "--data", str(tmp_path / "d.npz"), "--solver", "highs", "--json"]
    with pytest.raises(SystemExit) as ended:
        main([*words, "--param", "big_m=500", "-o", str(tmp_path / "s.json")])
    out, err = capsys.readouterr()
    assert ended.value.code == 0
    assert "M = 500" in err
    record = json.loads(out)
    assert (record["status"], round(record["objective"])) == ("optimal", fewest_errors(data.X, data.y))
    assert record["params"]["big_m"] == 500
    with pytest.raises(SystemExit) as ended:
        main(["check", str(tmp_path / "s.json"), "--data", str(tmp_path / "d.npz")])
    assert ended.value.code == 0
