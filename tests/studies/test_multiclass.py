"""Several classes: votes and scores by hand, and the two classes of the package itself."""

import numpy as np
import pytest

import fsopt
from fsopt.errors import DataError
from fsopt.studies.multiclass import fit_multiclass

RNG = np.random.default_rng(0)
CENTRES = np.array([[3.0, 0.0, 0.0], [0.0, 3.0, 0.0], [-3.0, -3.0, 0.0]])
LABELS = np.repeat(["a", "b", "c"], 20)
X = CENTRES[np.repeat([0, 1, 2], 20)] + 0.5 * RNG.standard_normal((60, 3))


@pytest.mark.parametrize("scheme", ["rest", "pairs"])
@pytest.mark.parametrize("method", ["l1-mpm", "svm"])
def test_separated_classes_are_told_apart(method, scheme):
    found = fit_multiclass(method, X, LABELS, scheme=scheme)
    assert found.classes == ("a", "b", "c")
    assert len(found.fits) == 3
    assert np.mean(found.predict(X) == LABELS) > 0.95


def test_scores_and_votes_by_hand():
    rest = fit_multiclass("svm", X, LABELS)
    scores = np.column_stack([rest.fits[name, None].decision_function(X) for name in "abc"])
    assert rest.predict(X).tolist() == ["abc"[k] for k in scores.argmax(axis=1)]
    pairs = fit_multiclass("svm", X, LABELS, scheme="pairs", features=["u", "v", "w"])
    one = pairs.fits["a", "c"]
    y = np.where(LABELS[LABELS != "b"] == "a", 1.0, -1.0)
    again = fsopt.fit("svm", fsopt.Dataset(X[LABELS != "b"], y))
    assert one.coef == pytest.approx(again.coef)
    assert set(pairs.features) <= {"u", "v", "w"}


def test_one_class_is_none():
    with pytest.raises(DataError, match="1 classes"):
        fit_multiclass("svm", X, ["a"] * 60)
