"""Methods on sparse data: the answers of the dense data, certificates recomputed from them, and refusals."""

import dataclasses
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp

import fsopt
from fsopt.data import Dataset
from fsopt.drivers.column_generation import GenerationSettings, column_generation
from fsopt.errors import DataError, FileError
from fsopt.methods.baselines.filters import FILTERS
from fsopt.methods.preprocessing import preprocess
from fsopt.methods.registry import METHODS
from fsopt.models.registry import MODELS

RNG = np.random.default_rng(5)
DENSE = np.where(RNG.uniform(size=(60, 12)) < 0.3, RNG.normal(size=(60, 12)), 0.0)
DENSE[:, 4] = 0.0
DENSE[7] = 0.0
DENSE[:, 6] *= 1e6
SCORE = DENSE[:, :3] @ [2.0, -1.5, 1.0] + 0.4 * RNG.normal(size=60)
Y = np.where(SCORE > 0.2, 1, -1)
WEIGHTS = RNG.uniform(0.5, 2.0, 60)
SPARSE, FULL = Dataset(sp.csc_matrix(DENSE), Y), Dataset(DENSE, Y)
TAKES = [name for name, spec in METHODS.items() if spec.sparse]
UNSHIFTED = {"l1-svm": {"c": 0.5}, "misclass": {"alpha": 1.0}}
UNSHIFTED |= {name: {"w_cap": 2.0, "m": 3} for name in FILTERS}
"""Parameters with which an optimum is unique, not 0, and does not depend on a shift."""


@pytest.mark.parametrize("name", TAKES)
def test_the_answer_is_that_of_the_dense_data_and_a_changed_one_is_not_verified(name, tmp_path):
    params = {"scale": "standard", **UNSHIFTED.get(name, {})}
    found, known = fsopt.fit(name, SPARSE, **params), fsopt.fit(name, FULL, **params)
    assert found.objective == pytest.approx(known.objective, rel=1e-6, abs=1e-6)
    if name != "misclass":  # which does not penalise features
        assert found.support == known.support
    assert found.status == known.status
    np.testing.assert_array_equal(found.preprocessing.shift, 0.0)
    np.testing.assert_allclose(found.decision_function(sp.coo_array(DENSE)), found.decision_function(DENSE))
    assert found.trained.scores == pytest.approx(found.scores(FULL), abs=1e-9)
    found.save(tmp_path / "fit.json")
    assert fsopt.verify(str(tmp_path / "fit.json"), SPARSE).numerically
    assert not fsopt.verify(dataclasses.replace(found, objective=0.99 * found.objective), SPARSE).numerically
    assert not fsopt.verify(dataclasses.replace(found, coef=-found.coef), SPARSE).numerically
    with pytest.raises(FileError, match="other data"):
        fsopt.verify(found, FULL)
    if METHODS[name].weights == "samples":
        sparse, full = (dataclasses.replace(data, weights=WEIGHTS) for data in (SPARSE, FULL))
        found, known = (fsopt.fit(name, data, **params) for data in (sparse, full))
        assert found.objective == pytest.approx(known.objective, rel=1e-6, abs=1e-6)
        assert fsopt.verify(found, sparse).numerically


@pytest.mark.parametrize("name", FILTERS)
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["equal", "weighted"])
@pytest.mark.parametrize("scale", ["none", "standard"])
def test_scores_are_those_of_the_dense_data(name, weights, scale):
    sparse, full = (dataclasses.replace(data, weights=weights) for data in (SPARSE, FULL))
    found, known = (FILTERS[name](preprocess(data, scale)[0]) for data in (sparse, full))
    np.testing.assert_allclose(found, known, rtol=1e-9, atol=1e-12)
    assert known[4] == 0.0


@pytest.mark.parametrize("name", ["onsvm", "l1-svm"])
def test_small_answers_are_verified_exactly(name):
    found = fsopt.fit(name, SPARSE, scale="none")
    assert fsopt.verify(found, SPARSE, exact=True).exact.verified
    wrong = dataclasses.replace(found, objective=1.001 * found.objective, bound=1.001 * found.objective)
    assert not fsopt.verify(wrong, SPARSE, exact=True).exact.verified


