"""What of a selection chance explains: permuted labels, complementary halves; and what the user is asked."""

from __future__ import annotations

import numpy as np
from scipy.special import chdtrc

from fsopt.analysis.few_features import area_of_all, columns_of_variables, path_of
from fsopt.data import Dataset
from fsopt.data.dataset import permuted, random_parts
from fsopt.data.hyperplanes import area
from fsopt.methods.preprocessing import preprocess
from fsopt.typing import Indices, Matrix, Vector

PERMUTATIONS, SIZES = 99, 6
"""Permutations of the labels, and numbers of features up to which each is explained."""
NEARLY_FREE = 50.0
"""Penalty weight of a classifier that is tested: its ridge hardly matters."""
SHARES = np.arange(0.05, 1.0001, 0.05)
"""Quantiles of p-values that are aggregated."""
MOST = 2
"""Features that together tell too much."""
APART, NEAREST = 3.0, 0.002
"""Factor of their 1 - AUC to that of all others, and smallest one that counts."""
NEIGHBOURS = (10, 30)
"""Places of the neighbours beside the nearest sample."""
SAME, NEARER = 0.95, 0.3
"""Copies: share of nearest samples with the same label, and logarithm of how much nearer they are."""
TINY = 1e-12
"""Share of the mean square below which a squared distance is rounding."""


def noise_p_value(data: Dataset, seed: int) -> float:
    r"""Return the p-value of the question whether the features tell anything of the labels.

    For the labels and for permutations of them, the share of the squares that greedy least squares explains with 1,
    ..., 6 features is ranked among all of these, and the smallest rank over the numbers of features, of equal ones that
    of the smaller mean, is ranked again; ties count against the labels. Under exchangeable labels, or groups of
    samples, :math:`P(p \le u) \le u` for every u.
    Westfall and Young, Resampling-based multiple testing (1993).
    """
    rng = np.random.default_rng(seed)
    labels = np.column_stack([data.y, *(permuted(data, rng) for _ in range(PERMUTATIONS))])
    work, _ = preprocess(data, "standard")
    labels -= labels.mean(axis=0)
    shares = _explained(np.asarray(work.X), labels) / np.maximum((labels**2).sum(axis=0), TINY)[:, None]
    # Nearly equal is equal.
    ranks = (shares[None] >= shares[:, None] - 1e-9).mean(axis=1)
    smallest = ranks.min(axis=1) + 1e-3 * ranks.mean(axis=1)
    return float((smallest <= smallest[0] + 1e-12).mean())


def _explained(Z: Matrix, labels: Matrix) -> Matrix:
    """Return the sums of squares (labels, sizes) that greedy least squares explains, for all labels at a time."""
    Z = Z - Z.mean(axis=0)
    left = np.tile((Z**2).sum(axis=0), (labels.shape[1], 1))
    small = 1e-9 * left.max(initial=0.0)
    bases: list[Matrix] = []
    rest, found = labels.T.copy(), []
    places = np.arange(labels.shape[1])
    for _ in range(min(SIZES, Z.shape[1], len(Z) - 2)):
        inner = rest @ Z
        entering = np.argmax(np.where(left > small, inner**2 / np.maximum(left, small + 1e-300), -1.0), axis=1)
        column = Z[:, entering].T
        for basis in bases:
            column = column - (basis * column).sum(axis=1, keepdims=True) * basis
        norms = np.linalg.norm(column, axis=1, keepdims=True)
        basis = np.divide(column, norms, out=np.zeros_like(column), where=norms > np.sqrt(small))
        bases.append(basis)
        rest = rest - (basis * rest).sum(axis=1, keepdims=True) * basis
        left = left - (basis @ Z) ** 2
        left[places, entering] = 0.0
        found.append((labels.T**2).sum(axis=1) - (rest**2).sum(axis=1))
    return np.array(found).T


def selected_and_tested(data: Dataset, m: int, c_path: float, seed: int) -> tuple[Matrix, Matrix]:
    """Return what each of two random complementary halves selects (2, v), and p-values on the other one (2, v).

    The p-value of a selected variable is that of its likelihood ratio in the classifier on the other half, times the
    number of selected variables; that of another variable is 1.
    """
    v = len(columns_of_variables(data))
    selected, p_values = np.zeros((2, v), dtype=bool), np.ones((2, v))
    for k, half in enumerate(random_parts(data, (0.5, 0.5), seed)):
        part, other = data.rows(half), data.rows(np.setdiff1d(np.arange(data.n), half))
        chosen = path_of(part)[0].path(c_path, m, m)[-1]
        selected[k, list(chosen)] = True
        if chosen:
            p_values[k, list(chosen)] = np.minimum(1.0, len(chosen) * _likelihood_ratios(other, chosen))
    return selected, p_values


