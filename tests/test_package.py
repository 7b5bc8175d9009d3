"""The package as a whole: its public names, and that it travels to other processes."""

from __future__ import annotations

from types import ModuleType

from joblib import Parallel, delayed

import fsopt


def test_a_function_that_uses_the_package_travels_to_another_process():
    assert Parallel(n_jobs=2)([delayed(lambda: fsopt.__version__)()]) == [fsopt.__version__]


def test_every_public_name_is_there_and_no_module_hides_a_function():
    for name in fsopt.__all__:
        assert not isinstance(getattr(fsopt, name), ModuleType)
