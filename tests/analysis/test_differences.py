"""The difference of two formulations: a dual pair has the same optimum, and the components are listed."""

from __future__ import annotations

import json

import pyomo.environ as pyo
import pytest
from support import blobs

import fsopt
from fsopt.cli import main


def test_primal_and_dual_differ_in_components_and_agree_in_value():
    data = blobs(30, 4)
    first, second = (fsopt.build(slug, data, r_plus=1.0, r_minus=1.0) for slug in ("gmeb-primal", "gmeb-dual"))
    found = fsopt.compare_models(first, second)
    assert found.names == ("gmeb-primal", "gmeb-dual")
    assert found.same_optimum
    assert found.facts["sense"] == ("minimise", "maximise")
    assert found.facts["class"] == ("SOCP", "SOCP")
    assert "margin" in [name for name, *_ in found.only[0]]
    assert "mu" in [name for name, *_ in found.only[1]]


def test_a_changed_copy_differs_in_what_was_changed():
    first = fsopt.build("svm", blobs(20, 3))
    second = first.clone()
    second.extra = pyo.Constraint(expr=second.b >= 0.5, doc="own")
    found = fsopt.compare_models(first, second)
    assert found.only == ([], [("extra", "constraint", 1, "own")])
    assert found.changed == []
    assert found.facts["linear constraints"] == (20, 21)
    assert fsopt.compare_models(first, second, solve=False).same_optimum is None


def test_the_verb_gives_each_model_the_parameters_that_it_has(capsys):
    with pytest.raises(SystemExit) as end:
        main(["diff", "svm", "svm-dual", "--data", "wdbc", "--scale", "standard", "--param", "c=2", "--json"])
    assert end.value.code == 0
    assert json.loads(capsys.readouterr().out)["same_optimum"] is True
    with pytest.raises(SystemExit) as end:
        main(["diff", "svm", "svm-dual", "--data", "wdbc", "--param", "m=2"])
    assert end.value.code == 2
