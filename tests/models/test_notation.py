"""docs/notation.md has every component and every keyword of every model."""

import re

import pyomo.environ as pyo
from pyomo.mpec import Complementarity
from support import ROOT

import fsopt
from fsopt.models.draws import instance_data
from tools.instances import build_instance

PAGE = (ROOT / "docs" / "notation.md").read_text(encoding="utf-8")
ROWS = [line.strip("| ").split(" | ") for line in PAGE.splitlines() if line.startswith("| ") and "`" in line]
NAMES = {name for row in ROWS for name in re.findall(r"`(\w+)`", row[0])}
KINDS = (pyo.Var, pyo.Param, pyo.Expression, pyo.Constraint, pyo.Block, Complementarity)


def test_every_row_has_a_cell_for_each_paper() -> None:
    table = PAGE[PAGE.index("| name in fsopt") :]
    widths = {line.replace("\\|", "").count("|") for line in table.splitlines() if line.startswith("|")}
    assert widths == {9}


def test_the_table_has_the_components_and_keywords_of_all_models_and_no_others() -> None:
    known = {"data", "second_moments", "Moments", "mean1", "mean2", "factor1", "factor2", "n", "p", "X", "y"}
    logistic = fsopt.build("fsp-m-bigm", instance_data("fsp-m-bigm"), loss="logistic")
    for slug, model in [*((slug, build_instance(slug)) for slug in fsopt.MODELS), ("fsp-m-bigm", logistic)]:
        components = {c.name for c in model.component_objects(KINDS, descend_into=False)}
        found = components | set(fsopt.MODELS[slug].parameters)
        assert model is logistic or found <= NAMES, slug
        known |= found
    assert known >= NAMES
