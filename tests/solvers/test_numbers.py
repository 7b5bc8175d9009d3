"""Every number of Python and numpy is a number for the limits and options of every solver."""

import math
from fractions import Fraction

import numpy as np
import pytest
from solver_cases import works
from support import blobs

import fsopt
from fsopt.common.arguments import own_number
from fsopt.errors import FsoptError, OptionError, ParameterError, SolverError

DATA = blobs(20, 3)
SLUGS = {"QP": "svm", "LP": "rlp", "SOCP": "svm-norm", "NLP": "fsv", "MILP": "fsv-exact"}
WHOLE = (int, np.int8, np.int64, np.uint16, np.uint64, np.longlong)
REAL = (float, Fraction, np.float16, np.float32, np.float64, np.longdouble)
ENDLESS = (math.inf, np.float32(np.inf), np.longdouble(np.inf), 1e300, 10**12, np.int64(10**12))


def able():
    """Return solver -> model that it takes, of those that are here."""
    found = {}
    for name, spec in fsopt.SOLVERS.items():
        slug = next((SLUGS[kind] for kind in SLUGS if kind in spec.classes), None)
        if spec.available and not spec.structured and slug and works(name, fsopt.build(slug, DATA)):
            found[name] = slug
    return found


ABLE = able()


@pytest.fixture(params=ABLE)
def solved(request):
    """Return a function of limits and options that solves."""

    def solve(**keywords):
        return fsopt.solve(fsopt.build(ABLE[request.param], DATA), request.param, **keywords)

    return solve


def test_every_kind_of_number_is_a_time_limit(solved):
    for limit in (*(kind(30) for kind in (*WHOLE, *REAL)), *ENDLESS):
        assert solved(time_limit=limit).status.solved, repr(limit)


def test_every_kind_of_number_is_an_option(solved):
    for kind in WHOLE:
        assert solved(options={"threads": kind(1), "seed": kind(1)}).status.solved, kind
    for kind in REAL:
        if kind is not Fraction:
            assert solved(options={"tolerance": kind(1e-7), "mip_gap": kind(1e-4)}).status.solved, kind


OWN = {
    "highs": {
        "mip_detect_symmetry": True,
        "simplex_iteration_limit": 1000,
        "mip_feasibility_tolerance": 1e-7,
        "presolve": "on",
    },
    "clarabel": {"equilibrate_enable": True, "max_iter": 200, "max_step_fraction": 0.5, "direct_solve_method": "auto"},
    "scs": {"normalize": True, "max_iters": 10**5, "alpha": 1.5, "linear_solver": "qdldl"},
    "ipopt": {"max_iter": 3000, "acceptable_tol": 1e-6, "mu_strategy": "adaptive"},
    "scip": {"misc/catchctrlc": True, "limits/nodes": 1000, "limits/gap": 1e-6, "visual/vbcfilename": "-"},
    "gurobi": {"BarIterLimit": 200, "Heuristics": 0.5, "LogFile": ""},
    "xpress": {"bariterlimit": 400, "feastol": 1e-7, "mpsrhsname": "right"},
    "mosek": {"MSK_IPAR_LOG": 1, "MSK_DPAR_OPTIMIZER_MAX_TIME": 50.0, "MSK_SPAR_PARAM_COMMENT_SIGN": "%%"},
    "piqp": {"check_duality_gap": True, "max_iter": 250, "tau": 0.5},
    "proxqp": {"compute_preconditioner": True, "max_iter": 10**4, "alpha_bcl": 0.125},
    "libsvm": {"shrinking": True, "max_iter": 10**6, "cache_size": 200.0},
    "pyomo:glpk": {"seed": 1, "mipgap": 0.125},
    "pyomo:cbc": {"maxNodes": 1000, "ratio": 0.125, "presolve": "on"},
}
"""An option of each type (bool, int, float, text) that the interface of a solver knows, with a value that it takes."""
KINDS = {
    bool: (np.bool_, np.array),
    int: (np.int32, np.int64, np.uint8, np.array),
    float: (np.float32, np.float64, np.longdouble, np.array),
    str: (),
}
NUMBERLESS = (None, [1], np.array([1]), 1j)


def answer(name, option, value):
    """Return status and objective, or the class of an error of the package; other errors are not caught."""
    try:
        result = fsopt.solve(fsopt.build(ABLE.get(name, "svm"), DATA), name, options={option: value})
    except FsoptError as error:
        return type(error) if "\n" not in str(error) else str(error)
    return str(result.status), result.objective


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "option"), [(name, option) for name in OWN if name in (*ABLE, "libsvm") for option in OWN[name]]
)
def test_an_option_of_every_type_takes_the_numbers_of_numpy_as_those_of_python(name, option):
    value = OWN[name][option]
    assert answer(name, option, value)[0] in ("optimal", "stationary")
    for python in (value, 1 if isinstance(value, bool) else True, *([math.inf] if isinstance(value, float) else [])):
        wanted = answer(name, option, python)
        for kind in KINDS[type(python)]:
            if not (kind is np.uint8 and python > 255) and kind(python) == python:
                assert answer(name, option, kind(python)) == wanted, (python, kind)
    for nothing in (math.nan, np.float32(np.nan), np.array(np.nan)):
        assert answer(name, option, nothing) is OptionError
    for other in NUMBERLESS:  # an option that is on or off may take it as on or off
        assert answer(name, option, other) in (OptionError, SolverError, answer(name, option, bool(other))), other


def test_other_values_are_refused_in_one_line():
    model = fsopt.build("svm", DATA)
    for limit in (0, -1.0, math.nan, np.float32(np.nan), True, np.bool_(True), "30", 3j, np.array([30]), 10**400):
        with pytest.raises(ParameterError, match="time limit must be positive"):
            fsopt.solve(model, time_limit=limit)
    for threads in (1.5, np.float32(1.0), True, np.bool_(True), "1", -1, 2**40):
        with pytest.raises(OptionError, match="whole number"):
            fsopt.solve(model, options={"threads": threads})


@pytest.mark.parametrize("method", ["svm", "onsvm", "gbd", "gmeb", "l0-mpm", "fsv", "vs-ssvm"])
def test_every_kind_of_number_limits_a_method(method):
    params = {"m": np.int8(2)} if method == "gbd" else {"n_partitions": 2} if method == "vs-ssvm" else {}
    for limit in (math.inf, np.int64(30), np.float32(30.0), np.longdouble(30.0), Fraction(30)):
        assert fsopt.fit(method, DATA, time_limit=limit, **params).status.solved


def test_own_number_returns_the_numbers_of_python():
    given = (
        np.bool_(True),
        np.int8(3),
        np.uint64(2**63),
        np.float16(0.5),
        np.longdouble(2.0),
        np.array(4),
        Fraction(1, 2),
        "x",
        None,
    )
    found = [own_number(value) for value in given]
    assert found == [True, 3, 2**63, 0.5, 2.0, 4, 0.5, "x", None]
    assert [type(value) for value in found] == [bool, int, int, float, float, int, float, str, type(None)]
