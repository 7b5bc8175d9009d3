"""The package as a whole: lazy names, and that it travels to other processes."""

from __future__ import annotations

import pickle
from types import ModuleType

import fsopt


def test_the_package_pickles_by_name_as_any_module_that_a_sent_function_uses():
    assert pickle.loads(pickle.dumps(fsopt)) is fsopt


def test_every_public_name_is_there_and_no_module_hides_a_function():
    for name in fsopt.__all__:
        assert not isinstance(getattr(fsopt, name), ModuleType)
