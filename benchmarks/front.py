"""The picture of the site's first page: accuracy on held-out samples against the number of features.

``python benchmarks/front.py`` fits three methods at five parameters each in five stratified folds of wdbc, and writes
``docs/_static/front.svg``.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.figure import Figure

import fsopt
from fsopt.data.dataset import stratified_folds, train_and_test
from fsopt.data.hyperplanes import error_rate

PLACE = Path(__file__).parents[1] / "docs" / "_static" / "front.svg"
GRIDS = {
    "l1-svm": ("c", (0.007, 0.01, 0.02, 0.05, 0.1), "o-"),
    "fsv": ("lam", (0.2, 0.1, 0.05, 0.02, 0.01), "s--"),
    "l0-mpm": ("delta", (0.5, 0.6, 0.65, 0.7, 0.74), "^:"),
}
"""Method -> its parameter, the values, and how its points are drawn."""


def main() -> None:
    """Fit, and write the picture."""
    data = fsopt.load_dataset("wdbc")
    splits = [train_and_test(data, fold) for fold in stratified_folds(data, 5, 0)]
    matplotlib.rcParams["svg.hashsalt"] = "fsopt"
    figure = Figure(figsize=(7.0, 3.6), layout="constrained")
    axes = figure.subplots()
    for method, (name, values, style) in GRIDS.items():
        points = []
        for value in values:
            fits = [(fsopt.fit(method, train, **{name: value}), test) for train, test in splits]
            accuracy = [100.0 - 100.0 * error_rate(fit.decision_function(test.X), test.y) for fit, test in fits]
            features = float(np.mean([len(fit.support) for fit, _ in fits]))
            points.append((features, float(np.mean(accuracy)), float(np.std(accuracy, ddof=1)) / len(splits) ** 0.5))
        across, up, error = zip(*sorted(points), strict=True)
        axes.errorbar(across, up, yerr=error, fmt=style, capsize=3, label=method)
    axes.set_xlabel("number of features")
    axes.set_ylabel("accuracy on held-out samples, %")
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(PLACE, metadata={"Date": None})


if __name__ == "__main__":
    main()