def _likelihood_ratios(data: Dataset, chosen: tuple[int, ...]) -> Vector:
    """Return the p-value of each of the chosen variables: twice the rise of the loss without it, by its chi-square."""
    problem, _ = path_of(data)
    if data.group is not None:  # its samples weigh as one: the variance of a mean is that of one at most
        problem.g = problem.g / np.bincount(data.group)[data.group]
    varying = problem.Z.std(axis=0) > 0.0
    kept = [problem.groups[v][varying[problem.groups[v]]] for v in chosen]
    cs = np.array([NEARLY_FREE])
    whole = problem.fit(np.concatenate(kept), cs)[1][0]
    found = np.ones(len(chosen))
    for k, group in enumerate(kept):
        if len(group):
            rest = np.concatenate([np.empty(0, dtype=int), *kept[:k], *kept[k + 1 :]])
            rise = max(float(problem.fit(rest, cs)[1][0] - whole) / NEARLY_FREE, 0.0)
            found[k] = chdtrc(len(group), 2.0 * rise)
    return found


def aggregated(p_values: Matrix) -> Vector:
    r"""Return the p-values (v,) of variables from those of many splits (s, v), dependent ones.

    .. math:: p_j = \min\Big(1,\ (1 - \ln 0.05) \inf_{0.05 \le u \le 1} q_u(p_{1j} / u, \dots, p_{sj} / u)\Big)

    with the quantile :math:`q_u`: Meinshausen, Meier, Buehlmann, p-values for high-dimensional regression, JASA (2009).
    """
    ordered = np.sort(p_values, axis=0)
    at = np.maximum(np.ceil(SHARES * len(ordered) - 1e-9).astype(int) - 1, 0)
    smallest = (ordered[at] / SHARES[:, None]).min(axis=0)
    return np.asarray(np.minimum(1.0, (1.0 - np.log(SHARES[0])) * smallest))


def questions_of(data: Dataset, split: list[Indices]) -> tuple[str, ...]:
    """Return what the user is asked: of features that tell too much, and of samples that are copies of others."""
    found = []
    if leak := leak_of(data, split):
        names, alone, rest = leak
        said, verb = " and ".join(f"'{name}'" for name in names), "Is" if len(names) == 1 else "Are"
        found.append(f"{verb} {said} known before the label? Alone AUC {alone:.3f}, all others together {rest:.3f}.")
    if data.group is None and copied(data):
        found.append(
            "Are there several samples of one person, animal or batch? Nearly all have a near copy of the same label. "
            "Then group= names whose they are; without it p-values and intervals are too good."
        )
    return tuple(found)


def leak_of(data: Dataset, split: list[Indices]) -> tuple[tuple[str, ...], float, float] | None:
    """Return one or two features that tell more than all others, the AUC of the weakest, and that of the others."""
    single = np.array([area(data.y, column) for column in data.X.T])
    single = np.maximum(single, 1.0 - single)
    order = np.argsort(-single, kind="stable").tolist()
    owner = np.array([v for v, group in enumerate(columns_of_variables(data)) for _ in group])
    for count in range(1, MOST + 1):
        out = np.flatnonzero(np.isin(owner, owner[order[:count]]))
        if len(out) < data.p:
            most = 1.0 - APART * max(1.0 - single[order[count - 1]], NEAREST)
            # What one of the others reaches, all of them do.
            rest = np.delete(single, out).max()
            if rest <= most and (rest := area_of_all(data, split, out)) <= most:
                return tuple(data.features[j] for j in order[:count]), float(single[order[count - 1]]), rest
    return None


def copied(data: Dataset) -> bool:
    r"""Return whether the nearest sample has the same label, and is much nearer than a local dimension tells.

    Independent samples of dimension d have :math:`\ln(r_{2k} / r_k) \approx \ln 2 / d` for the distance r to the k-th
    neighbour, and thus :math:`\ln(r_k / r_1) \approx \log_2 k\,\ln(r_{2k} / r_k)`, as medians.
    """
    Z = np.asarray(preprocess(data, "standard")[0].X)
    squares = (Z * Z).sum(axis=1)
    distances = np.maximum(squares[:, None] + squares - 2.0 * Z @ Z.T, TINY * squares.mean())
    np.fill_diagonal(distances, np.inf)
    nearest = distances.argmin(axis=1)
    if (data.y[nearest] == data.y).mean() < SAME:
        return False
    distances.sort(axis=1)
    tried = (k for k in NEIGHBOURS if 2 * k < data.n)
    logs = ((k, 0.5 * np.log(distances[:, [0, k - 1, 2 * k - 1]])) for k in tried)
    return any(np.median(r[:, 1] - r[:, 0] - np.log2(k) * (r[:, 2] - r[:, 1])) > NEARER for k, r in logs)
