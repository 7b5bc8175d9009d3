"""What every builder documents: its program, parameters, components and source; the registries have every module."""

import inspect
import json
import re
from importlib import import_module
from math import inf, nextafter
from pathlib import Path

import numpy as np
import pyomo.environ as pyo
import pytest
from pyomo.mpec import Complementarity
from support import REFERENCE, ROOT, blobs, reference, sampled, solved

import fsopt
from fsopt.common.arguments import ALL, ends, range_of
from fsopt.compiler import compile_model
from fsopt.errors import FsoptError
from fsopt.models.draws import instance_data, trial_data
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


@pytest.mark.parametrize("slug", fsopt.MODELS)
def test_a_number_below_its_range_and_a_word_are_refused_by_name(slug) -> None:
    params, known = fsopt.MODELS[slug].trial.params, fsopt.MODELS[slug].parameters
    counted = {"budget", "delta"} if slug.startswith(("fsp", "misclass")) else set()  # with costs; of samples
    for name, interval in ((name, range_of(slug, name)) for name in known.keys() - counted):
        least = ends(interval)[0]
        for bad in (least if interval[0] == "(" else nextafter(least, -inf), "much") if interval != ALL else ():
            with pytest.raises(FsoptError, match=name):
                fsopt.build(slug, trial_data(slug), **{**params, name: bad})


PAGE = (ROOT / "docs" / "notation.md").read_text(encoding="utf-8")
ROWS = [line.strip("| ").split(" | ") for line in PAGE.splitlines() if line.startswith("| ") and "`" in line]
NAMES = {name for row in ROWS for name in re.findall(r"`(\w+)`", row[0])}
NOTATION_KINDS = (pyo.Var, pyo.Param, pyo.Expression, pyo.Constraint, pyo.Block, Complementarity)


def test_every_row_has_a_cell_for_each_paper() -> None:
    table = PAGE[PAGE.index("| name in fsopt") :]
    widths = {line.replace("\\|", "").count("|") for line in table.splitlines() if line.startswith("|")}
    assert widths == {9}


def test_the_table_has_the_components_and_keywords_of_all_models_and_no_others() -> None:
    known = {"data", "second_moments", "Moments", "mean1", "mean2", "factor1", "factor2", "n", "p", "X", "y"}
    logistic = fsopt.build("fsp-m-bigm", instance_data("fsp-m-bigm"), loss="logistic")
    for slug, model in [*((slug, build_instance(slug)) for slug in fsopt.MODELS), ("fsp-m-bigm", logistic)]:
        components = {c.name for c in model.component_objects(NOTATION_KINDS, descend_into=False)}
        found = components | set(fsopt.MODELS[slug].parameters)
        assert model is logistic or found <= NAMES, slug
        known |= found
    assert known >= NAMES


def test_html_has_program_components_and_values_after_a_solve():
    model = fsopt.build("svm", blobs(20, 3))
    before = model._repr_html_()
    assert "$$\\begin{aligned}" in before
    assert "<td>margin</td><td>constraint</td><td>20</td>" in before.replace("\n", "").replace(" ", "")
    assert "..." not in before
    assert " nonzero" not in before
    objective = fsopt.solve(model).objective
    after = model._repr_html_()
    assert f"<td>{objective:.6g}</td>" in after
    assert " nonzero" in after
    assert "<script" not in after
    assert model._repr_latex_().startswith("$$\\begin{aligned}")
    assert type(model.clone()) is type(model)
    assert "<td>margin</td>" in model.clone()._repr_html_()


GOLDEN_MODELS_KINDS = {"model": {}, "relax": {"relax": True}}
"""Kind of a reference value -> parameters of its model that the entry does not name."""
ENTRIES = [
    entry
    for entry in json.loads((REFERENCE / "golden.json").read_text())
    if entry["kind"] in GOLDEN_MODELS_KINDS and entry["name"] in fsopt.MODELS
]
FIRST = list({(entry["name"], entry["data"]): entry for entry in ENTRIES}.values())


def name_of(entry):
    return "-".join([entry["name"], entry["data"], *(f"{k}={v}" for k, v in entry["params"].items())])


