"""The instances of ``opponents.py``, with the opponents that are asked and their CPU seconds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import exact
import numpy as np
from exact import SHARED, set_one

import fsopt
from fsopt.data import Dataset
from fsopt.methods.preprocessing import preprocess

EVERY = ("best-subset", "forward", "rfe", "swap", "abess", "fastsparsegams", "skglm", "el0ps", "sparsely", "scip")
FAST = ("best-subset", "abess", "fastsparsegams", "skglm")
"""Opponents of the instances with other seeds: packages that need a second."""
MANY = ("best-subset", "swap", "abess", "fastsparsegams", "skglm", "sparsely")
"""Opponents of the grid: neither el0ps nor SCIP has an answer on 400 x 1,000 in 20 CPU seconds."""
SMALL = (*EVERY, "gurobi")
"""Opponents of instances of 200 variables as ``fsp-m-bigm``, which the free licence of Gurobi takes."""
OWN = 0.02
"""Penalty weight of each feature in the problem of el0ps, as a share of the number of samples."""
STRENGTHS = {"ar": 0.01, "ar.1": 0.1}
"""Beginning of the names of the grid -> C."""


@dataclass(frozen=True)
class Instance(exact.Instance):
    """A problem, with the seconds and gaps of the search on it."""

    trace: list[tuple[float, float]] = field(default_factory=list)


@dataclass(frozen=True)
class Asked:
    """An instance, the opponents that are asked, and their CPU seconds."""

    draw: Callable[[], Instance]
    opponents: tuple[str, ...] = EVERY
    limit: float = 20.0


def drawn(n: int, p: int, k: int, seed: int, c: float = 1.0) -> Instance:
    """The usual generator: autoregressive features (0.3), k weights of +1 and -1, labels of their score with SNR 1e8.

    Source: Bertsimas, Pauphilet and Van Parys, "Sparse classification: a scalable discrete optimization perspective"
    (Machine Learning 110, 2021).
    """
    rng = np.random.default_rng(seed)
    support, w = np.sort(rng.choice(p, k, replace=False)), rng.choice([-1.0, 1.0], k)
    X = rng.standard_normal((n, p))
    for j in range(1, p):
        X[:, j] += 0.3 * X[:, j - 1]
    scores, noise = X[:, support] @ w, rng.standard_normal(n)
    scores += noise * np.linalg.norm(scores) / np.linalg.norm(noise) / 1e8
    X /= np.sqrt((X**2).mean(axis=0))
    return Instance(f"AR {n} x {p}, k = {k}, seed {seed}", Dataset(X, np.where(scores > 0, 1.0, -1.0)), k, c)


def real(name: str, k: int) -> Instance:
    path = SHARED / "data" / f"{name}.csv.gz"
    data = fsopt.load_dataset(str(path) if path.is_file() else name)
    return Instance(f"{name}, k = {k}", preprocess(data, "standard")[0], k, 1.0)


def small(one: exact.Instance, samples: int, features: int) -> Instance:
    """Return the samples in turn, to so many, and the features of largest correlation with their labels."""
    X, y = (part[:: one.data.n // samples][:samples] for part in (one.data.X, one.data.y))
    kept = np.sort(np.argsort(-np.abs(X.T @ y))[:features])
    data = preprocess(Dataset(X[:, kept], y), "standard")[0]
    return Instance(f"small {one.name}", data, one.m, one.c)


def leukemia(k: int) -> Instance:
    parts = [fsopt.load_dataset(SHARED / "data" / f"leukemia.{part}.csv.gz") for part in ("train", "test")]
    data = Dataset(np.vstack([one.X for one in parts]), np.concatenate([one.y for one in parts]))
    return Instance(f"leukemia, k = {k}", preprocess(data, "standard")[0], k, 1.0)


def named() -> Instance:
    """Return the first instance of data set one with 50 features."""
    one = next(set_one(None, "50"))
    return Instance(f"set one {one.name}, k = {one.m}", one.data, one.m, one.c)


def correlated(n: int, p: int, k: int) -> Instance:
    """Features of 20 common factors and as much noise, labels of a noisy product of factors: of the shape of musk."""
    rng = np.random.default_rng(0)
    factors = rng.standard_normal((n, 20))
    X = factors @ rng.standard_normal((20, p)) / np.sqrt(20) + 0.5 * rng.standard_normal((n, p))
    score = factors[:, :5].sum(axis=1) + factors[:, 5] * factors[:, 6] + rng.standard_normal(n)
    data = preprocess(Dataset(X, np.where(score > 0, 1.0, -1.0)), "standard")[0]
    return Instance(f"20 factors, k = {k}", data, k, 1.0)


def words(n: int, p: int, each: int, k: int) -> Instance:
    """Texts of words with frequencies of Zipf's law, rare words weighted up, unit norm; labels of a few words."""
    rng = np.random.default_rng(0)
    frequency = 1.0 / np.arange(1, p + 1) ** 0.9
    X = np.array([np.bincount(rng.choice(p, each, p=frequency / frequency.sum()), minlength=p) for _ in range(n)])
    X = X * np.log(n / np.maximum((X > 0).sum(axis=0), 1))
    X /= np.linalg.norm(X, axis=1)[:, None]
    w = np.zeros(p)
    w[rng.choice(500, 4 * k, replace=False)] = 10.0 * rng.standard_normal(4 * k)
    score = X @ w
    score += 0.5 * score.std() * rng.standard_normal(n)
    data = Dataset(X, np.where(score > np.median(score), 1.0, -1.0))
    return Instance(f"words, k = {k}", data, k, 1.0)


