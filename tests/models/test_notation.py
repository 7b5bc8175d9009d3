"""docs/notation.md has every component and every keyword of every model."""

from __future__ import annotations

import re

import pyomo.environ as pyo
import pytest
from pyomo.mpec import Complementarity
from support import ROOT

import fsopt
from fsopt.library.draws import instance_data
from fsopt.library.instances import build_instance

PAGE = (ROOT / "docs" / "notation.md").read_text(encoding="utf-8")
ROWS = [line.strip("| ").split(" | ") for line in PAGE.splitlines() if line.startswith("| ") and "`" in line]
NAMES = {name for row in ROWS for name in re.findall(r"`(\w+)`", row[0])}
KINDS = (pyo.Var, pyo.Param, pyo.Expression, pyo.Constraint, pyo.Block, Complementarity)


@pytest.mark.parametrize("slug", fsopt.MODELS)
def test_the_components_and_keywords_of_a_model_are_in_the_table(slug) -> None:
    components = {c.name for c in build_instance(slug).component_objects(KINDS, descend_into=False)}
    assert not (components | set(fsopt.MODELS[slug].parameters)) - NAMES


def test_every_row_has_a_cell_for_each_paper() -> None:
    table = PAGE[PAGE.index("| name in fsopt") :]
    widths = {line.replace("\\|", "").count("|") for line in table.splitlines() if line.startswith("|")}
    assert widths == {9}


def test_the_table_names_nothing_that_no_model_has() -> None:
    known = {"data", "second_moments", "Moments", "mean1", "mean2", "factor1", "factor2", "n", "p", "X", "y"}
    logistic = fsopt.build("fsp-m-bigm", instance_data("fsp-m-bigm"), loss="logistic")
    for model in (*map(build_instance, fsopt.MODELS), logistic):
        known |= {c.name for c in model.component_objects(KINDS, descend_into=False)}
    for slug in fsopt.MODELS:
        known |= set(fsopt.MODELS[slug].parameters)
    assert known >= NAMES
