"""The instances of the differential suite: data sets that solvers find hard, and parameters of every model.

Everything is drawn from seeded generators. Data sets of mixed-integer and nonconvex models are smaller, so that branch
and bound ends within the time limit of a call.
"""

import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from support import SHARED, blobs

import fsopt

CONVEX = frozenset({"LP", "QP", "SOCP", "SDP"})
FEW = 60
"""Samples that are kept of a realistic data set in the differential suite."""


def seed_of(text: str) -> int:
    """Return a seed that is the same in every process, unlike ``hash``."""
    return zlib.crc32(text.encode())


def gaussian(n: int, p: int, seed: int = 0, gap: float = 0.6) -> tuple[np.ndarray, np.ndarray]:
    """Return X (n, p) and y (n,) of two overlapping Gaussian classes that differ in the first two features."""
    data = blobs(n, p, seed, gap)
    return data.X, data.y


def _duplicated_samples(n: int, p: int) -> tuple[np.ndarray, np.ndarray]:
    """Return samples that occur twice, the first of them with both labels."""
    X, y = gaussian(n // 2, p, seed=1)
    X, y = np.vstack([X, X]), np.concatenate([y, y])
    y[0] = -y[0]
    return X, y


def _beside(seed: int, column: Callable[[np.ndarray], np.ndarray]) -> Callable[[int, int], tuple]:
    def draw(n: int, p: int) -> tuple[np.ndarray, np.ndarray]:
        X, y = gaussian(n, p, seed)
        return np.column_stack([X, column(X)]), y

    return draw


def _ties(n: int, p: int) -> tuple[np.ndarray, np.ndarray]:
    """Return integers 0, 1, 2, so that samples, scores and vertices coincide."""
    rng = np.random.default_rng(7)
    X = rng.integers(0, 3, size=(n, p)).astype(float)
    y = np.where(X[:, 0] + rng.integers(0, 3, size=n) > 2, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    return X, y


def _scaled(exponents: Callable[[int], np.ndarray]) -> Callable[[int, int], tuple]:
    def draw(n: int, p: int) -> tuple[np.ndarray, np.ndarray]:
        X, y = gaussian(n, p, seed=8)
        return X * 10.0 ** exponents(p), y

    return draw


SMALL: Mapping[str, Callable[[int, int], tuple[np.ndarray, np.ndarray]]] = {
    "gaussian": gaussian,
    "duplicated-samples": _duplicated_samples,
    "duplicated-features": _beside(2, lambda X: X[:, 0]),
    "constant-feature": _beside(3, lambda X: np.full(len(X), 0.1)),
    "wide": lambda n, p: gaussian(max(p, 4), max(p, 4) + 3, seed=4),
    "separable": lambda n, p: gaussian(n, p, seed=5, gap=3.0),
    "one-per-class": lambda n, p: gaussian(2, p, seed=6),
    "ties": _ties,
    "times-1e5": _scaled(lambda p: np.full(p, 5.0)),
    "times-1e-5": _scaled(lambda p: np.full(p, -5.0)),
    "mixed-units": _scaled(lambda p: np.linspace(-4.0, 4.0, p)),
}
REALISTIC = ("wdbc", "sonar")


def realistic(name: str) -> fsopt.Dataset | None:
    """Return a benchmark data set, standardised; None where its file is not on this machine."""
    path = SHARED / "data" / f"{name}.csv.gz"
    if name != "wdbc" and not path.is_file():
        return None
    data = fsopt.load_dataset(name if name == "wdbc" else str(path))
    return fsopt.Dataset((data.X - data.X.mean(axis=0)) / data.X.std(axis=0), data.y, name=name)


def data_set(name: str, *, hard: bool) -> fsopt.Dataset | None:
    """Return a data set by name; fewer samples and features for hard models."""
    if name in SMALL:
        n, p = (10, 2) if hard else (16, 3)
        return fsopt.Dataset(*SMALL[name](n, p), name=name)
    whole = realistic(name)
    if whole is None:
        return None
    samples = np.random.default_rng(seed_of(name)).permutation(whole.n)[:FEW]
    features = np.arange(min(whole.p, 8))
    return whole.rows(samples).columns(features)


def balanced(data: fsopt.Dataset, seed: int) -> list[float]:
    """Return multipliers alpha in [0, 1] with y'alpha = 0, those of a Benders cut."""
    alpha = np.random.default_rng(seed).uniform(size=data.n)
    plus, minus = alpha[data.y > 0].sum(), alpha[data.y < 0].sum()
    alpha[data.y > 0] *= min(plus, minus) / plus
    alpha[data.y < 0] *= min(plus, minus) / minus
    return alpha.tolist()


def hyperplane(data: fsopt.Dataset) -> list[float]:
    """Return weights that separate the class means with margin 2, whatever the units of the features."""
    difference = data.X[data.y > 0].mean(axis=0) - data.X[data.y < 0].mean(axis=0)
    spread = data.X.std(axis=0) + np.abs(difference) + 1e-300
    direction = difference / spread**2
    return (2 * direction / float(direction @ difference)).tolist()


def parameters(slug: str, data: fsopt.Dataset) -> list[dict[str, Any]]:
    """Return several sets of parameters of a model, fitting to the data: its defaults first."""
    trial = dict(fsopt.MODELS[slug].trial.params)
    per_data = {
        "fsp-master": [
            {"m": 1, "cuts": [balanced(data, 1), balanced(data, 2)]},
            {"lam": 0.2, "cuts": [balanced(data, 3)]},
        ],
        "fsp-sub": [{}, {"c": 10.0, "sigma": [1.0] + [0.0] * (data.p - 1)}],
        "fsp-sub-dual": [{}, {"c": 10.0, "sigma": [1.0] + [0.0] * (data.p - 1)}],
        "kernel-scaling": [{"w": hyperplane(data), "c": c} for c in (0.0, 0.1)],
        "kernel-scaling-step": [{"w": hyperplane(data), "c": 0.1}],
        "l1-hinge-part": [
            {},
            {"center": [0.1] * (data.p + 1), "radius": 0.25, "offset": [0.1] * (data.p + 1)},
            {"column_costs": [0.0] * data.p, "norms": [[0.5] * data.p, [0.25] + [0.75] * (data.p - 1)]},
        ],
        "rsvm-least-norm": [{}, {"e_cap": 0.9 * data.n}],
    }
    if slug in per_data:
        return per_data[slug]
    return [trial] + [p for p in FURTHER.get(slug, []) if p != trial]


def _of(slugs: str, *sets: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    return {slug: list(sets) for slug in slugs.split()}


FURTHER: Mapping[str, list[dict[str, Any]]] = {
    **_of("gmeb-primal gmeb-dual", {"r_plus": 0.25, "r_minus": 0.25}, {"r_plus": 1.2, "r_minus": 5.0}),
    **_of("gmeb-sdp gmeb-cuts gmeb-nonconvex", {"r_plus": 0.25, "r_minus": 0.25}),
    **_of("gmeb-penalised gmeb-weighted-l1", {"c_plus": 4.0, "c_minus": 4.0}),
    **_of("svm-norm svm-margin", {"c": 10.0}),
    **_of("bmpm", {"beta": 0.2}),
    **_of("s-mpm", {"lam": 1.0}, {"lam": 0.01, "beta": 0.2}),
    **_of("l1-mpm", {"delta": 0.1}),
    **_of("l0-mpm l0-mpm-step", {"delta": 0.1, "alpha": 1.0}),
    **_of("fsv", {"lam": 0.5}),
    **_of("fsv-step", {"lam": 0.5}, {"lam": 0.3, "alpha": 1.0}),
    **_of("fsv-exact", {"lam": 0.3}, {"lam": 0.01}),
    **_of("misclass misclass-step", {"alpha": 1.0}),
    **_of("misclass-pmm", {"delta": 2.0}),
    **_of("svm svm-dual", {"c": 10.0}, {"c": 0.01}),
    **_of("onsvm", {"c": 10.0}, {"c": 0.25}),
    **_of("fsp-m fsp-m-perspective fsp-m-bigm", {"m": 1}, {"m": 1, "c": 10.0}),
    **_of("fsp-lambda", {"lam": 0.1}, {"lam": 5.0, "c": 10.0}),
    **_of("rsvm rsvm-dual", {"w_cap": 0.5}, {"w_cap": 100.0}),
    **_of("mmop mmop-convex", {"h_cap": 5.0}),
}


@dataclass(frozen=True)
class Instance:
    slug: str
    data_name: str
    number: int

    @property
    def data(self) -> fsopt.Dataset | None:
        """The data set; None where its file is not on this machine."""
        return data_set(self.data_name, hard=fsopt.MODELS[self.slug].problem_class not in CONVEX)

    @property
    def params(self) -> dict[str, Any]:
        return parameters(self.slug, self.data)[self.number]

    def build(self) -> Any:
        return fsopt.build(self.slug, self.data, **self.params)

    def __str__(self) -> str:
        return f"{self.slug}-{self.data_name}-{self.number}"


def all_instances() -> Iterator[Instance]:
    """Yield every instance: each model, data set and set of parameters."""
    example = data_set("gaussian", hard=False)
    for slug, model in fsopt.MODELS.items():
        names = SMALL if model.problem_class not in CONVEX else (*SMALL, *REALISTIC)
        count = len(parameters(slug, example))
        yield from (Instance(slug, name, number) for name in names for number in range(count))


def sample(per_model: int) -> list[Instance]:
    """Return a seeded sample of the instances, equally many of each model."""
    chosen, every = [], list(all_instances())
    for slug in fsopt.MODELS:
        of_model = [i for i in every if i.slug == slug]
        rng = np.random.default_rng(seed_of(slug))
        chosen += [of_model[k] for k in sorted(rng.permutation(len(of_model))[:per_model])]
    return chosen
