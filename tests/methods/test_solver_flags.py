"""A flag swaps the solver, never the method: every solver that a method takes gives the answer of its default."""

import numpy as np
import pytest
from support import blobs, sampled, there

import fsopt
from fsopt.errors import ParameterError, SolverError

DATA = blobs(14, 3, seed=2, gap=0.4)
PARAMS = {"l0-mpm": {"delta": 0.2}, "l1-mpm": {"delta": 0.2}, "fsv": {"lam": 0.2}, "s-mpm": {"lam": 0.1}}
METHODS = list(fsopt.METHODS)
QUICK = ["l1-svm", "rsvm", "fisher", "l1-mpm", "best-subset"]
SOLVERS = [name for name, spec in fsopt.SOLVERS.items() if spec.available]


def with_solver(method, solver, params):
    """Return the fit with a solver, or the message by which it is refused."""
    try:
        return fsopt.fit(method, DATA, solver=solver, **params)
    except SolverError as error:
        return str(error)


@pytest.mark.parametrize("method", sampled([*QUICK, *(name for name in METHODS if name not in QUICK)], len(QUICK)))
@pytest.mark.parametrize("solvers", [SOLVERS], ids="+".join)
def test_every_solver_gives_the_answer_of_the_default_or_is_refused(method, solvers):
    params = PARAMS.get(method, {"m": 2} if "m" in fsopt.METHODS[method].parameters else {})
    default = fsopt.fit(method, DATA, **params)
    if not fsopt.METHODS[method].solver:
        for solver in solvers:
            with pytest.raises(ParameterError, match=f"'{method}' calls no solver"):
                fsopt.fit(method, DATA, solver=solver, **params)
        return
    taken = []
    for solver in solvers:
        fit = with_solver(method, solver, params)
        if isinstance(fit, str):
            assert f"solver '{solver}'" in fit or "licence" in fit
            continue
        taken.append(solver)
        assert solver in fit.solver.split("+")
        assert fit.status == default.status or (solver == "pyomo:cbc" and fit.status == "feasible"), solver
        assert fit.objective == pytest.approx(default.objective, rel=1e-6, abs=1e-6), solver
        assert (fit.certificate is None) == (default.certificate is None)
        assert fit.certificate is None or fit.certificate.kind == default.certificate.kind, solver
    assert {"highs", "clarabel"} & set(taken)


@pytest.mark.parametrize(
    ("method", "params", "master_solver"), [("gbd", {"m": 2}, "scip"), ("gbd-lambda", {"lam": 1.0}, "highs")]
)
def test_the_master_of_the_loop_has_a_solver_of_its_own(method, params, master_solver):
    default = fsopt.fit(method, DATA, **params)
    fit = fsopt.fit(method, DATA, preset="printed", master_solver=there(master_solver), **params)
    assert fit.solver == f"{master_solver}+clarabel"
    assert fit.status == default.status == "optimal"
    assert fit.objective == pytest.approx(default.objective, rel=2e-6)


def test_the_preset_is_the_loop_as_printed():
    """From no feature on, each bound is the optimum of the master; a start that is given goes before the preset."""
    printed = fsopt.fit("gbd", DATA, m=2, scale="none", preset="printed")
    alphas = printed.details["alphas"]
    assert alphas[0] == pytest.approx(np.ones(DATA.n), abs=1e-6)
    for k, record in enumerate(printed.history, 1):
        master = fsopt.solve(fsopt.build("fsp-master", DATA, m=2, cuts=np.maximum(alphas[:k], 0.0)))
        assert (record["cuts"], record["bound"]) == (k, pytest.approx(master.objective, rel=2e-6, abs=1e-6))
    started = fsopt.fit("gbd", DATA, m=2, scale="none", preset="printed", start="all")
    assert started.history[0]["bound"] > printed.history[0]["bound"]
    with pytest.raises(ParameterError, match="'preset' of 'gbd' is 'paper'"):
        fsopt.fit("gbd", DATA, m=2, preset="paper")
