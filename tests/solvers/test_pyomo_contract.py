"""Pyomo's contract for solvers, its own tests, by every class of fsopt: passed, or not passed for a named reason."""

import logging
from unittest import SkipTest

import pyomo_contract
import pytest
from pyomo.contrib.solver.common.factory import SolverFactory
from pyomo.contrib.solver.common.util import (
    IncompatibleModelError,
    NoDualsError,
    NoOptimalSolutionError,
    NoReducedCostsError,
)
from support import sampled

from fsopt.errors import OptionError
from fsopt.solvers.names import NAMES as OURS
from fsopt.solvers.registry import SOLVERS

EXPECTED = (
    IncompatibleModelError,
    NoDualsError,
    NoOptimalSolutionError,
    NoReducedCostsError,
    OptionError,
    AttributeError,
)
"""What ends a test that a class is not to pass: nothing wrong is answered."""
CLASSES = sampled(sorted(pyomo_contract.NAMES, key="fsopt_highs".__ne__), 1)


@pytest.mark.parametrize("name", CLASSES)
def test_a_class_passes_every_test_of_pyomos_contract_but_for_named_reasons(name, capfd):
    if not SolverFactory(name).available():
        pytest.skip(f"{name} is not installed")
    logging.getLogger("pyomo").setLevel(logging.ERROR)
    failed, passed = [], 0
    for case, test, function in pyomo_contract.tests():
        why = pyomo_contract.reason(name, test, pyomo_contract.kind(function))
        try:
            pyomo_contract.run(case, test, name)
        except SkipTest:  # of Pyomo: a library that is not installed
            continue
        except Exception as error:
            if name == "fsopt_mosek" and "licence" in str(error):
                return
            if not (why and isinstance(error, EXPECTED)):
                failed.append(f"{test}: {type(error).__name__}: {error}")
        else:
            passed += 1
            if why:
                failed.append(f"{test} passes, though {why}")
    assert not failed
    assert passed >= len(pyomo_contract.UNSOLVED)


def test_every_solver_has_a_class():
    assert set(OURS) == set(SOLVERS) - {"fsopt"}
    assert set(pyomo_contract.NAMES) == {"fsopt", *(f"fsopt_{name.rpartition(':')[2]}" for name in OURS)}


def test_the_contract_is_whole():
    assert len(list(pyomo_contract.tests())) >= 55
