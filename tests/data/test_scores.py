"""Measures of scores agree with those of scikit-learn."""

import numpy as np
import pytest
from sklearn import metrics

from fsopt.data.scores import MEASURES, measures


@pytest.mark.parametrize("seed", range(2))
def test_measures_agree_with_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(50) < 0.3, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    score = np.round(rng.standard_normal(50) + 0.5 * y, 1)  # with ties
    labels = np.where(score > 0, 1.0, -1.0)
    found = measures(y, score)
    assert tuple(found) == MEASURES
    assert found["accuracy"] == pytest.approx(metrics.accuracy_score(y, labels))
    assert found["mcc"] == pytest.approx(metrics.matthews_corrcoef(y, labels))
    assert found["balanced_accuracy"] == pytest.approx(metrics.balanced_accuracy_score(y, labels))
    assert found["recall"] == pytest.approx(metrics.recall_score(y, labels))
    assert found["auc"] == pytest.approx(metrics.roc_auc_score(y, score))
    assert measures(y, np.ones(50))["mcc"] == 0.0  # where one is constant
