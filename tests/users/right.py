"""A user's script that strict type checkers accept."""

from typing import Any

import pandas as pd  # type: ignore[import-untyped]

import fsopt

data: fsopt.Dataset = fsopt.load_dataset("wdbc")
table: fsopt.Dataset = fsopt.load_dataset(pd.DataFrame({"a": [1.0, 2.0], "label": ["no", "yes"]}))
ill: fsopt.Dataset = fsopt.load_dataset("mine.csv", target="state", positive=["ill", 1], drop="age", missing="mean")
model = fsopt.build("gmeb-dual", data, r_plus=3.0, r_minus=3.0)
result: fsopt.SolveResult = fsopt.solve(model, time_limit=3.0)
status: fsopt.Status = result.status
fit: fsopt.Fit = fsopt.fit("l0-mpm", data, delta=0.7, alpha=5.0, solver="clarabel")
features: tuple[str, ...] = fit.features
certificate: fsopt.Certificate = fsopt.certify(model, result)
word: str = fsopt.classify(model)
paper: str | None = fsopt.METHODS["gmeb"].paper
again: fsopt.Fit = fsopt.fit("svm", data.X, data.y, c=2.0)
params: dict[str, Any] = {"c": 1.0}
for name in ("svm", "onsvm"):
    model = fsopt.build(name, data, **params)
    fit = fsopt.fit(name, data, solver="highs", **params)
