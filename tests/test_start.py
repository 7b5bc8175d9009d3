"""What a start imports: the slow packages are not among it."""

from __future__ import annotations

import subprocess
import sys

import pytest

SLOW = (
    "sklearn",
    "matplotlib",
    "joblib",
    "pandas",
    "casadi",
    "gurobipy",
    "pyscipopt",
    "fsopt.verification.exact_checking",
)
SLOW += tuple(f"scipy.{part}" for part in ("linalg", "optimize", "spatial", "special", "stats"))


@pytest.mark.slow
@pytest.mark.parametrize("verb", ["--help", "methods", "solvers", "show svm", "fit onsvm --data wdbc"])
def test_a_verb_imports_no_slow_package(verb):
    names = ("pyomo.environ", "numpy", "scipy", "sklearn") if verb == "--help" else SLOW
    code = f"import sys; from fsopt.cli import main\ntry: main({verb.split()!r})\nexcept SystemExit: pass\n"
    code += f"print([name for name in {names!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.slow
def test_pyomo_finds_scipys_parts_when_it_asks():
    code = "import fsopt, pyomo.environ as pyo, scipy.sparse\n"
    code += "from pyomo.common.dependencies import scipy, scipy_available\n"
    code += "assert scipy_available\nprint(scipy.stats.norm.cdf(0.0), scipy.integrate.quad(abs, 0, 1)[0])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.split() == ["0.5", "0.5"]
