"""The base of solvers of quadratic programs, for one whose options are keywords of its call."""

from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pyomo.environ as pyo
import pytest

from fsopt.answers.results import Status
from fsopt.compiler import compile_model
from fsopt.errors import OptionError
from fsopt.solvers.interface import Settings
from fsopt.solvers.quadratic_form import QuadraticAnswer, QuadraticSolver


class Keywords(QuadraticSolver):
    """Solves programs without constraints, and keeps the keywords of its call."""

    name = "keywords"
    statuses: ClassVar = {"solved": (Status.OPTIMAL, "optimal")}

    def __init__(self, program, settings):
        self.trial = SimpleNamespace(eps_abs=1e-3, max_iter=4000, scheme="direct")
        super().__init__(program, settings)

    def options(self, settings):
        return {"eps_abs": settings.tolerance or 1e-8}

    def run(self, arrays):
        self.called = dict(self.given)
        return QuadraticAnswer("solved", np.linalg.solve(arrays.P.toarray(), -arrays.c), arrays.b, arrays.h, 1)


@pytest.fixture
def program():
    m = pyo.ConcreteModel()
    m.x = pyo.Var()
    m.o = pyo.Objective(expr=(m.x - 3) ** 2)
    return compile_model(m)


def test_its_options_are_kept_for_the_call(program):
    solver = Keywords(program, Settings(own={"max_iter": 7, "scheme": "indirect"}))
    assert solver.solve(None).point.x == pytest.approx([3.0])
    assert solver.called == {"eps_abs": 1e-8, "max_iter": 7, "scheme": "indirect"}


@pytest.mark.parametrize("own", [{"eps": 1.0}, {"max_iter": "many"}, {"max_iter": [1]}, {"eps_abs": None}])
def test_a_wrong_option_is_one_line(program, own):
    with pytest.raises(OptionError, match=r"keywords.*(no attribute|number)") as caught:
        Keywords(program, Settings(own=own))
    assert "\n" not in str(caught.value)
