"""Aytug (section 4): the text on Tables 2 and 3, Figures 1 to 3, and the protocol of Tables 4 and 5.

Methods are tuned on validation data and measured on test data. The penalty weight C is a part of the paper's 2^-2, ...,
2^5, so that a page takes less than an hour: :data:`CUTS`. No clock ends a fit: GBD, the loop as printed, ends after
:data:`CUTS`, of the 250 of the paper, of which the masters of the last ones may take minutes; the exact search,
``best-subset``, after :data:`NODES` for each C; both are optimal where their gap is closed before. FSV is tuned over
lambda = 2^-9, 2^-7, 2^-5, 2^-3. The paper has lambda = 1, at which the errors drop out of (21) of Mangasarian and w = 0
is optimal; the software of the paper states another problem. Of equal validation errors the first candidate wins: the
smallest C or lambda.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from fsopt.answers.trained import fingerprint
from fsopt.data import Dataset, load_dataset
from fsopt.data.dataset import random_parts
from fsopt.data.drawn import SyntheticInstance, gbd_set_one, gbd_set_two
from fsopt.errors import DataError, OutOfTimeError, ParameterError
from fsopt.methods.registry import METHODS
from fsopt.papers.reproduction import (
    LATE,
    Cells,
    Experiment,
    Reproduction,
    RunSettings,
    curves,
    measures,
    noted,
    numbers_of,
    printed,
)
from fsopt.papers.verdicts import DIFFERS, TableCell, cell, deviations, unprinted
from fsopt.studies.tuning import Tuned, tune
from fsopt.typing import Vector

COMPARED = ("gbd", "best-subset", "rfe", "fsv", "onsvm", "infogain")
"""The methods of the tables, and the exact search for the problem of GBD."""
LAMBDA_VALUES = tuple(2.0**k for k in range(-9, -2, 2))
PENALTIES = tuple(4.0**k for k in range(-3, 1))
"""The lambda of GBD-lambda."""
COUNTED = ("gbd", "best-subset", "rfe", "infogain")
"""Methods that are given the number of features."""
TOLERANCE = 1e-4
"""Relative optimality gap at which GBD and the exact search stop."""
MANY = 100
"""Features above which the second of these is taken."""
CUTS: tuple[dict[float, int], dict[float, int]] = ({0.5: 25, 16.0: 100}, {16.0: 20})
"""C -> the cuts of GBD, at most: up to about ten seconds of a processor for a fit."""
NODES = 100
"""Nodes of the exact search for each C, about a second of a processor with 50 features and 500 samples."""
DRAWN_TWO = ("gbd", "best-subset", "rfe", "onsvm")
"""The methods of Figures 2 and 3."""
ALIGNED = (0.99, 1.0)
"""Alignments of a method that learns at all: those printed begin at .9928."""
BINS = 5
REAL = (
    *("bupa", "cleveland", "german", "ionosphere", "pima", "sonar", "spambase", "tictactoe", "votes", "wbcd", "wdbc"),
    *("wpbc", "leukemia", "gina_agnostic", "sylva_agnostic"),
)
"""Data sets of Table 4; those that are not in the package are read where a file of them is in the folder of data."""
FILES = {"leukemia": ("leukemia.train", "leukemia.test")}
"""Data set of Table 4 -> the files of which it has all samples; the others have one file of their name."""
LOOP = ["at most " + ", ".join(f"{most} cuts at C = {c:g}" for c, most in reversed(one.items())) for one in CUTS]
"""Beside each cell of the loop as printed."""
OTHERS = (DIFFERS, "other data than those of the paper, and gbd with fewer C and fewer cuts")
SHOWN = {"test_error": "test error", **{name: name for name in ("overlap", "exact", "proved", "gap", "difference")}}
SHOWN |= {"better": "gbd better", "worse": "gbd worse"}
PLACES = {"loop": LOOP, "nodes": NODES}
LIMITS = [noted("gbd-limits", loop=one, nodes=NODES)[0] for one in LOOP]


def averages(rows: pd.DataFrame, reference: str = "gbd") -> pd.DataFrame:
    """Return the means of each method, in the order in which methods occur, beside those of a reference.

    Parameters
    ----------
    rows : of :func:`measure` or :func:`real_data`.
    reference : a method of them, GBD in the paper.

    Returns
    -------
    DataFrame
        A row for each ``method``: the number of instances ``n``, the means of ``test_error``, ``overlap``,
        ``alignment``, ``gap``, ``n_features``, ``seconds`` (nan where unknown), ``exact`` (supports that are the true
        one), ``proved`` (fits that are optimal within their tolerance), ``difference`` (mean of TE(reference) - TE of
        the method, negative where the reference is better: Table 2, Abs), ``percent`` (the same in percent of
        TE(reference), over the instances where it is positive: Table 2, Prcnt), and ``better`` and ``worse``
        (instances on which the test error of the reference is lower, higher).

    Raises
    ------
    ParameterError : a method was not measured on the same instances as the reference.
    """
    errors = rows.pivot(index="instance", columns="method", values="test_error")
    if errors.isna().any(axis=None):
        name = errors.columns[errors.isna().any()][0]
        raise ParameterError(f"'{name}' and others were measured on other instances", "measure all on the same ones")
    base = errors[reference]
    less, missed = errors.rsub(base, axis=0), base > 0
    numbers = ["test_error", "overlap", "alignment", "gap", "n_features", "seconds"]
    rows = rows.astype(dict.fromkeys(numbers, float))
    groups = rows.assign(exact=rows["overlap"] == rows["p"], proved=rows["status"] == "optimal").groupby(
        "method", sort=False
    )
    means = groups[numbers].mean()
    return means.assign(
        n=groups.size(),
        exact=groups["exact"].sum().where(means["overlap"].notna()),
        proved=groups["proved"].sum(),
        difference=less.mean(),
        percent=(100.0 * less[missed].div(base[missed], axis=0)).mean(),
        better=(less < 0).sum(),
        worse=(less > 0).sum(),
    ).reset_index()


def candidates(method: str, m: int, *, p: int = 0, scale: str = "none") -> list[dict[str, Any]]:
    """Return the parameters that a method is tuned over, the smallest C (FSV: lambda) first; m is for COUNTED ones.

    With p > :data:`MANY` features the largest C is the only one.
    """
    if method == "fsv":
        return [{"lam": lam, "scale": scale} for lam in LAMBDA_VALUES]
    if "c" not in METHODS[method].parameters:
        raise ParameterError(f"'{method}' has no penalty weight C to tune", f"one of {', '.join(COMPARED)}")
    grid, rest = CUTS[p > MANY], {"scale": scale, **({"m": m} if method in COUNTED else {})}
    if method == "gbd":
        rest |= {"preset": "printed", "tolerance": TOLERANCE}
        return [{"c": c, "max_cuts": most, **rest} for c, most in grid.items()]
    if method == "best-subset":
        rest |= {"max_nodes": NODES, "tolerance": TOLERANCE}
    if method == "gbd-lambda":
        rest |= {"preset": "closed-form", "start": "zero", "max_cuts": max(CUTS[0].values()), "tolerance": TOLERANCE}
        return [{"c": c, "lam": lam, **rest} for c in grid for lam in PENALTIES]
    return [{"c": c, **rest} for c in grid]


def overlap(support: Sequence[int], truth: Sequence[int], p: int) -> int:
    """Return p minus the Hamming distance of two supports (Table 3)."""
    return p - len(set(support) ^ {int(j) for j in truth})


def alignment(coef: Vector, w: Vector) -> float:
    """Return the inner product of two weight vectors (p,) after normalisation; 0 where one of them is 0."""
    size = float(np.linalg.norm(coef) * np.linalg.norm(w))
    return float(coef @ w) / size if size > 0 else 0.0


def measure(method: str, instance: SyntheticInstance, *, jobs: int = 1) -> dict[str, Any]:
    """Tune a method on a drawn instance, given the true number of features, and measure it.

    Parameters
    ----------
    method : registry name.
    instance : of :func:`fsopt.data.gbd_set_one` or ``gbd_set_two``.
    jobs : processes over the candidates; -1 takes all processors. Solvers run on one thread.

    Returns
    -------
    dict
        ``instance``, ``method``, ``params`` (of smallest validation error), ``p``, ``m`` (features that were asked
        for), ``n_features``, ``status`` and relative ``gap`` (None without a bound) of the fit, ``validation_error``
        and ``test_error`` as shares, ``overlap`` and ``alignment`` with the true hyperplane, in raw units,
        ``seconds`` of the fit, and ``tuning_seconds`` of those of all candidates.

    Raises
    ------
    ParameterError, UnknownNameError : before any fit.
    """
    train, validation, test, truth, w = instance
    tuned = tune(method, train, candidates(method, len(truth), p=train.p), validation=validation, jobs=jobs)
    found = {"overlap": overlap(tuned.fit.support, truth.tolist(), train.p), "alignment": alignment(tuned.fit.coef, w)}
    return {**_measured(train, tuned, len(truth), test), **found}


def real_data(data: Dataset, *, seed: int = 0, jobs: int = 1) -> list[dict[str, Any]]:
    """Return the measures of all methods on a data set by the protocol of Tables 4 and 5, parts of 60, 20, 20 percent.

    The one-norm support vector machine is tuned first; the number of its features is given to the other methods.
    GBD-lambda has the closed form of the paper for sigma; its lambda is that of "trial and error" in the paper, which
    does not state the scale of the features either.
    """
    train, validation, test = (data.rows(part) for part in random_parts(data, (0.6, 0.2, 0.2), seed))

    def tuned(method: str, m: int) -> Tuned:
        return tune(method, train, candidates(method, m, p=data.p, scale="standard"), validation=validation, jobs=jobs)

    first = tuned("onsvm", 1)
    m = max(1, len(first.fit.support))
    rest = [tuned(name, m) for name in (*COMPARED, "gbd-lambda") if name != "onsvm"]
    return [_measured(data, one, m, test) for one in (first, *rest)]


def _measured(data: Dataset, tuned: Tuned, m: int, test: Dataset) -> dict[str, Any]:
    """Return the measures of a tuned method without those of a true hyperplane."""
    found = measures(tuned, data, test)
    return {
        "instance": data.name,
        "method": tuned.fit.method,
        "params": dict(tuned.fit.params),
        "p": data.p,
        "m": m,
        **{name: found[name] for name in ("n_features", "status", "gap")},
        "validation_error": tuned.error,
        "test_error": found["error"] / 100.0,
        "overlap": None,
        "alignment": None,
        "seconds": tuned.fit.seconds["total"],
        "tuning_seconds": tuned.seconds,
    }


def _runs(
    experiment: str,
    draw: Callable[..., SyntheticInstance],
    places: Iterable[Mapping[str, int]],
    methods: Sequence[str],
    settings: RunSettings,
) -> pd.DataFrame:
    """Return the measures of methods on drawn instances, those with all methods, with the arguments of each draw."""

    def compute(method: str, place: Mapping[str, int]) -> dict[str, Any]:
        return measure(method, draw(**place), jobs=settings.jobs)

    rows = []
    for place, method in product(places, methods):
        with suppress(OutOfTimeError):
            found = settings.part(experiment, partial(compute, method, place), method=method, **place, **PLACES)
            rows.append({**found, **place})
    numbers = Counter(row["instance"] for row in rows)
    whole = [row for row in rows if numbers[row["instance"]] == len(methods)]
    if not whole:
        raise OutOfTimeError(f"{LATE} before an instance had all methods", "give more seconds")
    return pd.DataFrame(whole)


def _data_set_one(settings: RunSettings) -> pd.DataFrame:
    """Return the measures of all methods on data set one, with the ``size`` "n x l"."""
    sizes = ((20, 500),) if settings.quick else tuple(product((20, 50, 100), (500, 1000, 5000)))
    places = [{"p": p, "n": n, "k": k} for k, (p, n) in product(range(0, 10, 2), sizes)]  # each fifth of M once
    rows = _runs("gbd-table2", gbd_set_one, places[:: 4 if settings.quick else 2], COMPARED, settings)
    return rows.assign(size=[f"{p} x {n}" for p, n in zip(rows["p"], rows["n"], strict=True)])


def gbd_table2(settings: RunSettings) -> Reproduction:
    """Return the means of Tables 2 and 3: test errors, overlap, alignment, better and worse."""
    table, rows = printed("gbd-table2"), _data_set_one(settings)
    cells = [one for mean in averages(rows).itertuples() for one in _printed_means(table, mean, rows)]
    known = {(one.row, one.column) for one in cells}
    for size, found in [("", rows), *rows.groupby("size", sort=False)]:
        for mean in averages(found)[["method", *SHOWN]].rename(columns=SHOWN).to_dict("records"):
            method = mean.pop("method")
            ours = unprinted(f"{method} {size}".strip(), mean, LOOP[0] if method == "gbd" else "")
            cells += [one for one in ours if (one.row, one.column) not in known]
    cells.append(_converged(table["converged"], rows))
    instances = rows.groupby("size", sort=False)["instance"].nunique()
    run = ", ".join(f"{size} ({number})" for size, number in instances.items())
    means = averages(rows).set_index("method")
    told = {"loop": means.loc["gbd"], "search": means.loc["best-subset"], "rfe": means.loc["rfe"]}
    told["against"] = averages(rows, "best-subset").set_index("method").loc["rfe"]
    return Reproduction(cells, noted("gbd-table2", place=table["place"], run=run, limits=LIMITS[0], **told))


def _converged(print_: str, rows: pd.DataFrame) -> TableCell:
    """Return the cell of the share of problems with 20 features whose loop ended with a proof."""
    proved = rows.loc[(rows["method"] == "gbd") & (rows["p"] == 20), "status"] == "optimal"
    noise = deviations(*((_coin(share), len(proved)) for share in (proved.mean(), float(print_))))
    return cell(("gbd, 20 features", "converged"), float(proved.mean()), print_, possible=(0.0, 1.0), noise=noise)


def _printed_means(table: Mapping[str, Any], mean: Any, rows: pd.DataFrame) -> Iterator[TableCell]:
    """Yield the cells of the printed means of a method over all instances."""
    total = int(table["instances"])
    for column, value in numbers_of(table, mean.method).items():
        place = (mean.method, column)
        if column == "alignment":
            spread = float(rows.loc[rows["method"] == mean.method, "alignment"].std())
            noise = deviations((spread, mean.n))
            rest: dict[str, Any] = {"possible": ALIGNED, "noise": noise, "spread": spread, "otherwise": OTHERS}
            yield cell(place, mean.alignment, value, **rest)
        else:
            yield _count(place, mean.better if column == "gbd better" else mean.worse, mean.n, value, total)


def _count(place: tuple[str, str], ours: float, n: int, print_: str, total: int) -> TableCell:
    """Return the cell of a number of n instances beside a printed one of a total, as a number of the latter."""
    noise = total * deviations((_coin(ours / n), n), (_coin(int(print_) / total), total))
    rest: dict[str, Any] = {"possible": (0.0, float(total)), "otherwise": OTHERS}
    return cell(place, total * ours / n, print_, noise=noise, **rest)


def _coin(share: float) -> float:
    """Return the standard deviation of an event of this probability."""
    return float(np.sqrt(share * (1.0 - share)))


def gbd_fig1(settings: RunSettings) -> Reproduction:
    """Return Figure 1: TE(gbd) - TE(method) by the share M / p of features, the exact search among the methods."""
    rows = _data_set_one(settings)
    errors = rows.pivot(index="instance", columns="method", values="test_error")
    share = rows.drop_duplicates("instance").set_index("instance")
    bins = np.ceil(BINS * share["m"] / share["p"]).astype(int)
    means = errors.rsub(errors["gbd"], axis=0).groupby(bins).mean().drop(columns="gbd")
    cells = list[TableCell]()
    for (k, method), mean in means.stack().items():
        cells += unprinted(f"{method} bin {k}", {"TE(gbd) - TE": mean}, LOOP[0])
    how = {"xlabel": "bin of M / p", "title": "TE(gbd) - TE(method)", "xticks": range(1, BINS + 1)}
    notes = noted("gbd-fig1", instances=len(errors), limits=LIMITS[0])
    return Reproduction(cells, notes, {"fig1": curves((means, how))})


def gbd_fig2(settings: RunSettings) -> Reproduction:
    """Return Figures 2 and 3: test error and seconds over M, on data set two."""
    p, n, instances = (40, 100, 1) if settings.quick else (800, 1000, 1)
    counts = (1, 10, 20) if settings.quick else (20, 100, 200, 400, 600)
    places = [{"p": p, "n": n, "m": m, "k": k} for k, m in product(range(instances), counts)]
    rows = _runs("gbd-fig2", gbd_set_two, places, DRAWN_TWO, settings)
    rival = rows[rows["method"] == "rfe"].set_index("instance")["test_error"]
    rows["TE - TE(rfe)"] = (rows["test_error"] - rows["instance"].map(rival)).where(rows["method"] != "rfe")
    columns = {"test_error": "test error", "tuning_seconds": "seconds", "gap": "gap", "TE - TE(rfe)": "TE - TE(rfe)"}
    groups = rows.set_index(["m", "method"])[list(columns)].astype(float).groupby(level=[0, 1], sort=False)
    means, spreads = groups.mean().rename(columns=columns), groups.std().rename(columns=columns)
    cells = list[TableCell]()
    for (m, method), row in means.iterrows():
        spread = spreads.loc[(m, method)].to_dict()
        cells += unprinted(f"{method} M={m}", row.to_dict(), LOOP[p > MANY] if method == "gbd" else "", spread)
    panels = [(means[title].unstack().rename(index=lambda m: m / p), title) for title in ("test error", "seconds")]
    figure = curves(*((table, {"title": title, "xlabel": "M / p"}) for table, title in panels))
    numbers = rows.drop_duplicates("instance")["m"].value_counts()
    run = ", ".join(f"{m} ({numbers.get(m, 0)})" for m in counts)
    return Reproduction(cells, noted("gbd-fig2", p=p, n=n, run=run, limits=LIMITS[p > MANY]), {"fig2-3": figure})


def _loaded(name: str) -> Dataset:
    """Return a data set of Table 4, without samples with a missing value; raises DataError where a file is missing."""
    parts = [load_dataset(file, missing="drop") for file in FILES.get(name, (name,))]
    if len(parts) == 1:
        return parts[0]
    if any(part.features != parts[0].features for part in parts):
        raise DataError(f"the files {', '.join(FILES[name])} differ in their columns", "give them one order")
    X, y = np.vstack([part.X for part in parts]), np.concatenate([part.y for part in parts])
    return Dataset(X, y, parts[0].features, name=name, labels=parts[0].labels)


def gbd_table4(settings: RunSettings) -> Reproduction:
    """Return the protocol of Tables 4 and 5 on data of ours."""
    table, cells = printed("gbd-table4"), Cells()
    kept = list[pd.DataFrame]()
    for name in REAL:
        with cells.row(name, {}):
            settings.leave_out(name != "bupa")
            data = _loaded(name)
            compute = partial(real_data, data, seed=settings.seed, jobs=settings.jobs)
            rows = pd.DataFrame(settings.part("gbd-table4", compute, data=fingerprint(data), **PLACES))
            kept.append(rows.assign(instance=name, overlap=np.nan, alignment=np.nan))
            reference = float(rows.loc[rows["method"] == "gbd", "test_error"].iloc[0])
            for row in rows.itertuples():
                values = {"features": row.n_features, "test error": row.test_error, "seconds": row.seconds}
                values["TE(gbd) - TE"] = reference - row.test_error
                bounded = not np.isnan(row.gap) and row.status != "optimal"
                why = [LOOP[data.p > MANY]] * (row.method == "gbd")
                why += [f"not proved, relative gap {row.gap:.2g}"] * bounded
                cells += unprinted(f"{name} {row.method}", values, "; ".join(why))
    total = int(table["instances"])
    for mean in averages(pd.concat(kept)).itertuples() if kept else ():
        for column, value in numbers_of(table, mean.method).items():
            ours = mean.better if column == "gbd better" else mean.worse
            cells.append(_count((mean.method, column), ours, mean.n, value, total))
    return Reproduction(cells, noted("gbd-table4", place=table["place"], limits=LIMITS[0], large=LOOP[1]))


REAL_FILES = (*REAL[:-3], *FILES["leukemia"])
SPECS = (
    Experiment("gbd-table2", "gbd", "test errors, overlap, alignment; also Table 3", gbd_table2, 6.0),
    Experiment("gbd-fig1", "gbd", "differences of test errors by M / p", gbd_fig1, 6.0),
    Experiment("gbd-fig2", "gbd", "test error and seconds over M; also Figure 3", gbd_fig2, 6.0),
    Experiment("gbd-table4", "gbd", "own data by the protocol of Tables 4 and 5", gbd_table4, 1.0, REAL_FILES),
)
