"""The boundary of a solver: exceptions of its package become one line."""

from dataclasses import replace

import pytest
from pyomo_models import model_of

from fsopt.errors import SolverError
from fsopt.solvers.base import Session
from fsopt.solvers.interface import Change, Settings
from fsopt.solvers.registry import SOLVERS
from fsopt.solvers.spec import Connection


class Broken:
    """An interface whose package fails everywhere but at the start."""

    def __init__(self, program, settings):
        if settings.tee:
            self.solve(None)

    def update(self, change):
        return {}["no such attribute"]

    def solve(self, time_limit, mip_gap=None):
        raise OSError("failed to create the problem\nwith more words")


def test_the_exceptions_of_a_package_become_one_line():
    session = Session(model_of(lambda x: x, bounds=[(0, 5)]), "highs")
    spec = replace(SOLVERS["highs"], connect=Broken)
    line = r"solver 'highs' fails on 'unknown' \(highs: failed to create the problem\): choose .*another solver"
    with pytest.raises(SolverError, match=line):
        Connection(spec, session.program, Settings(tee=True))
    connection = Connection(spec, session.program, Settings())
    with pytest.raises(SolverError, match=line):
        connection.solve(None)
    with pytest.raises(SolverError, match=r"solver 'highs' fails on 'unknown' \(highs: KeyError 'no such attribute'\)"):
        connection.update(Change(objective=True))
