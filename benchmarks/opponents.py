"""Head to head: the exact search and its opponents, each in a process of its own with the same CPU seconds.

``python benchmarks/opponents.py run`` appends one line of JSON for each answer to ``docs/results/opponents.jsonl``,
without those that are there; ``python benchmarks/opponents_page.py`` writes the page ``docs/results/opponents.md``.

An opponent returns a selection of at most k features, whatever loss it was found with; its value is that of the support
vector machine on it, w'w / 2 + C e'xi with an intercept, at the C of the instance. An opponent with a program of this
very problem also has a lower bound. All have one thread and ``LIMIT`` CPU seconds without the imports, the drawing of
the data and an answer on a small instance, at which some compile themselves; those that cannot be stopped have no
answer ``GRACE`` seconds later. Packages that are not installed are skipped by name:
``pip install abess fastsparsegams skglm el0ps mpi4py mpich`` into an environment beside the project's.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from exact import SHARED, TOLERANCE, Answer, Instance, abess, scored, set_one, single_model

import fsopt
from fsopt.algorithms.svm_batch import solve_batch
from fsopt.data import Dataset
from fsopt.data.losses import DualTerm
from fsopt.methods.preprocessing import preprocess

LIMIT, GRACE = 20.0, 10.0
STORE = Path("docs/results/opponents.jsonl")
STACK = 1 << 22
"""Numbers of a stack of support vector machines that a greedy opponent solves together."""


# -- instances --------------------------------------------------------------------------------------------


def drawn(n: int, p: int, k: int, seed: int) -> Instance:
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
    return Instance(f"AR {n} x {p}, k = {k}, seed {seed}", Dataset(X, np.where(scores > 0, 1.0, -1.0)), k, 1.0)


def real(name: str, k: int) -> Instance:
    path = SHARED / "data" / f"{name}.csv.gz"
    data = fsopt.load_dataset(str(path) if path.is_file() else name)
    return Instance(f"{name}, k = {k}", preprocess(data, "standard")[0], k, 1.0)


def named() -> Instance:
    """Return the first instance of data set one with 50 features."""
    one = next(set_one(None, "50"))
    return Instance(f"set one {one.name}, k = {one.m}", one.data, one.m, one.c)


INSTANCES: dict[str, Callable[[], Instance]] = {
    "k5-0": lambda: drawn(400, 1000, 5, 0),
    "k10-0": lambda: drawn(400, 1000, 10, 0),
    "set-one": named,
    "wdbc": lambda: real("wdbc", 5),
    "ionosphere": lambda: real("ionosphere", 5),
    "sonar": lambda: real("sonar", 5),
    "colon": lambda: real("colon", 5),
    "wide": lambda: drawn(100, 10_000, 5, 0),
}


# -- opponents --------------------------------------------------------------------------------------------


def best_subset(one: Instance, limit: float) -> Answer:
    given: dict[str, Any] = {"m": one.m, "c": one.c, "scale": "none", "tolerance": TOLERANCE}
    fit = fsopt.fit("best-subset", one.data, time_limit=limit, **given)
    return fit.objective, fit.bound, None, None


def rfe(one: Instance, limit: float) -> Answer:
    return scored(one, fsopt.fit("rfe", one.data, m=one.m, c=one.c, scale="none", time_limit=limit).support)


def values(one: Instance, selections: np.ndarray) -> np.ndarray:
    """Return the values of selections (k, s), solved in stacks."""
    rows = np.vstack([(one.data.X * one.data.y[:, None]).T, one.data.y])
    step = max(1, STACK // (one.data.n * (selections.shape[1] + 1)))
    found = []
    for part in (selections[i : i + step] for i in range(0, len(selections), step)):
        places = np.column_stack([part, np.full(len(part), one.data.p)])
        found.append(solve_batch(rows[places], DualTerm(one.c), 1e-4).bound)
    return np.concatenate(found)


def forward(one: Instance, limit: float) -> Answer:
    """Take in the feature whose support vector machine is best, one after another, to k features or the limit."""
    return scored(one, forward_selection(one, time.perf_counter() + limit))


def forward_selection(one: Instance, end: float) -> list[int]:
    chosen: list[int] = []
    while len(chosen) < one.m and time.perf_counter() < end:
        rest = np.setdiff1d(np.arange(one.data.p), chosen)
        trials = np.column_stack([np.tile(chosen, (len(rest), 1)).astype(int), rest])
        chosen.append(int(rest[np.argmin(values(one, trials))]))
    return chosen


def swap(one: Instance, limit: float) -> Answer:
    """From forward selection, exchange one feature for the best other one until none is better, or to the limit."""
    end = time.perf_counter() + limit
    chosen = forward_selection(one, end)
    best = float(values(one, np.array([chosen]))[0])
    place = failed = 0
    while failed < len(chosen) and time.perf_counter() < end:
        rest = np.setdiff1d(np.arange(one.data.p), chosen)
        trials = np.tile(chosen, (len(rest), 1))
        trials[:, place] = rest
        found = values(one, trials)
        k = int(np.argmin(found))
        failed += 1
        if found[k] < best * (1 - 1e-4):
            best, chosen, failed = float(found[k]), trials[k].tolist(), 0
        place = (place + 1) % len(chosen)
    return scored(one, chosen)


def of_path(one: Instance, supports: list[np.ndarray]) -> Answer:
    """Return the best value of the selections of at most k features on a path."""
    kept = {tuple(s.tolist()) for s in supports if 0 < len(s) <= one.m}
    found = [scored(one, s) for s in kept]
    return min(found, key=lambda answer: np.inf if answer[0] is None else answer[0], default=(None,) * 4)


def fastsparsegams(one: Instance, limit: float) -> Answer:
    """Logistic loss with a penalty on the number of features and on their squares (L0L2), local search by swaps."""
    import fastsparsegams as package

    X, y = np.array(one.data.X, order="F"), np.array(one.data.y)  # it takes no read-only arrays
    model = package.fit(X, y, loss="Logistic", penalty="L0L2", algorithm="CDPSI", max_support_size=one.m, num_gamma=3)
    coefficients = [model.coeff(gamma=gamma, include_intercept=False).toarray() for gamma in model.gamma]
    return of_path(one, [np.flatnonzero(column) for part in coefficients for column in part.T])


def skglm(one: Instance, limit: float) -> Answer:
    """Logistic loss with the minimax concave penalty, along a path of its weight to the first that keeps too many."""
    from skglm import GeneralizedLinearEstimator
    from skglm.datafits import Logistic
    from skglm.penalties import MCPenalty
    from skglm.solvers import AndersonCD

    X, y, end = np.array(one.data.X, order="F"), np.array(one.data.y), time.perf_counter() + limit
    largest, supports = np.abs(X.T @ (y - y.mean())).max() / (2 * one.data.n), []
    model = GeneralizedLinearEstimator(Logistic(), MCPenalty(largest, 3.0), AndersonCD(warm_start=True))
    for weight in largest * np.geomspace(1.0, 1e-2, 40):
        if time.perf_counter() > end:
            break
        model.penalty.alpha = weight
        supports.append(np.flatnonzero(model.fit(X, y).coef_))
        if len(supports[-1]) > one.m:
            break
    return of_path(one, supports)


def el0ps(one: Instance, limit: float) -> Answer:
    """Squared hinge loss without an intercept and a weight of the number of features: branch and bound along a path."""
    from el0ps.datafit import Squaredhinge
    from el0ps.penalty import L2norm
    from el0ps.solver import BnbSolver
    from el0ps.utils import compute_lmbd_max

    X, end = np.array(one.data.X, order="F"), time.perf_counter() + limit
    loss, penalty = Squaredhinge(np.array(one.data.y)), L2norm(0.5 / one.c)
    largest, supports, at = compute_lmbd_max(loss, penalty, X), [], None
    for weight in largest * np.geomspace(1e-2, 1e-6, 60):
        left = end - time.perf_counter()
        if left <= 0:
            break
        at = BnbSolver(relative_gap=TOLERANCE, time_limit=left).solve(loss, penalty, X, weight, at).x.copy()
        supports.append(np.flatnonzero(at))
        if len(supports[-1]) > one.m:
            break
    return of_path(one, supports)


OPPONENTS: dict[str, tuple[Callable[[Instance, float], Answer], str]] = {
    "best-subset": (best_subset, ""),
    "forward": (forward, ""),
    "rfe": (rfe, ""),
    "swap": (swap, ""),
    "abess": (abess, "abess"),
    "fastsparsegams": (fastsparsegams, "fastsparsegams"),
    "skglm": (skglm, "skglm"),
    "el0ps": (el0ps, "el0ps"),
    "scip": (single_model("fsp-m-perspective", "scip", {"timing/clocktype": 1}), "pyscipopt"),
}
"""Name -> function, and the package that it needs beside fsopt."""


# -- running ----------------------------------------------------------------------------------------------


def answer(instance: str, opponent: str) -> None:
    """Print the answer of one opponent as JSON, within the limit on the CPU seconds of this process."""
    one, function = INSTANCES[instance](), OPPONENTS[opponent][0]
    time.perf_counter = time.process_time
    function(drawn(60, 20, 2, 0), LIMIT)
    started = time.process_time()
    most = int(started + LIMIT + GRACE)
    resource.setrlimit(resource.RLIMIT_CPU, (most, most + 1))
    objective, bound, _, _ = function(one, LIMIT)
    seconds = time.process_time() - started
    row = {"instance": instance, "title": one.name, "n": one.data.n, "p": one.data.p, "k": one.m, "c": one.c}
    ends = {"objective": objective, "bound": bound}
    numbers = {name: None if v is None or not np.isfinite(v) else float(v) for name, v in ends.items()}
    memory = {"gb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 2)}
    print(json.dumps({**row, "opponent": opponent, **numbers, "cpu": round(seconds, 2), **memory}))


def run(only: list[str]) -> None:
    """Append the answers that are not in the store."""
    done = {(row["instance"], row["opponent"]) for row in stored()}
    threads = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
    missing = [name for name, (_, package) in OPPONENTS.items() if package and find_spec(package) is None]
    for name in missing:
        print(f"{name} is not installed: skipped")
    for instance in only or list(INSTANCES):
        for opponent in OPPONENTS:
            if (instance, opponent) in done or opponent in missing:
                continue
            command = [sys.executable, __file__, "answer", instance, opponent]
            found = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **threads}, check=False)
            if found.returncode > 0:
                print(f"{instance} {opponent}: {found.stderr.strip().splitlines()[-1]}")
                continue
            # A process that the system ended at its limit has no answer.
            line = {"instance": instance, "opponent": opponent, "objective": None, "bound": None, "cpu": None}
            line |= json.loads(found.stdout.splitlines()[-1]) if found.returncode == 0 else {}
            with STORE.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
            print(line, flush=True)


def stored() -> list[dict[str, Any]]:
    return [json.loads(line) for line in STORE.read_text(encoding="utf-8").splitlines()] if STORE.is_file() else []


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("run", "answer"))
    parser.add_argument("names", nargs="*", help="instances, by default all; an instance and an opponent")
    given = parser.parse_args()
    if given.command == "answer":
        answer(*given.names)
    else:
        run(given.names)


if __name__ == "__main__":
    main()
