"""The one kind of registry, and what users and their packages register: entries, names, weights, penalties."""

import dataclasses
import importlib
import json
import os
import subprocess
import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from snippets import installed, steps
from support import ROOT, blobs

import fsopt
from fsopt import extend
from fsopt.common.registry import REGISTRIES, Registry
from fsopt.errors import FsoptError, ParameterError, UnknownNameError
from fsopt.extend import make_fit, preprocess, unproved
from fsopt.models.gbd.svm import build_svm

DATA = blobs(30, 4, seed=3)


@pytest.fixture(autouse=True)
def restored(monkeypatch):
    for registry in REGISTRIES.values():
        monkeypatch.setattr(registry, "own", dict(registry.own))


def toys(monkeypatch, *names) -> Registry[SimpleNamespace]:
    """Return a registry of one module with entries of these names."""
    module = ModuleType("toys.all")
    module.SPECS = [SimpleNamespace(name=name) for name in names]
    monkeypatch.setitem(sys.modules, "toys.all", module)
    monkeypatch.setattr("fsopt.common.registry.REGISTRIES", {})
    return Registry(SimpleNamespace, "toy", "toys", ("all",), listing="fsopt toys")


def test_no_two_entries_bear_a_name():
    for registry in REGISTRIES.values():
        loaded = [importlib.import_module(f"{registry.package}.{module}") for module in registry.modules]
        assert len(registry.shipped) == sum(len(getattr(one, "SPECS", None) or (one.SPEC,)) for one in loaded)


def test_an_unknown_name_is_an_error_with_near_names_and_a_key_error():
    with pytest.raises(UnknownNameError, match="did you mean gmeb-dual"):
        fsopt.MODELS["gmeb-duall"]
    with pytest.raises(KeyError):
        fsopt.MODELS["nothing"]
    assert fsopt.MODELS.get("nothing") is None
    assert "nothing" not in fsopt.MODELS


def test_plug_ins_are_loaded_at_the_first_miss_and_before_a_listing(monkeypatch):
    found, loads = toys(monkeypatch, "bear"), []

    def load():
        loads.append(1)
        if len(loads) == 1:
            found.register(SimpleNamespace(name="kite"))

    waiting = [SimpleNamespace(value="toys:register", load=lambda: load)]
    monkeypatch.setattr("fsopt.common.registry._waiting", lambda: waiting)
    assert found["bear"].name == "bear"
    assert loads == []
    assert found["kite"].name == "kite"
    assert list(found) == ["bear", "kite"]
    assert loads == [1]


def test_a_plug_in_that_fails_is_a_warning(monkeypatch):
    waiting = [SimpleNamespace(value="broken:register", load=lambda: 1 / 0)]
    monkeypatch.setattr("fsopt.common.registry._waiting", lambda: waiting)
    with pytest.warns(UserWarning, match="'broken:register' failed to register: division by zero"):
        assert "nothing" not in fsopt.MODELS


@pytest.mark.parametrize(
    ("register", "shipped", "own"),
    [
        (fsopt.register_model, fsopt.MODELS["svm"], fsopt.ModelSpec("own-svm", build_svm, "QP")),
        (fsopt.register_method, fsopt.METHODS["svm"], dataclasses.replace(fsopt.METHODS["svm"], name="own-svm")),
        (fsopt.register_solver, fsopt.SOLVERS["clarabel"], dataclasses.replace(fsopt.SOLVERS["clarabel"], name="own")),
    ],
)
def test_names_that_are_taken_are_refused_and_entries_of_ones_own_replaced(register, shipped, own):
    with pytest.raises(ParameterError, match="already"):
        register(shipped, replace=True)
    register(own)
    with pytest.raises(ParameterError, match="already"):
        register(own)
    register(own, replace=True)


SVM = fsopt.METHODS["svm"]
CLARABEL = fsopt.SOLVERS["clarabel"]


@pytest.mark.parametrize(
    ("register", "entry", "why"),
    [
        (fsopt.register_model, fsopt.ModelSpec("b", build_svm, "QUBO"), "class of 'b'"),
        (fsopt.register_model, fsopt.ModelSpec("b", "build", "QP"), "'build' for a function"),
        (fsopt.register_model, fsopt.ModelSpec("b", build_svm, "QP", weights="some"), "weights of 'b'"),
        (fsopt.register_model, fsopt.ModelSpec("b c", build_svm, "QP"), "'b c' is no name"),
        (fsopt.register_model, fsopt.ModelSpec(3, build_svm, "QP"), "name of the model must be a text"),
        (fsopt.register_model, build_svm, "give a ModelSpec"),
        (fsopt.register_method, dataclasses.replace(SVM, name="own", models=("nothing",)), "no model called 'nothing'"),
        (fsopt.register_method, dataclasses.replace(SVM, name="own", threshold=-1.0), "threshold"),
        (fsopt.register_method, dataclasses.replace(SVM, name="own", fit=None), "None for a function"),
        (fsopt.register_solver, dataclasses.replace(CLARABEL, name="x", ranks={"QUBO": 1}), "a class of 'x'"),
        (fsopt.register_solver, dataclasses.replace(CLARABEL, name="pyomo:x"), "one that Pyomo calls"),
        (extend.register_penalty, extend.PenaltySpec("own", 3, "t"), "3 for a function"),
    ],
)
def test_an_entry_that_cannot_work_is_refused(register, entry, why):
    with pytest.raises(FsoptError, match=why):
        register(entry)


