"""
Cross-validation in a pipeline of scikit-learn
==============================================

The folds choose how many of ten features ``best-subset`` takes; missing values are imputed within each of them.
"""

from __future__ import annotations

import numpy as np
from sklearn.impute import SimpleImputer  # type: ignore[import-untyped]
from sklearn.model_selection import GridSearchCV  # type: ignore[import-untyped]
from sklearn.multiclass import OneVsRestClassifier  # type: ignore[import-untyped]
from sklearn.pipeline import Pipeline  # type: ignore[import-untyped]

import fsopt
from fsopt.estimators import ONSVM, BestSubsetSVM


def main() -> None:
    """Choose m of ``best-subset`` on incomplete data, and separate three classes by one classifier for each."""
    data = fsopt.load_dataset("wdbc").columns(slice(0, 10))
    draw = np.random.default_rng(0)
    X = data.X.copy()
    X[draw.random(X.shape) < 0.05] = np.nan
    y = np.where(data.y > 0, "malignant", "benign")

    steps = [
        ("impute", SimpleImputer(strategy="median")),
        ("svm", BestSubsetSVM(c=1.0, tolerance=1e-2, class_weight="balanced")),
    ]
    search = GridSearchCV(Pipeline(steps), {"svm__m": [1, 3, 5]}, scoring="balanced_accuracy", cv=3)
    search.fit(X, y)
    best = search.best_estimator_.named_steps["svm"]
    print("m:", search.best_params_["svm__m"], "balanced accuracy:", round(float(search.best_score_), 3))
    print("features:", [data.features[int(j)] for j in best.get_support(indices=True)])
    print("certificate:", best.certificate_.kind, "bound:", round(best.fit_.bound, 2))

    thirds = np.digitize(data.X[:, 3], np.quantile(data.X[:, 3], [1 / 3, 2 / 3]))
    several = OneVsRestClassifier(ONSVM(c=1.0)).fit(data.X, thirds)
    print("three classes:", round(float(several.score(data.X, thirds)), 3))


if __name__ == "__main__":
    main()
