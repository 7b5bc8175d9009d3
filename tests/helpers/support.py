"""Data sets, paths and oracles shared by the tests."""

import gzip
import itertools
import os
import shutil
from pathlib import Path
from unittest.mock import patch

import clarabel
import numpy as np
import pyomo.environ as pyo
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize

import fsopt
from fsopt.cli import main
from fsopt.data import Dataset
from fsopt.methods import large_programs
from fsopt.methods.checking import recomputed_certificate
from fsopt.methods.registry import METHODS
from fsopt.papers.mop.experiments import FILES
from fsopt.solvers.registry import SOLVERS, solver_spec

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = ROOT / "tests" / "reference"
SHARED = Path(os.environ.get("FSOPT_SHARED", ROOT.parent / "shared"))
DIGITS = SHARED / "data" / "mnist"
needs_digits = pytest.mark.skipif(not all((DIGITS / name).exists() for name in FILES), reason="no shared/data/mnist")
needs_data = pytest.mark.skipif(not (SHARED / "data" / "wbcd.csv.gz").exists(), reason="no shared/data")


def sampled(cases, fast, seed=None):
    """Return cases of a parametrisation, a few for `make test`, the others slow; a tuple has several values.

    The first few, or with a seed a few drawn by it.
    """
    cases = [case if isinstance(case, tuple) else (case,) for case in cases]
    if seed is not None:
        cases = [cases[k] for k in np.random.default_rng(seed).permutation(len(cases))]
    return [pytest.param(*case, marks=[pytest.mark.slow] * (k >= fast)) for k, case in enumerate(cases)]


def there(name: str) -> str:
    """Return the name of a solver, or of a program; the test is skipped by this name where it is not installed."""
    solver = name in SOLVERS or name.startswith("pyomo:")
    if not (solver_spec(name).available if solver else shutil.which(name)):
        pytest.skip(f"{name} is not installed")
    return name


def without_model(method: str, data: Dataset, **params):
    """Return a fit as of large data: by restricted programs, or by the interior point."""
    with patch.multiple(large_programs, LONG=0, LARGE=0, INTERIOR=0):
        return fsopt.fit(method, data, **params)


def check_fit(fit, data: Dataset):
    """Return the certificate of a fit, recomputed from its training data, as :func:`fsopt.fit` did for its status."""
    return recomputed_certificate(METHODS[fit.method], fit, data)


def reference(name: str) -> Dataset:
    """Return a data set of tests/reference/data by name, exactly as stored."""
    with np.load(REFERENCE / "data" / f"{name}.npz", allow_pickle=False) as arrays:
        return Dataset(arrays["X"], arrays["y"], name=name)


def blobs(n: int = 30, p: int = 4, seed: int = 0, gap: float = 0.6) -> Dataset:
    """Return two overlapping Gaussian classes that differ in the first two features."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    X = rng.standard_normal((n, p))
    X[:, : min(2, p)] += gap * y[:, None]
    return Dataset(X, y)


def solved(slug, data, solver=None, **params):
    """Build and solve a model; the answer must be a certified optimum. Returns (model, result)."""
    model = fsopt.build(slug, data, **params)
    result = fsopt.solve(model, solver, time_limit=60)
    assert result.status == "optimal", (slug, result.stop, result.certificate)
    assert result.certificate.ok
    return model, result


def optimum(slug, data, solver=None, **params):
    """Return the model and the optimal value of the same."""
    model, result = solved(slug, data, solver, **params)
    return model, result.objective


def run(words, capsys, code=0):
    """Return what a command line prints and its messages; its exit status is checked."""
    with pytest.raises(SystemExit) as ended:
        main(words.split())
    out, err = capsys.readouterr()
    assert ended.value.code == code, err
    assert "Traceback" not in err
    return out, err


def written(folder: Path, name: str, content: str | bytes) -> Path:
    """Write a file, gzip'ed if its name ends in .gz, and return its path."""
    path = folder / name
    data = content.encode() if isinstance(content, str) else content
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path