def test_a_model_of_the_users_own_takes_weights_where_its_entry_says_so():
    weighted = DATA.weighted(sample_weight=np.linspace(0.5, 2.0, DATA.n))
    fsopt.register_model(fsopt.ModelSpec("without", build_svm, "QP"))
    with pytest.raises(ParameterError, match="no place for weights"):
        fsopt.build("without", weighted)
    fsopt.register_model(fsopt.ModelSpec("with", build_svm, "QP", weights="samples"))
    values = [fsopt.solve(fsopt.build(slug, weighted)).objective for slug in ("with", "svm")]
    assert values[0] == pytest.approx(values[1], rel=1e-9)
    assert values[0] != pytest.approx(fsopt.solve(fsopt.build("svm", DATA)).objective, rel=1e-3)


def test_a_hyperplane_without_a_program_is_a_feasible_fit_whose_value_is_verified():
    def fit_means(data, run, *, scale="standard"):
        work, map_ = preprocess(data, scale)
        w = work.X[work.y > 0].mean(axis=0) - work.X[work.y < 0].mean(axis=0)
        return make_fit(map_, w, 0.0, unproved(value(work, w)[0]))

    def value(data, w, b=0.0, params=None):
        return float(np.mean(data.y * (data.X @ w + b) <= 0)), 0.0

    fsopt.register_method(fsopt.MethodSpec("means", fit_means, (), equation="own", objective=value))
    fit = fsopt.fit("means", DATA)
    assert (fit.status, fit.objective) == ("feasible", np.mean(fit.predict(DATA.X) != DATA.y))
    assert fsopt.verify(fit, DATA).numerically
    assert not fsopt.verify(dataclasses.replace(fit, objective=fit.objective + 0.1), DATA).numerically


@dataclasses.dataclass(frozen=True)
class Fraction:
    """a t / (1 + a t) of the absolute value t of each weight."""

    slope: float = 5.0

    def value(self, w):
        return float((self.slope * abs(w) / (1 + self.slope * abs(w))).sum())

    def gradient(self, w):
        return np.sign(w) * self.slope * (1 - 1 / (1 + self.slope * abs(w)) ** 2)


def fitted(**given):
    return fsopt.fit("l0-mpm", DATA, delta=0.4, **given)


def test_a_registered_penalty_is_fitted_saved_and_verified_by_its_name(tmp_path):
    with pytest.raises(ParameterError, match=r"'approx' of 'l0-mpm' must not be Fraction\("):
        fitted(approx=Fraction(3.0))
    extend.register_penalty(extend.PenaltySpec("fraction", Fraction, "alpha t / (1 + alpha t)"))
    fit = fitted(approx="fraction", alpha=3.0)
    scaled = fit.coef * DATA.X.std(axis=0)
    assert fit.objective == pytest.approx(Fraction(3.0).value(scaled), rel=1e-6)
    assert fit.objective != pytest.approx(fitted(alpha=3.0).objective, rel=1e-3)
    fit.save(tmp_path / "fit.json")
    assert json.loads((tmp_path / "fit.json").read_text())["params"]["approx"] == "fraction"
    assert fsopt.verify(fsopt.load_fit(tmp_path / "fit.json"), DATA).certificate.ok


@pytest.fixture
def in_package(tmp_path):
    """Return a function that runs code with data where the package of docs/howto/own-package.md is installed."""
    for step in steps((ROOT / "docs" / "howto" / "own-package.md").read_text(encoding="utf-8")):
        if step.file:
            (tmp_path / step.file).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / step.file).write_text(step.text, encoding="utf-8")
    (tmp_path / "site").mkdir()
    installed(tmp_path / "elastic", tmp_path / "site")
    np.savez(tmp_path / "data.npz", X=DATA.X, y=DATA.y)
    env = {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT), str(tmp_path / "site")))}

    def run(code):
        words = [sys.executable, "-c", f"import fsopt\ndata = fsopt.load_dataset('data.npz')\n{code}"]
        return subprocess.run(words, capture_output=True, text=True, env=env, cwd=tmp_path).stdout

    return run


@pytest.mark.slow
def test_an_own_package_is_exported_and_its_estimator_works_in_other_processes(in_package, tmp_path):
    said = in_package(
        "from sklearn.model_selection import cross_val_score\n"
        "fsopt.export(fsopt.build('elastic-svm', data), 'elastic.nl')\n"
        "print(cross_val_score(fsopt.estimators.ElasticSvm(mu=2.0), data.X, data.y, cv=3, n_jobs=2).min() > 0.5)\n"
    )
    assert said == "True\n"
    assert (tmp_path / "elastic.nl").exists()


@pytest.mark.slow
def test_registration_in_a_script_goes_through_a_comparison_with_workers(in_package):
    said = in_package(
        "import elastic_svm\n"
        "from fsopt.common.registry import _waiting\n"
        "_waiting().clear()\n"
        "elastic_svm.register()\n"
        "rows = fsopt.compare(data, methods=['elastic-svm'], folds=2, jobs=2).rows\n"
        "print(rows[0]['status'], rows[0]['error'] or 'no error')\n"
    )
    assert said == "optimal no error\n"