@pytest.mark.parametrize(
    "entry", sampled([*FIRST[::2], *(e for e in ENTRIES if e not in FIRST[::2])], len(FIRST[::2])), ids=name_of
)
def test_reference_optimum(entry):
    data = reference(entry["data"])
    m, result = solved(entry["name"], data, **entry["params"], **GOLDEN_MODELS_KINDS[entry["kind"]])
    assert abs(result.objective - entry["objective"]) <= entry["atol"] + entry["rtol"] * abs(entry["objective"])
    integers = "MI" if entry["kind"] == "relax" else ""
    assert integers + fsopt.classify(m) == fsopt.MODELS[entry["name"]].problem_class


NEXT = {"alpha": 2.5, "delta": 0.4, "lam": 0.3, "sigma": 0.25}
"""Parameter -> its next value; 1.7 for the others."""
OTHER = {
    "bmpm": "beta",
    "s-mpm": "beta",
    "fsp-m": "c",
    "fsp-lambda": "c",
    "fsp-m-bigm": "c",
    "kernel-scaling": "c e_cap",
    "kernel-scaling-step": "c",
    "fsv-step": "alpha",
    "misclass-step": "alpha",
    "gmeb-cuts": "r_plus r_minus",
    "mmop": "h_cap",
    "rsvm-dual": "w_cap",
}
"""Slug -> parameters whose next value is that of another component, or a new model, as the builder says."""
PARAMETERS_NAMES = "alpha beta c c_plus c_minus delta e_cap h_cap lam r_plus r_minus sigma w_cap"
CASES = [
    (slug, name) for slug, spec in fsopt.MODELS.items() for name in PARAMETERS_NAMES.split() if name in spec.parameters
]


def arrays_of(p):
    matrices = [matrix.toarray() for matrix in (p.P, p.A, p.cones.G)]
    return [p.c, p.lo, p.hi, p.lb, p.ub, p.c0, p.cones.h, *matrices]


@pytest.mark.parametrize(
    ("slug", "name"), sampled([case for case in CASES if case[1] not in OTHER.get(case[0], "").split()], 21, 0)
)
def test_the_arrays_are_those_of_a_new_build(slug, name):
    data, params = trial_data(slug), dict(fsopt.MODELS[slug].trial.params)
    if slug in ("fsp-master", "fsp-lambda") and name == "lam":
        params = {"lam": 1.0}
    value = NEXT.get(name, 1.7)
    model, session = fsopt.build(slug, data, **params), None
    if fsopt.MODELS[slug].problem_class in ("LP", "QP", "SOCP"):
        session = fsopt.Session(model)
        program = session.program
    parameter = getattr(model, name)
    for place in parameter if parameter.is_indexed() else [None]:
        parameter[place] = value
    if session is not None:
        session.update()
        assert (session.program is program) != bool(session.rebuilt)
    given = np.full(len(parameter), value).tolist() if parameter.is_indexed() else value
    anew = compile_model(fsopt.build(slug, data, **params | {name: given}))
    for p in (compile_model(model), *([] if session is None else [session.program])):
        for found, expected in zip(arrays_of(p), arrays_of(anew), strict=True):
            np.testing.assert_array_equal(found, expected)
    x = np.full(anew.n, 0.3)
    assert compile_model(model).objective_at(x) == anew.objective_at(x)


PACKAGE = Path(fsopt.__file__).parent


def test_an_entry_is_the_module_of_its_name_with_its_function_and_spec() -> None:
    for registry, package, others, verb in (
        (fsopt.MODELS, "models", "own", "build"),
        (fsopt.METHODS, "methods", "baselines", "fit"),
    ):
        for name, spec in registry.items():
            stem = name.replace("-", "_")
            module = import_module((spec.builder if verb == "build" else spec.fit).__module__)
            function = getattr(module, f"{verb}_{stem}")
            assert any(spec is each for each in getattr(module, "SPECS", None) or [module.SPEC])
            assert module.__name__.startswith(f"fsopt.{package}.{spec.paper or others}.")
            assert (function, name) == ((spec.builder, spec.slug) if verb == "build" else (spec.fit, spec.name))
            assert spec.paper is None or spec.paper in PAPERS
            assert spec.equation if verb == "build" else set(spec.models) <= set(fsopt.MODELS)


def test_every_module_with_a_spec_is_registered() -> None:
    for package, registry in (("models", fsopt.MODELS), ("methods", fsopt.METHODS)):
        files = (PACKAGE / package).glob("*/*.py")
        specs = [path for path in files if re.search("^SPECS? = ", path.read_text(encoding="utf-8"), re.MULTILINE)]
        assert {f"{path.parent.name}.{path.stem}" for path in specs} == set(registry.modules)
