"""Every number of Python and numpy is a number for the limits and options of every solver."""

import math
from fractions import Fraction

import numpy as np
import pytest
from solver_cases import works
from support import blobs

import fsopt
from fsopt.common.arguments import own_number
from fsopt.errors import OptionError, ParameterError

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


OWN = {"highs": {"simplex_iteration_limit": 1000}, "clarabel": {"max_iter": 200}, "scs": {"max_iters": 10**5}}
OWN |= {"ipopt": {"max_iter": 3000}, "scip": {"limits/gap": 1e-6}, "gurobi": {"BarIterLimit": 200}}


@pytest.mark.parametrize("name", [name for name in OWN if name in ABLE])
def test_the_options_of_a_solver_take_numbers_of_numpy(name):
    for option, value in OWN[name].items():
        kinds = (np.int64, np.int32) if isinstance(value, int) else (np.float64, np.float32)
        for kind in kinds:
            result = fsopt.solve(fsopt.build(ABLE[name], DATA), name, options={option: kind(value)})
            assert result.status.solved, (option, kind)


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
        Fraction(1, 2),
        "x",
        None,
    )
    found = [own_number(value) for value in given]
    assert found == [True, 3, 2**63, 0.5, 2.0, 0.5, "x", None]
    assert [type(value) for value in found] == [bool, int, int, float, float, float, str, type(None)]
