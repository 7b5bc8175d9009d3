"""The registries of models and methods: each entry is its module's, with a function of its name, and none is twice."""

import re
from importlib import import_module
from pathlib import Path

import fsopt
from fsopt.models.papers import PAPERS

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