def exact_value(data, sigma, c, loss="hinge", lower=None, upper=None):
    """Return F(sigma), with bounds (p,) on the weights, by Clarabel, or of the logistic loss by scipy."""
    used = np.flatnonzero(sigma)
    X, ends = data.X[:, used], [None if end is None else np.asarray(end)[used] for end in (lower, upper)]
    weights = c * (np.ones(data.n) if data.weights is None else data.weights)
    if loss == "logistic":
        return _logistic_value(X, data.y, weights, *ends)
    squared = loss == "squared-hinge"
    n, k = X.shape
    Q = np.diag(np.concatenate([np.ones(k), [0.0], 2.0 * weights * squared]))
    cost, right = np.append(np.zeros(k + 1), weights * (not squared)), np.append(-np.ones(n), np.zeros(n))
    A = np.zeros((2 * n, k + 1 + n))
    A[:n, :k], A[:n, k] = -data.y[:, None] * X, -data.y
    A[:n, k + 1 :] = A[n:, k + 1 :] = -np.eye(n)
    for sign, end in zip((-1.0, 1.0), ends, strict=True):
        if end is not None:
            rows = np.zeros((k, k + 1 + n))
            rows[:, :k] = sign * np.eye(k)
            A, right = np.vstack([A, rows[np.isfinite(end)]]), np.append(right, sign * end[np.isfinite(end)])
    return conic_optimum(Q, cost, A, right, [clarabel.NonnegativeConeT(len(right))]).obj_val


def conic_optimum(P, q, A, b, cones, tolerance=1e-9):
    """Return the solution by Clarabel of min x'Px/2 + q'x with Ax + s = b, s in the cones; P is its upper triangle."""
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_rel = settings.tol_gap_abs = settings.tol_feas = tolerance
    P, A = sp.csc_matrix(P), sp.csc_matrix(A)
    return clarabel.DefaultSolver(P, np.asarray(q), A, np.asarray(b), cones, settings).solve()


def _logistic_value(X, y, costs, lower, upper):
    """Return the minimum of w'w / 2 and the logistic losses, each with its cost, by scipy."""

    def value(point):
        w, margins = point[:-1], y * (X @ point[:-1] + point[-1])
        slopes = -costs * y / (1.0 + np.exp(margins))
        return 0.5 * w @ w + costs @ np.logaddexp(0.0, -margins), np.append(w + X.T @ slopes, slopes.sum())

    free = np.full(X.shape[1], np.inf)
    bounds = zip(-free if lower is None else lower, free if upper is None else upper, strict=True)
    return minimize(value, np.zeros(len(free) + 1), jac=True, bounds=[*bounds, (None, None)], tol=1e-14).fun


def all_values(data, c):
    """Return selection -> F(sigma) for all 2^p selections."""
    return {s: exact_value(data, np.array(s), c) for s in itertools.product((0, 1), repeat=data.p)}


def keeps(s, *, m=None, costs=None, budget=None, include=(), exclude=(), implies=(), conflicts=()) -> bool:
    """Return whether a selection (p,) satisfies constraints, features by index, apart from the code of the package."""
    return (
        (m is None or s.sum() <= m)
        and (costs is None or np.asarray(costs) @ s <= budget)
        and all(s[j] for j in include)
        and not any(s[j] for j in exclude)
        and all(s[k] or not s[j] for j, k in implies)
        and all(sum(s[j] for j in group) <= 1 for group in conflicts)
    )


def integers(kind):
    """Return a program of three integers in 0..9 and its optimum by enumeration."""
    grid = np.array(list(itertools.product(range(10), repeat=3)), dtype=float)
    a, b, c = grid.T
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(3), bounds=(0, 9), domain=pyo.Integers)
    x, y, z = m.x.values()
    m.row = pyo.Constraint(expr=2 * x + 3 * y + z >= 11.5)
    allowed = 2 * a + 3 * b + c >= 11.5
    if kind == "MIQP":
        m.o = pyo.Objective(expr=(x - 4.4) ** 2 + (y - 3.3) ** 2 + (z - x / 2) ** 2)
        return m, ((a - 4.4) ** 2 + (b - 3.3) ** 2 + (c - a / 2) ** 2)[allowed].min()
    if kind == "MISOCP":
        m.ball = pyo.Constraint(expr=(x - 1) ** 2 + (y - 2) ** 2 + (z - 1) ** 2 <= 9.5)
        allowed &= (a - 1) ** 2 + (b - 2) ** 2 + (c - 1) ** 2 <= 9.5
    m.o = pyo.Objective(expr=-3 * x - 4.1 * y - 1.6 * z, sense=pyo.maximize)
    return m, -(3 * a + 4.1 * b + 1.6 * c)[allowed].min()