def test_other_methods_say_what_they_need_and_which_do_not():
    for name in METHODS.keys() - set(TAKES):
        message = f"method '{name}' needs dense data: 60 x 12 .* take 5.8e-06 GB"
        with pytest.raises(DataError, match=message) as caught:
            fsopt.fit(name, SPARSE)
        assert "\n" not in str(caught.value)
        assert "onsvm" in caught.value.hint
        assert "Dataset(X.toarray(), y)" in caught.value.hint


def test_models_and_questions_that_need_dense_data_say_so():
    given = {"w": np.ones(12), "sigma": np.ones(12), "w_cap": 1.0, "m": 2}
    asks = [lambda: fsopt.radius_path(SPARSE)]
    for slug in MODELS.keys() - {"l1-hinge-part", "fsp-master"}:
        trial = MODELS[slug].trial.params
        params = dict(trial) or {k: v for k, v in given.items() if k in MODELS[slug].parameters}
        asks.append(partial(fsopt.build, slug, SPARSE, **params))
    for ask in asks:
        with pytest.raises(DataError, match="needs dense data"):
            ask()


@pytest.mark.slow
def test_questions_about_selections_have_the_answers_of_the_dense_data():
    sparse, full = (data.columns([0, 1, 2, 3, 4, 6]) for data in (SPARSE, FULL))
    for ask in (
        lambda data: fsopt.selection_path(data, m=[0, 1, 3]),
        lambda data: fsopt.alternatives(data, m=2, within=0.1),
        lambda data: fsopt.necessity(data, m=2),
    ):
        found, known = ask(sparse), ask(full)
        assert fsopt.verify(found, sparse).numerically
        for one, other in zip(found.to_records(), known.to_records(), strict=True):
            named, values = (set(one) & set(names) for names in (("features", "feature"), ("objective", "without")))
            assert named
            assert values
            assert [one[k] for k in named] == [other[k] for k in named]
            assert [one[k] for k in values] == pytest.approx([other[k] for k in values], rel=1e-4)


def test_predictions_take_columns_by_name():
    names = [f"f{j}" for j in range(12)]
    found = fsopt.fit("onsvm", Dataset(sp.csr_array(DENSE), Y, names))
    order = [j for j in range(12) if found.coef[j] != 0.0][::-1]
    other = Dataset(sp.csr_array(DENSE[:, order]), Y, [names[j] for j in order])
    np.testing.assert_allclose(found.decision_function(other), found.decision_function(DENSE))
    with pytest.raises(DataError, match=f"no column f{order[0]}"):
        found.predict(other.columns(slice(1, None)))


@pytest.mark.parametrize("params", [{"kernel": "gaussian"}, {"scale": "unit-rows"}], ids=["kernel", "unit rows"])
def test_a_fit_on_dense_data_predicts_sparse_samples(params):
    found = fsopt.fit("svm" if "kernel" in params else "fisher", FULL, **params)
    np.testing.assert_allclose(found.decision_function(sp.csr_array(DENSE)), found.decision_function(DENSE))


def test_the_restricted_programs_are_of_some_samples_and_features():
    rng = np.random.default_rng(1)
    X = sp.csr_array(sp.random(200, 80, density=0.1, random_state=rng))
    y = np.where(X @ np.where(np.arange(80) < 4, 5.0, 0.0) + 0.3 * rng.normal(size=200) > 0.3, 1, -1)
    costs, settings = (np.full(200, 0.3), np.ones(80)), GenerationSettings(rows=30, columns=10)
    found, known = (column_generation(Dataset(Z, y), *costs, settings=settings) for Z in (X, X.toarray()))
    assert min(record["rows"] for record in found.history) < 200
    assert found.history[-1]["columns"] < 80
    assert found.status.value == known.status.value == "optimal"
    assert found.objective == pytest.approx(known.objective, rel=1e-7)
