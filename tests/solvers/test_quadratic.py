"""Everyday quadratic programs: every solver of QPs solves support vector machines on benchmark data, or says it failed.

The variable ``FSOPT_TRUTH=1`` adds the programs on which a solver takes seconds.
"""

import os

import pytest
from solver_cases import takers
from support import SHARED, blobs

import fsopt
from fsopt.errors import SolverError
from fsopt.methods.preprocessing import preprocess
from fsopt.solvers.registry import preference

C = (0.01, 1.0, 100.0)
OPTIMA = {
    "wdbc": (0.869345986, 26.5254552, 1245.71375),
    "ionosphere": (1.29945895, 63.0395470, 5126.78451),
    "sonar": (1.09914600, 44.7054141, 1079.80928),
    "pima": (4.40564104, 396.427649, 39570.9363),
    "bupa": (2.86820846, 251.243023, 24809.7931),
}
"""Data -> optimum for each C on standardised data, the same to nine digits by Clarabel, SCS and Ipopt."""
PROGRAMS = [("svm", name, c) for name in OPTIMA for c in C]
PROGRAMS += [("svm-dual", name, c) for name in ("sonar", "bupa") for c in C[1:]]
SOLVERS = [spec.name for spec in preference("QP") if spec.available]
SLOW = ("ipopt", "scip", "daqp")
"""They take seconds for wdbc, ionosphere and pima."""
QUICK = (("svm", "wdbc", 1.0), *(case for case in PROGRAMS if case[1] in ("sonar", "bupa") and case[2] != 100.0))
CASES = [
    (solver, *case)
    for solver in SOLVERS
    for case in PROGRAMS
    if solver not in SLOW or case in QUICK or os.environ.get("FSOPT_TRUTH") == "1"
]


@pytest.mark.parametrize("solver", takers("LP"))
def test_what_rounding_leaves_of_a_zero_weight_does_not_break_its_bounds(solver):
    """Of w = 1e-17 between -v and v at v = 0, say: relative to the terms of the constraint it is all of them."""
    for slug, n, p, seed in (("fsv-step", 20, 8, 4), ("onsvm", 30, 20, 0)):
        assert fsopt.solve(fsopt.build(slug, blobs(n, p, seed=seed)), solver).status == "optimal", slug


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.parametrize(("solver", "slug", "name", "c"), CASES)
def test_an_answer_that_is_called_optimal_is_the_optimum(solver, slug, name, c, shared):
    data = fsopt.load_dataset(name if name == "wdbc" else SHARED / "data" / f"{name}.csv.gz")
    model = fsopt.build(slug, preprocess(data, "standard")[0], c=c)
    try:
        result = fsopt.solve(model, solver, time_limit=20)
    except SolverError as error:
        if "licence" not in str(error):
            raise
        return  # the licence refuses the size: nothing is claimed
    assert result.status in ("optimal", "feasible", "none"), "neither infeasible nor unbounded"
    if result.status == "optimal":
        assert result.certificate.ok
        assert result.objective == pytest.approx(OPTIMA[name][C.index(c)], rel=1e-6)
    else:
        # A failure is told. SCIP reaches the dual's constraints to 1e-6 only, ProxQP and OSQP the limit of iterations.
        assert solver in ("proxqp", "osqp") or (solver, slug, c) == ("scip", "svm-dual", 100.0)
