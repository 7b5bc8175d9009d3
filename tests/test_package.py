"""The package as a whole: its public names, and that it travels to other processes."""

from __future__ import annotations

from types import ModuleType

import pytest
from joblib import Parallel, delayed

import fsopt


def test_a_function_that_uses_the_package_travels_to_another_process():
    assert Parallel(n_jobs=2)([delayed(lambda: fsopt.__version__)()]) == [fsopt.__version__]


def test_every_public_name_is_there_and_no_module_hides_a_function():
    modules = {name for name in fsopt.__all__ if isinstance(getattr(fsopt, name), ModuleType)}
    assert modules == {"drivers", "estimators", "extend"}


def test_completion_offers_every_public_name_and_others_are_errors():
    with pytest.raises(AttributeError, match="no_such_name"):
        fsopt.no_such_name  # noqa: B018
    assert {"estimators", *fsopt.__all__} <= set(dir(fsopt))
