"""The registries of models and methods: one module for each entry, named by its slug, and no entry twice."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest
from support import blobs

import fsopt
from fsopt.methods import registry as methods
from fsopt.models import own
from fsopt.models import registry as models
from fsopt.models.papers import PAPERS

PACKAGE = Path(fsopt.__file__).parent
MODULE = '''
"""Model ``{name}-svm``: an SVM of no paper."""

from fsopt.models.gbd.svm import build_svm
from fsopt.models.spec import ModelSpec


def build_{name}_svm(data, *, c=1.0):
    """Return an SVM of no paper."""
    return build_svm(data, c=c)


SPEC = ModelSpec("{name}-svm", build_{name}_svm, "QP", paper={paper!r})
'''


def modules_with_a_spec(package: str) -> set[str]:
    """Return the modules below a package that define a SPEC, as folder.module."""
    files = (PACKAGE / package).glob("*/*.py")
    return {f"{path.parent.name}.{path.stem}" for path in files if "\nSPEC = " in path.read_text(encoding="utf-8")}


@pytest.mark.parametrize("slug", fsopt.MODELS)
def test_a_model_is_the_module_of_its_slug_with_its_builder_and_spec(slug) -> None:
    spec, name = fsopt.MODELS[slug], slug.replace("-", "_")
    module = import_module(f"fsopt.models.{spec.paper or 'own'}.{name}")
    assert spec.slug == slug
    assert spec.paper is None or spec.paper in PAPERS
    assert module.SPEC is spec
    assert spec.builder is getattr(module, f"build_{name}")
    assert spec.builder.__module__ == module.__name__
    assert spec.equation


@pytest.mark.parametrize("name", fsopt.METHODS)
def test_a_method_is_the_module_of_its_name_with_its_fit_objective_and_check(name) -> None:
    spec, stem = fsopt.METHODS[name], name.replace("-", "_")
    module = import_module(f"fsopt.methods.{spec.paper or 'baselines'}.{stem}")
    assert spec.name == name
    assert spec.paper is None or spec.paper in PAPERS
    assert module.SPEC is spec
    assert spec.fit is getattr(module, f"fit_{stem}")
    assert spec.fit.__module__ == module.__name__
    assert callable(spec.objective)
    assert callable(spec.check)
    assert set(spec.models) <= set(fsopt.MODELS)


@pytest.mark.parametrize(("package", "registry"), [("models", models), ("methods", methods)])
def test_every_module_with_a_spec_is_registered(package, registry) -> None:
    assert modules_with_a_spec(package) == set(registry._MODULES)


@pytest.mark.parametrize("registry", [models, methods], ids=["models", "methods"])
def test_an_entry_that_is_registered_twice_is_refused(registry, monkeypatch) -> None:
    monkeypatch.setattr(registry, "_MODULES", (*registry._MODULES, registry._MODULES[0]))
    with pytest.raises(RuntimeError, match="registered twice"):
        registry._registered()


def add_own(monkeypatch, folder: Path, name: str, paper: str | None) -> None:
    """Write a module into the folder of the models of no paper, and its one line into the registry."""
    (folder / f"{name}_svm.py").write_text(MODULE.format(name=name, paper=paper), encoding="utf-8")
    monkeypatch.setattr(own, "__path__", [*own.__path__, str(folder)])
    monkeypatch.setattr(models, "_MODULES", (*models._MODULES, f"own.{name}_svm"))


def test_a_model_of_no_paper_is_one_module_and_one_line(tmp_path, monkeypatch) -> None:
    add_own(monkeypatch, tmp_path, "toy", None)
    entries = models._registered()
    assert (entries["toy-svm"].paper, entries["toy-svm"].summary) == (None, "an SVM of no paper")
    monkeypatch.setattr(models, "MODELS", entries)
    assert fsopt.classify(models.build("toy-svm", blobs(), c=2.0)) == "QP"


def test_a_model_in_the_folder_of_another_paper_is_refused(tmp_path, monkeypatch) -> None:
    add_own(monkeypatch, tmp_path, "misplaced", "mop")
    with pytest.raises(
        RuntimeError, match=r"'misplaced-svm' of fsopt\.models\.own\.misplaced_svm .* mop\.misplaced_svm"
    ):
        models._registered()
