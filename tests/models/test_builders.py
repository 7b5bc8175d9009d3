"""What every builder documents: its program, parameters, components and source."""

import inspect
import re

import pyomo.environ as pyo
import pytest
from pyomo.mpec import Complementarity

import fsopt
from fsopt.models.papers import PAPERS
from tools.instances import build_instance

KINDS = (pyo.Var, pyo.Param, pyo.Objective, pyo.Constraint, Complementarity)


@pytest.fixture(params=fsopt.MODELS)
def spec(request):
    return fsopt.MODELS[request.param]


def docstring(spec) -> str:
    return inspect.getdoc(spec.builder)


def section(doc: str, title: str) -> str:
    found = re.search(rf"\n{title}\n-+\n(.*?)(?:\n\n\S+\n-+\n|\Z)", doc, flags=re.DOTALL)
    assert found, f"no section {title}"
    return found[1]


def test_the_docstring_has_the_program_the_parameters_and_the_source(spec) -> None:
    doc = docstring(spec)
    assert doc.startswith("Return ")
    program = doc.partition(".. math::")[2]
    assert re.search(r"\\(min|max)", program)
    assert r"\text{s.t.}" in program
    names = {n.strip() for line in re.findall(r"(?m)^(\S.*?) : ", section(doc, "Parameters")) for n in line.split(",")}
    assert names == {"data", *spec.parameters}
    if spec.parameters:
        assert "ParameterError" in section(doc, "Raises")
    assert spec.paper is None or PAPERS[spec.paper].authors in section(doc, "Notes")


def test_every_component_is_described_with_its_equation(spec) -> None:
    described = section(docstring(spec), "Returns")
    if "omponents as in ``l1-mpm``" in " ".join(described.split()):
        described += section(docstring(fsopt.MODELS["l1-mpm"]), "Returns")
    named = {"objective", *re.findall(r"\w+", " ".join(re.findall(r"``([^`]*)``", described)))}
    components = list(build_instance(spec.slug).component_objects(KINDS, descend_into=False))
    for component in components:
        assert component.doc, component.name
        assert component.name in named
        if component.ctype in KINDS[2:]:
            assert re.match(r"\([\w-]+\)", component.doc), f"{component.name}: {component.doc}"


def test_no_two_models_have_the_same_summary() -> None:
    assert len({spec.summary for spec in fsopt.MODELS.values()}) == len(fsopt.MODELS)
