"""Coefficients that are rounding errors of 0: dropped for solvers and files, never where they count."""

import re
import subprocess

import numpy as np
import pyomo.environ as pyo
import pytest
from file_readers import highs
from support import blobs, there

import fsopt
from fsopt.compiler import compile_model
from fsopt.compiler.dust import dust, without_dust

OPTIMUM = re.compile(r"(?:obj|objective)\D*?(-?\d+\.\d+(?:e[+-]?\d+)?)", re.IGNORECASE)
FAINTEST = 1e-13


@pytest.fixture(scope="module")
def dusty():
    """Votes of two parties as 0 and 1, some missing and imputed by their mean, standardised around that mean."""
    rng = np.random.default_rng(0)
    y = np.where(np.arange(120) % 2 == 0, 1.0, -1.0)
    X = (rng.random((120, 12)) < 0.5 + 0.2 * y[:, None]).astype(float)
    missing = rng.random(X.shape) < 0.1
    X[missing] = np.broadcast_to(np.nanmean(np.where(missing, np.nan, X), axis=0), X.shape)[missing]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    X[missing] = rng.choice([1.1e-16, -3.7e-16, 2.6e-15], size=missing.sum())
    return fsopt.Dataset(X, y, features=[f"bill {j}" for j in range(12)])


def sizes(program):
    return np.abs(program.A.data[program.A.data != 0])


def rows_model(A, bounds=(None, None), low=1.0):
    """Return min e'x, Ax >= low, over variables within bounds."""
    m = pyo.ConcreteModel(name="rows")
    m.weight = pyo.Var(range(A.shape[1]), bounds=bounds if callable(bounds) else lambda m, j: bounds)
    m.row = pyo.Constraint(
        range(A.shape[0]), rule=lambda m, i: pyo.quicksum(float(a) * m.weight[j] for j, a in enumerate(A[i])) >= low
    )
    m.cost = pyo.Objective(expr=pyo.quicksum(m.weight.values()))
    return m


def test_dust_is_dropped_and_everything_else_stays(dusty):
    program = compile_model(fsopt.build("onsvm", dusty))
    clean = without_dust(program)
    assert sizes(program).min() < 1e-14
    assert sizes(clean).min() > 1e-3
    kept = clean.A.data != 0
    assert np.array_equal(clean.A.data[kept], program.A.data[kept])
    assert (np.abs(program.A.data[~kept]) < 1e-13).all()
    assert np.array_equal(clean.A.indices, program.A.indices)


def test_a_program_without_dust_is_itself():
    program = compile_model(fsopt.build("onsvm", blobs(20, 3)))
    assert without_dust(program) is program


@pytest.mark.parametrize("by", ["columns", "rows", "both"])
def test_badly_scaled_programs_lose_nothing(by):
    rng = np.random.default_rng(1)
    columns = 10.0 ** np.array([-8, 8, 0, -4]) if by != "rows" else np.ones(4)
    rows = 10.0 ** rng.integers(-8, 9, size=30) if by != "columns" else np.ones(30)
    A = rows[:, None] * rng.uniform(0.5, 1.5, size=(30, 4)) * columns
    assert np.abs(A).min() < 1e-15 * np.abs(A).max()
    model = rows_model(A, bounds=(0, None))
    for i, data in enumerate(model.row.values()):
        data.set_value(data.body >= float(rows[i]))
    assert not dust(compile_model(model)).any()
    data = blobs(30, 4)
    units = fsopt.Dataset(data.X * 10.0 ** np.array([-8, 8, 0, -4]), data.y)
    assert not dust(compile_model(fsopt.build("rlp", units))).any()


def test_a_tiny_coefficient_of_a_variable_with_a_large_bound_stays():
    A = np.array([[1.0, 1e-16], [0.0, 1.0]])
    for most, lost in ((1e12, False), (1.0, True)):
        model = rows_model(A, bounds=lambda m, j, most=most: (0, [1.0, most][j]), low=0.0)
        assert dust(compile_model(model)).any() == lost
    large = rows_model(A, bounds=(0, None))  # the bound as a constraint: x_1 >= 1e12
    large.row[1].set_value(large.weight[1] >= 1e12)
    assert not dust(compile_model(large)).any()


