"""The package as a whole: its public names, and that it travels to other processes."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

import pytest
from joblib import Parallel, delayed

import fsopt
from fsopt.common.moved import RENAMED


def test_a_function_that_uses_the_package_travels_to_another_process():
    assert Parallel(n_jobs=2)([delayed(lambda: fsopt.__version__)()]) == [fsopt.__version__]


def test_every_public_name_is_there_and_no_module_hides_a_function():
    modules = {name for name in fsopt.__all__ if isinstance(getattr(fsopt, name), ModuleType)}
    assert modules == {"drivers", "estimators", "extend"}


@pytest.mark.parametrize(("module", "old"), [(module, old) for module, names in RENAMED.items() for old in names])
def test_an_old_name_warns_and_means_the_new_one(module, old):
    new = RENAMED[module][old]
    with pytest.warns(DeprecationWarning, match=f"{old} is {new} now"):
        found = getattr(import_module(module), old)
    assert found is getattr(import_module(module), new)


def test_a_name_that_never_was_is_none():
    for module in RENAMED:
        with pytest.raises(AttributeError, match=f"module '{module}' has no attribute 'gbd_paths'"):
            import_module(module).gbd_paths  # noqa: B018


def test_completion_offers_every_public_name():
    assert {"estimators", *fsopt.__all__} <= set(dir(fsopt))
