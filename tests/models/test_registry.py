"""The registries of models and methods: one module for each entry, named by its slug, and no entry twice."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from support import blobs

import fsopt
from fsopt.common.registry import Registry
from fsopt.models import own
from fsopt.models.papers import PAPERS

PACKAGE = Path(fsopt.__file__).parent
MODULE = '''
"""Model ``toy-svm``: an SVM of no paper."""

from fsopt.models.gbd.svm import build_svm
from fsopt.models.spec import ModelSpec


def build_toy_svm(data, *, c=1.0):
    """Return an SVM of no paper."""
    return build_svm(data, c=c)


SPEC = ModelSpec("toy-svm", build_toy_svm, "QP")
'''


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


def test_a_model_of_no_paper_is_one_module_and_one_line(tmp_path, monkeypatch) -> None:
    (tmp_path / "toy_svm.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.setattr(own, "__path__", [*own.__path__, str(tmp_path)])
    monkeypatch.setattr(fsopt.MODELS, "modules", (*fsopt.MODELS.modules, "own.toy_svm"))
    monkeypatch.setattr(fsopt.MODELS, "shipped", Registry.shipped.func(fsopt.MODELS))
    spec = fsopt.MODELS["toy-svm"]
    assert (spec.paper, spec.module, spec.summary) == (None, "own.toy_svm", "an SVM of no paper")
    assert fsopt.classify(fsopt.build("toy-svm", blobs(), c=2.0)) == "QP"
