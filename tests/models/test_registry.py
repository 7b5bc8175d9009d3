"""The registries of models and methods: one module for each entry, named by its slug, and no entry twice."""

from importlib import import_module
from pathlib import Path

import fsopt
from fsopt.models.papers import PAPERS

PACKAGE = Path(fsopt.__file__).parent


def test_a_model_is_the_module_of_its_slug_with_its_builder_and_spec() -> None:
    for slug in fsopt.MODELS:
        spec, name = fsopt.MODELS[slug], slug.replace("-", "_")
        module = import_module(f"fsopt.models.{spec.paper or 'own'}.{name}")
        assert (spec.slug, spec.builder) == (slug, getattr(module, f"build_{name}"))
        assert spec.paper is None or spec.paper in PAPERS
        assert module.SPEC is spec
        assert spec.builder.__module__ == module.__name__
        assert spec.equation


def test_a_method_is_the_module_of_its_name_with_its_fit_objective_and_check() -> None:
    for name in fsopt.METHODS:
        spec, stem = fsopt.METHODS[name], name.replace("-", "_")
        module = import_module(f"fsopt.methods.{spec.paper or 'baselines'}.{stem}")
        assert (spec.name, spec.fit) == (name, getattr(module, f"fit_{stem}"))
        assert spec.paper is None or spec.paper in PAPERS
        assert module.SPEC is spec
        assert spec.fit.__module__ == module.__name__
        assert callable(spec.objective)
        assert callable(spec.check)
        assert set(spec.models) <= set(fsopt.MODELS)


def test_every_module_with_a_spec_is_registered() -> None:
    for package, registry in (("models", fsopt.MODELS), ("methods", fsopt.METHODS)):
        files = (PACKAGE / package).glob("*/*.py")
        specs = [path for path in files if "\nSPEC = " in path.read_text(encoding="utf-8")]
        assert {f"{path.parent.name}.{path.stem}" for path in specs} == set(registry.modules)
