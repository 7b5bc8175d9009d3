"""Every convex integer program of the library has a tree that fsopt-verify confirms, at the published optimum."""

from __future__ import annotations

import tomllib

import pytest
from proof_files import proved, refused
from support import ROOT

import fsopt
from fsopt.compiler import compile_model
from tools import instances

LIBRARY = ROOT / "models"
PRODUCTS = ("fsp-m", "fsp-lambda")
"""With products of variables: no convex relaxation of them is known here."""
PROVED = ("l0-mpm-exact", "misclass-milp", "fsv-exact", "fsv-lpec", "fsp-master", "fsp-m-perspective", "fsp-m-bigm")
LARGE = ("misclass-lpec",)
"""With a tree of thousands of leaves, for minutes: that of its equivalent misclass-milp is confirmed."""


@pytest.mark.slow
def test_these_are_the_integer_programs_of_the_library():
    models = {slug: instances.solvable(instances.build_instance(slug)) for slug in fsopt.MODELS}
    integer = {slug for slug, model in models.items() if compile_model(model).integer.any()}
    assert integer == {*PRODUCTS, *PROVED, *LARGE}


@pytest.mark.parametrize("slug", PROVED)
def test_the_tree_of_an_instance_is_confirmed_at_the_published_optimum(slug):
    model = instances.solvable(instances.build_instance(slug))
    published = tomllib.loads((LIBRARY / slug / "instance.toml").read_text(encoding="utf-8"))["optimum"]["objective"]
    result = fsopt.prove(model)
    assert result.status == "optimal"
    assert result.objective == pytest.approx(published, rel=1e-6)
    (claim,) = fsopt.verify(result, model, exact=True).exact.claims
    lower, _ = proved(claim.part)
    assert not refused(claim.part)
    assert float(lower) == pytest.approx(published, rel=1e-6)