SAMPLES = {5: (100, 200, 400), 10: (200, 400, 800), 30: (500, 1000, 2000)}
"""Number of relevant features -> samples, from too few for a proof to enough."""
GRID = [(p, k, n) for k, sizes in SAMPLES.items() for p in (1000, 5000, 10_000) for n in sizes]

INSTANCES: dict[str, Asked] = {
    "k5-0": Asked(partial(drawn, 400, 1000, 5, 0)),
    "k10-0": Asked(partial(drawn, 400, 1000, 10, 0)),
    "set-one": Asked(named),
    "wdbc": Asked(partial(real, "wdbc", 5)),
    "ionosphere": Asked(partial(real, "ionosphere", 5)),
    "sonar": Asked(partial(real, "sonar", 5)),
    "colon": Asked(partial(real, "colon", 5)),
    "wide": Asked(partial(drawn, 100, 10_000, 5, 0)),
    "small-ar": Asked(lambda: small(drawn(100, 45, 5, 0), 100, 45), SMALL),
    "small-colon": Asked(lambda: small(real("colon", 5), 62, 60), SMALL),
    "small-sonar": Asked(lambda: small(real("sonar", 5), 104, 45), SMALL),
    "small-wdbc": Asked(lambda: small(real("wdbc", 5), 139, 30), SMALL),
    "leukemia": Asked(partial(leukemia, 5), MANY),
    "factors": Asked(partial(correlated, 476, 166, 10), MANY),
    "words": Asked(partial(words, 2000, 5000, 50, 10), MANY),
    **{
        f"{name}-{p}-{k}-{n}-{seed}": Asked(partial(drawn, n, p, k, seed, c), MANY if name == "ar" else FAST, 10.0)
        for name, c in STRENGTHS.items()
        for seed in (0, 1, 2)
        for p, k, n in GRID
    },
    "own-wdbc": Asked(partial(real, "wdbc", 0), ("own-best-subset", "own-el0ps")),
    "own-ionosphere": Asked(partial(real, "ionosphere", 0), ("own-best-subset", "own-el0ps")),
    "own-sonar": Asked(partial(real, "sonar", 0), ("own-best-subset", "own-el0ps")),
    "own-set-one": Asked(named, ("own-best-subset", "own-el0ps")),
    "own-ar": Asked(partial(drawn, 400, 200, 5, 0), ("own-best-subset", "own-el0ps")),
}