def test_a_unit_is_no_reason_to_drop_a_coefficient_of_size_one():
    """A bound that stands for infinity makes the other terms of its constraint faint in balanced units only."""
    m = pyo.ConcreteModel()
    m.total, m.part = pyo.Var(bounds=(0, 1e15)), pyo.Var(bounds=(0, None))
    m.link = pyo.Constraint(expr=m.total - 3 * m.part >= 0)
    m.most = pyo.Constraint(expr=m.part <= 5)
    m.goal = pyo.Objective(expr=m.total - 4 * m.part)
    assert not dust(compile_model(m)).any()
    assert fsopt.solve(m).objective == pytest.approx(-5.0)


def test_without_dust_no_constraint_moves_by_more_than_the_docstring_says():
    """The change at points within the bounds, relative to the largest term of the constraint there."""
    rng = np.random.default_rng(2)
    for _ in range(50):
        A = rng.standard_normal((8, 5)) * 10.0 ** rng.uniform(-18, 2, size=(8, 5))
        most = 10.0 ** rng.uniform(-3, 12, size=5)
        program = compile_model(rows_model(A, bounds=lambda m, j, most=most: (-float(most[j]), float(most[j]))))
        lost = (program.A - without_dust(program).A).toarray()
        reach = np.maximum(most, program.scaling.columns)
        largest = (np.abs(program.A.toarray()) * reach).max(axis=1)
        assert (np.abs(lost) @ most <= FAINTEST * 5 * largest).all()


@pytest.mark.parametrize("solver", ["pyomo:glpk", "pyomo:cbc", "highs", "clarabel"])
def test_solvers_are_right_and_certified_by_the_program_with_its_dust(solver, dusty):
    there(solver)
    model = fsopt.build("onsvm", dusty)
    result = fsopt.solve(model, solver)
    assert result.status == "optimal"
    assert result.objective == pytest.approx(fsopt.solve(fsopt.build("onsvm", dusty), "highs").objective, rel=1e-7)
    assert sizes(compile_model(model)).min() < 1e-14  # the model and its certificate keep it


def test_a_session_without_dust_follows_its_model(dusty):
    model = fsopt.build("fsv-step", dusty)
    session = fsopt.Session(model, "highs")
    assert session.connection.sent is not session.program
    first = session.solve()
    row = next(model.errors_a.values())
    model.gamma.fix(0.25)
    model.cut = pyo.Constraint(expr=model.w[0] + 1e-16 * model.w[1] >= 0.5)
    session.update(model.gamma)
    session.add(model.cut)
    row.set_value(row.body >= 2.0)
    session.update(model.errors_a)
    model.objective.set_value(2.0 * model.objective.expr)
    session.update(model.objective)
    again = session.solve()
    assert session.rebuilt == ""
    assert again.objective == pytest.approx(fsopt.solve(model, "highs").objective, rel=1e-9)
    assert again.objective != pytest.approx(2 * first.objective)
    assert session.connection.sent.A.shape == session.program.A.shape


def test_dust_that_an_update_brings_loads_the_program_anew():
    model = fsopt.build("rlp", blobs(20, 3))
    session = fsopt.Session(model, "highs")
    session.solve()
    model.cut = pyo.Constraint(expr=model.w[0] + 1e-17 * model.w[1] >= 0.5)
    session.add(model.cut)
    assert "rounding errors" in session.rebuilt
    assert session.solve().objective == pytest.approx(fsopt.solve(model, "highs").objective)


# -- files -----------------------------------------------------------------------------------------------------


def read(program, *words):
    """Return the optimum in what a program prints."""
    text = subprocess.run([there(program), *words], capture_output=True, text=True, check=False, timeout=60).stdout
    return float(OPTIMUM.findall(text)[-1])


@pytest.mark.parametrize("suffix", [".lp", ".mps", ".nl", ".cbf", ".gms"])
def test_files_have_no_dust(suffix, dusty, tmp_path):
    model = fsopt.build("onsvm", dusty)
    truth = fsopt.solve(fsopt.build("onsvm", dusty), "clarabel").objective
    path = fsopt.export(model, tmp_path / f"votes{suffix}")[0]
    assert not re.search(r"e-1\d", path.read_text())
    assert sizes(compile_model(model)).min() < 1e-14  # the model is as it was
    if suffix in (".lp", ".mps"):
        assert highs(path) == pytest.approx(truth, rel=1e-6)
        assert read("cbc", str(path), "solve") == pytest.approx(truth, rel=1e-5)
    if suffix == ".lp":
        assert read("glpsol", "--lp", str(path)) == pytest.approx(truth, rel=1e-6)
        assert fsopt.export(model, tmp_path / "again.lp")[0].read_bytes() == path.read_bytes()
