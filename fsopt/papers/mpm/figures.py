"""Yang & Ju: methods over grids; Table 2 with Figures 2 to 4, Figures 1, 6 and 7, and section 4.2 with 8 and 9."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from fsopt.answers.trained import fingerprint
from fsopt.data import Dataset, mpm_synthetic
from fsopt.data.dataset import stratified_folds, train_and_test
from fsopt.methods.preprocessing import SelectionRule
from fsopt.papers.mpm.experiments import (
    CHOSEN,
    PRINTED_DELTA,
    accuracy_limit,
    compare_methods,
    folds_of,
    load_set,
    notes_of,
)
from fsopt.papers.reproduction import (
    Cells,
    Experiment,
    Pair,
    Reproduction,
    RunSettings,
    curves,
    noted,
    numbers_of,
    printed,
)
from fsopt.papers.verdicts import DIFFERS, ERRATUM, LEFT_OUT, ODD, TableCell, cell, deviations, ends, unprinted
from fsopt.studies.tuning import fit_candidate
from fsopt.typing import Vector

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PSF, TSA = "selected features, %", "accuracy, %"
KERNEL_SETS = ("ionosphere", "sonar", "wdbc", "madelon.train")
KERNEL_METHODS = ("mpm", "l1-mpm", "l0-mpm")
"""Sets and methods of Figures 6 and 7."""
ONE_LIST = (ODD, "one list is printed for both methods, the text contradicts it, and says not whose it is")
COUNTED = (0.01, 0.001, 0.03)
"""Shares of the largest weight above which the weights of MPM are counted, the rule of Peleg & Meir first."""
INFEASIBLE = (ERRATUM, "delta = 0.9 is above the largest feasible worst-case accuracy")
MEANING = (DIFFERS, "neither meaning of delta, as a share of the largest feasible one, agrees")


def synthetic_pairs(repetitions: int, seed: int) -> list[Pair]:
    """Return draws of the synthetic data of section 4.2, 50 samples each, and 1000 of the same law to test on."""
    drawn = (mpm_synthetic(1050, seed + k) for k in range(repetitions))
    return [(both.rows(np.arange(50)), both.rows(np.arange(50, 1050))) for both in drawn]


def plot_surface(surface: pd.DataFrame) -> Figure:
    """Return Figures 2 to 4 of :func:`compare_methods` with columns ``alpha`` and ``asked``, the share of alpha*."""
    means = {name: surface.pivot_table(name, "alpha", "asked").rename(index="{:g}".format) for name in ("PSF", "TSA")}
    over_alpha = {name: means[name].rename(columns=r"$\delta$ = {:g}".format) for name in means}
    return curves(
        (over_alpha["PSF"], {"title": PSF, "xlabel": r"$\alpha$"}),
        (over_alpha["TSA"], {"title": TSA, "xlabel": r"$\alpha$"}),
        (means["TSA"].T.rename(columns=r"$\alpha$ = {}".format), {"title": TSA, "xlabel": r"$\delta$"}),
    )


def l0mpm_table2(settings: RunSettings) -> Reproduction:
    """Return Table 2 and Figures 2 to 4, delta being a share of the largest feasible one in two ways."""
    table, cells = printed("l0mpm-table2"), Cells()
    alphas = ("0.5", "5") if settings.quick else tuple(table["rows"])
    surface = pd.DataFrame()
    for alpha in table["rows"]:
        numbers = numbers_of(table, alpha)
        with cells.row(alpha, numbers):
            settings.leave_out(alpha not in alphas)
            surface = surface if len(surface) else _spam_surface(table["columns"], alphas, settings)
            rows = surface[surface["alpha"] == float(alpha)]
            cells += [_spam_cell((alpha, column), value, rows) for column, value in numbers.items()]
    figures = {"fig2-3-4": plot_surface(surface)} if len(surface) else {}
    return Reproduction(cells, notes_of("l0mpm-table2", settings), figures)


def _share(column: str, of: float) -> float:
    """Return the share of the largest feasible delta for a printed one, the printed .9 being a share."""
    return round(float(column) / PRINTED_DELTA * of, 12)


def _spam_surface(columns: Sequence[str], alphas: Sequence[str], settings: RunSettings) -> pd.DataFrame:
    """Return the surface of L0-MPM on 200 samples of Spam, delta being a share in both ways, and the largest alpha*."""
    data, folds = load_set("spambase", settings.seed), folds_of(settings)
    deltas = {_share(column, of) for column in columns for of in (PRINTED_DELTA, CHOSEN["share"])}
    how: dict[str, Any] = {"scale": "none", "ridge": CHOSEN["ridge"], "tolerance": CHOSEN["epsilon"]}

    def compute() -> Any:
        pairs = [train_and_test(data, fold) for fold in stratified_folds(data, folds, settings.seed)]
        found = []
        for delta, alpha in product(sorted(deltas), map(float, alphas)):
            own = {"l0-mpm": {**how, "alpha": alpha}}
            one = compare_methods(pairs, own, delta=delta, jobs=settings.jobs)
            found.append(one.assign(asked=delta, alpha=alpha))
        limit = max(accuracy_limit(train, how) for train, _ in pairs)
        return pd.concat(found).assign(limit=limit).to_dict("list")

    place = {"data": fingerprint(data), "folds": folds, "alphas": alphas, **CHOSEN}
    return pd.DataFrame(settings.part("l0mpm-table2", compute, **place))


def _spam_cell(place: tuple[str, str], print_: str, rows: pd.DataFrame) -> TableCell:
    """Return the cell of the mean number of features at a printed delta."""
    found = {}
    for share in (CHOSEN["share"], PRINTED_DELTA):
        counts = rows.loc[np.isclose(rows["asked"], _share(place[1], share)), "n_features"]
        found[share] = float(counts.mean()), deviations((float(counts.std()), len(counts))), float(counts.std())
    mean, noise, spread = found[CHOSEN["share"]]
    rest: dict[str, Any] = {"possible": (0.0, 57.0), "spread": spread}
    rest["otherwise"] = INFEASIBLE if float(place[1]) > rows["limit"].max() else MEANING
    tried = {"delta as its own share of the largest": found[PRINTED_DELTA][:2]}
    return cell(place, mean, print_, noise=noise, tried=tried, **rest)


def l0mpm_fig1(settings: RunSettings) -> Reproduction:
    """Return Figure 1: the zero-norm, (30) and the one-norm of one weight."""
    z = np.linspace(-2.0, 2.0, 801)
    columns = {"zero-norm": z != 0, r"$1 - e^{-\alpha|z|}$, $\alpha$ = 5": 1.0 - np.exp(-5.0 * np.abs(z))}
    table = pd.DataFrame({**columns, "one-norm": np.abs(z)}, index=z, dtype=float)
    figure = curves((table, {"xlabel": "z", "ylim": (0, 1.5)}), marker="")
    return Reproduction((), noted("l0mpm-fig1"), {"fig1": figure})


def l0mpm_fig6(settings: RunSettings) -> Reproduction:
    """Return Figures 6 and 7: accuracy and selected patterns over the width of the Gaussian kernel."""
    widths = (0.5, 8.0) if settings.quick else tuple(2.0**i for i in range(-3, 4))
    folds, cells = folds_of(settings), Cells()
    found: dict[str, list[dict[str, Any]]] = {}
    for name, method, width in product(KERNEL_SETS, KERNEL_METHODS, widths):
        row = f"{name} {method} width {width:g}"
        with cells.row(row, {"TSA": None, "PSF": None}):
            settings.leave_out(name != "sonar")
            data = load_set(name, settings.seed)
            params: dict[str, Any] = {"kernel": "gaussian", "width": width, "scale": "unit-rows"}
            params |= {"tolerance": CHOSEN["epsilon"]} if method == "l0-mpm" else {}
            how: dict[str, Any] = {"delta": PRINTED_DELTA, "folds": folds}
            means = partial(_kernel_means, data, method, params, seed=settings.seed, jobs=settings.jobs, **how)
            scores = settings.part("l0mpm-fig6", means, method=method, data=fingerprint(data), **params, **how)
            found.setdefault(name, []).append({"method": method, "width": width, **scores})
            cells += unprinted(row, scores)
    figures = {f"fig6-7-{name.partition('.')[0]}": _kernel_figure(pd.DataFrame(rows)) for name, rows in found.items()}
    return Reproduction(cells, noted("l0mpm-fig6", folds=folds, epsilon=CHOSEN["epsilon"]), figures)


def _kernel_means(data: Dataset, method: str, params: Mapping[str, Any], **how: Any) -> Any:
    """Return the mean accuracy and share of patterns of a method."""
    return compare_methods(data, {method: params}, **how)[["TSA", "PSF"]].mean().to_dict()


def _kernel_figure(rows: pd.DataFrame) -> Figure:
    """Return a figure of accuracies and shares of patterns over the widths."""
    tables = {name: rows.pivot(index="width", columns="method", values=name) for name in ("TSA", "PSF")}
    titles = {"TSA": TSA, "PSF": "selected patterns, %"}
    return curves(
        *((table.rename(index="{:g}".format), {"title": titles[k], "xlabel": "width"}) for k, table in tables.items())
    )


def l0mpm_fig8(settings: RunSettings) -> Reproduction:
    """Return Figures 8 and 9, and the lists and ranges of section 4.2: the synthetic data."""
    table, repetitions = printed("l0mpm-fig8"), 2 if settings.quick else 10
    pairs = synthetic_pairs(repetitions, settings.seed)
    alphas = (1.0, 10.0) if settings.quick else (0.1, 1.0, 5.0, 10.0, 50.0)
    curve = {alpha: _synthetic_scores(pairs, "l0-mpm", {"alpha": alpha, "delta": 0.9}, settings) for alpha in alphas}
    mpm = _synthetic_scores(pairs, "mpm", {}, settings)
    l1_mpm = _synthetic_scores(pairs, "l1-mpm", {"delta": 0.9}, settings)
    counts = settings.part("l0mpm-fig8 weights", partial(_large_weights, pairs), repetitions=repetitions)
    large = dict(zip(COUNTED, np.array(counts, dtype=float), strict=True))
    lists = {"mpm": list(large.values()), "l1-mpm": [l1_mpm["n_features"]], "l0-mpm": [curve[10.0]["n_features"]]}
    cells = list[TableCell]()
    for method, found in lists.items():
        cells += _list_cells(method, [np.asarray(one) for one in found], numbers_of(table, method), pairs[0][0])
    for name, values in {"TSA": curve[10.0]["TSA"], "suppressed": 100.0 - curve[10.0]["PSF"]}.items():
        cells += ends("l0-mpm", f"{name} ", (float(values.min()), float(values.max())), table[name])
    means = pd.DataFrame(
        {"l0-mpm": [float(one["TSA"].mean()) for one in curve.values()]}, index=[f"{a:g}" for a in alphas]
    )
    cells += unprinted("l0-mpm", {f"TSA, alpha {alpha}": mean for alpha, mean in means["l0-mpm"].items()})
    told = "; ".join(f"{share:g}: {values.min():g} to {values.max():g}" for share, values in large.items())
    figure = curves((means, {"xlabel": r"$\alpha$", "ylabel": TSA}))
    figures = {"fig8": figure, "fig9": plot_repetitions(pd.concat([mpm, l1_mpm, curve[10.0]]))}
    return Reproduction(cells, noted("l0mpm-fig8", place=table["place"], repetitions=repetitions, counts=told), figures)


def plot_repetitions(scores: pd.DataFrame) -> Figure:
    """Return Figure 9: accuracy and percentage of selected features of each method, pair by pair."""
    tables = [scores.pivot(index="pair", columns="method", values=name) for name in ("TSA", "PSF")]
    accuracy, selected = ({"title": title, "xlabel": "pair"} for title in (TSA, PSF))
    return curves((tables[0], accuracy), (tables[1], {**selected, "yscale": "log"}))


def _synthetic_scores(
    pairs: Sequence[Pair], method: str, params: Mapping[str, Any], settings: RunSettings
) -> pd.DataFrame:
    """Return the scores of a method on the synthetic data, a part of the figures."""

    def compute() -> Any:
        return compare_methods(pairs, {method: params}, jobs=settings.jobs).drop(columns="iterations").to_dict("list")

    return pd.DataFrame(settings.part("l0mpm-fig8", compute, method=method, **params, repetitions=len(pairs)))


def _large_weights(pairs: Sequence[Pair]) -> list[list[int]]:
    """Return, for each share of the largest weight, the numbers of weights of MPM that are at least that."""
    coefs = [(fit_candidate("mpm", train, {}).coef, train.X.std(axis=0)) for train, _ in pairs]
    return [[len(SelectionRule(epsilon=CHOSEN["epsilon"]).select(*coef)) for coef in coefs] for epsilon in COUNTED]


def _list_cells(
    method: str, lists: Sequence[Vector], numbers: Mapping[str, str], train: Dataset
) -> Iterator[TableCell]:
    """Yield the cells of the numbers of features of a method in each repetition, by one or more rules of counting."""
    theirs = np.array(list(numbers.values()), float)
    noises = [deviations((float(one.std(ddof=1)), 1), (float(theirs.std(ddof=1)), 1)) for one in lists]
    for k, (column, value) in enumerate(numbers.items()):
        if k >= len(lists[0]):
            yield TableCell(method, column, None, value, LEFT_OUT, "--quick")
        elif method != "mpm":
            yield TableCell(method, column, float(lists[0][k]), value, *ONE_LIST, possible=(0.0, float(train.n)))
        else:
            words = (f"weights of at least {share:g} of the largest" for share in COUNTED)
            tried = {told: (float(one[k]), noise) for told, one, noise in zip(words, lists, noises, strict=True)}
            ends = (0.0, float(train.p))
            yield cell((method, column), float(lists[0][k]), value, possible=ends, noise=noises[0], tried=tried)


SPECS = (
    Experiment("l0mpm-table2", "mpm", "features over alpha and delta; figures 2-4", l0mpm_table2, 0.4, ("spambase",)),
    Experiment("l0mpm-fig1", "mpm", "three measures of a weight", l0mpm_fig1, 0.1),
    Experiment("l0mpm-fig6", "mpm", "kernels over their width; figures 6, 7", l0mpm_fig6, 58.0, KERNEL_SETS),
    Experiment("l0mpm-fig8", "mpm", "synthetic data; figures 8, 9 and the lists", l0mpm_fig8, 2.3),
)
