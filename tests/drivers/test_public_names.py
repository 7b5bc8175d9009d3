"""The public names of the drivers: functions, also where a module has the name, each with a page."""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest
from support import ROOT

from fsopt import drivers

LOOPS = [name for name in drivers.__all__ if inspect.isfunction(getattr(drivers, name)) and name != "approximation"]
CODE = """
import fsopt.drivers.dca, fsopt.drivers.gbd.driver, fsopt.drivers.sla
from fsopt.drivers.dca import dca
from fsopt.drivers.gbd.driver import gbd
import fsopt.drivers
assert fsopt.drivers.dca is dca and fsopt.drivers.gbd is gbd and fsopt.drivers.sla.__name__ == "sla"
"""


def test_the_loops_are_public():
    expected = "column_generation dca gbd kernel_scaling mop pmm scale_search sla theta_cuts"
    assert set(LOOPS) == set(expected.split())


@pytest.mark.slow
def test_the_names_are_those_of_the_functions_whatever_is_imported_first():
    done = subprocess.run([sys.executable, "-W", "error", "-c", CODE], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", LOOPS)
def test_a_driver_has_its_loop_in_pseudocode_beside_the_code(name):
    page = "mop" if name == "kernel_scaling" else name  # its problem is a step of that loop
    text = (ROOT / "docs" / "drivers" / f"{page}.md").read_text(encoding="utf-8")
    assert ":::{admonition} Algorithm" in text
    assert f"autofunction:: fsopt.drivers.{name}" in text
    assert "{literalinclude} ../../fsopt/drivers/" in text
    assert "## What is certified" in text
