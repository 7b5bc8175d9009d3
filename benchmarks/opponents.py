r"""Head to head: the exact search and its opponents, each in a process of its own with the same CPU seconds.

``python benchmarks/opponents.py run`` appends one line of JSON for each answer to ``docs/results/opponents.jsonl``,
without those that are there; ``python benchmarks/opponents_page.py`` writes the page ``docs/results/opponents.md``.

An opponent returns a selection of at most k features, whatever loss it was found with; its value is that of the support
vector machine on it, w'w / 2 + C e'xi with an intercept, at the C of the instance. An opponent with a program of this
very problem also has a lower bound. All have one thread and the CPU seconds of the instance without the imports, the
drawing of the data and an answer on a small instance, at which some compile themselves; those that cannot be stopped
have no answer ``GRACE`` seconds later. Packages that are not installed are skipped by name:
``pip install abess fastsparsegams skglm el0ps mpi4py mpich`` into an environment beside the project's, and ``sparsely``
into another one with scikit-learn before 1.6. Its instances are in ``opponents_instances.py``: each has the opponents
that are asked, and its CPU seconds. The last ones are those of ``el0ps`` on its own problem,

.. math:: \min_w\ C \sum_i \max(0, 1 - y_i w'x_i)^2 + \tfrac12 w'w + \lambda \|w\|_0,

which is ``best-subset-penalised`` of the samples and their mirror images (-x_i, -y_i) at half the C: by symmetry its
best intercept is 0.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from exact import TOLERANCE, Answer, abess, scored, single_model
from opponents_instances import INSTANCES, OWN, Instance, drawn

import fsopt
from fsopt.data import Dataset
from fsopt.linear.selections import WarmSvm

GRACE = 10.0
STORE = Path("docs/results/opponents.jsonl")
ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
SPARSE = 0.1
"""Share of nonzeros below which best-subset is given a sparse matrix; the others get a dense one."""


# -- opponents --------------------------------------------------------------------------------------------


def best_subset(one: Instance, limit: float) -> Answer:
    given: dict[str, Any] = {"m": one.m, "c": one.c, "scale": "none", "tolerance": TOLERANCE}
    X = np.asarray(one.data.X)
    data = Dataset(sp.csr_array(X), one.data.y) if np.count_nonzero(X) < SPARSE * X.size else one.data
    fit = fsopt.fit("best-subset", data, time_limit=limit, **given)
    one.trace.extend((round(h["elapsed"], 2), h["gap"]) for h in fit.history if np.isfinite(h["objective"]))
    return fit.objective, fit.bound, None, None


def rfe(one: Instance, limit: float) -> Answer:
    return scored(one, fsopt.fit("rfe", one.data, m=one.m, c=one.c, scale="none", time_limit=limit).support)


def values(one: Instance, selections: np.ndarray) -> np.ndarray:
    """Return the values of selections (k, s)."""
    machines, every = WarmSvm(one.data, one.c), np.arange(one.data.p)
    return np.array([machines.solve(np.isin(every, selection))[1] for selection in selections])


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


def sparsely(one: Instance, limit: float) -> Answer:
    """Logistic loss by cutting planes in CBC; the best selection of which it knew the value at the limit."""
    from sparsely import SparseLinearClassifier

    end, found = time.perf_counter() + limit, [(np.inf, np.zeros(0, dtype=int))]

    class Timed(SparseLinearClassifier):  # type: ignore[misc]
        def _make_callback(self, X: Any, y: Any) -> Any:
            value_of = super()._make_callback(X, y)

            def timed(selected: Any) -> Any:
                if time.perf_counter() > end:
                    raise TimeoutError
                value, gradient = value_of(selected)
                support = np.flatnonzero(np.round(selected))
                if value < found[0][0] and len(support) <= one.m:
                    found[0] = (value, support)
                return value, gradient

            return timed

    model = Timed(k=one.m, gamma=one.c, normalize=False, random_state=0)
    with suppress(TimeoutError):
        model.fit(np.array(one.data.X), (one.data.y > 0).astype(int))
        if hasattr(model, "_coef"):  # it has none where its cutting planes fail
            found[0] = (0.0, np.flatnonzero(model._coef))
    return of_path(one, [found[0][1]])


def own_value(one: Instance, w: np.ndarray) -> float:
    """Return the value of weights in the problem of el0ps, with its penalty weight in the place of m."""
    slacks = np.maximum(1.0 - one.data.y * (one.data.X @ w), 0.0)
    return float(one.c * slacks @ slacks + 0.5 * w @ w + OWN * one.data.n * np.count_nonzero(w))


def own_el0ps(one: Instance, limit: float) -> Answer:
    """Branch and bound, the bound by its own word where it says that it is optimal within the tolerance."""
    from el0ps.datafit import Squaredhinge
    from el0ps.penalty import L2norm
    from el0ps.solver import BnbSolver

    X = np.array(one.data.X, order="F")
    loss, penalty = Squaredhinge(np.array(one.data.y)), L2norm(0.5 / one.c)
    solver = BnbSolver(relative_gap=TOLERANCE, time_limit=limit)
    found = solver.solve(loss, penalty, X, OWN * one.data.n / one.c)
    value = own_value(one, found.x)
    return value, (value * (1 - TOLERANCE) if found.status.name == "OPTIMAL" else None), None, None


def own_best_subset(one: Instance, limit: float) -> Answer:
    X, y = np.asarray(one.data.X), one.data.y
    mirrored = Dataset(np.vstack([X, -X]), np.concatenate([y, -y]))
    given: dict[str, Any] = {"lam": OWN * one.data.n, "c": one.c / 2, "loss": "squared-hinge", "scale": "none"}
    fit = fsopt.fit("best-subset-penalised", mirrored, tolerance=TOLERANCE, time_limit=limit, **given)
    return own_value(one, fit.coef), fit.bound, None, None


OPPONENTS: dict[str, tuple[Callable[[Instance, float], Answer], str]] = {
    "best-subset": (best_subset, ""),
    "forward": (forward, ""),
    "rfe": (rfe, ""),
    "swap": (swap, ""),
    "abess": (abess, "abess"),
    "fastsparsegams": (fastsparsegams, "fastsparsegams"),
    "skglm": (skglm, "skglm"),
    "el0ps": (el0ps, "el0ps"),
    "sparsely": (sparsely, "sparsely"),
    "scip": (single_model("fsp-m-perspective", "scip", {"timing/clocktype": 1}), "pyscipopt"),
    "gurobi": (single_model("fsp-m-bigm", "gurobi"), "gurobipy"),
    "own-best-subset": (own_best_subset, ""),
    "own-el0ps": (own_el0ps, "el0ps"),
}
"""Name -> function, and the package that it needs beside fsopt."""


# -- running ----------------------------------------------------------------------------------------------


def answer(instance: str, opponent: str, one: Instance, end: Connection) -> None:
    """Send the answer of one opponent, within the limit on the CPU seconds of this process."""
    limit, function = INSTANCES[instance].limit, OPPONENTS[opponent][0]
    time.perf_counter = time.time = time.process_time
    if "mpi4py" in sys.modules:  # the clock of el0ps
        sys.modules["mpi4py"].MPI.Wtime = time.process_time
    started = time.process_time()
    most = int(started + limit + GRACE)
    resource.setrlimit(resource.RLIMIT_CPU, (most, most + 1))
    objective, bound, _, _ = function(one, limit)
    seconds = time.process_time() - started
    ends = {"objective": objective, "bound": bound}
    numbers = {name: None if v is None or not np.isfinite(v) else float(v) for name, v in ends.items()}
    memory = {"gb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 2)}
    # The clock of the records began before that of this process: the last one is at the end.
    trace = {"trace": [(round(t - one.trace[-1][0] + seconds, 2), gap) for t, gap in one.trace]} if one.trace else {}
    end.send({**numbers, "cpu": round(seconds, 2), **memory, **trace})


def run(only: list[str], opponents: list[str]) -> None:
    """Append the answers that are not in the store; a name of an instance may be the beginning of one.

    An opponent answers in a process that is forked from this one after the imports and a small instance.
    """
    done = {(row["instance"], row["opponent"]) for row in stored()}
    missing = {name for name, (_, package) in OPPONENTS.items() if package and find_spec(package) is None}
    asked = set(opponents or OPPONENTS) - missing
    small, warm, context = drawn(60, 20, 2, 0), set(), get_context("fork")
    for instance, about in INSTANCES.items():
        wanted = [name for name in about.opponents if name in asked and (instance, name) not in done]
        if not wanted or (only and not instance.startswith(tuple(only))):
            continue
        one = about.draw()
        row = {"title": one.name, "n": one.data.n, "p": one.data.p, "k": one.m, "c": one.c, "limit": about.limit}
        for opponent in wanted:
            if opponent not in warm:
                OPPONENTS[opponent][0](small, about.limit)
                warm.add(opponent)
            ours, theirs = context.Pipe(duplex=False)
            process = context.Process(target=answer, args=(instance, opponent, one, theirs))
            process.start()
            process.join()
            # A process that the system ended at its limit has no answer; one that failed has said why.
            found = ours.recv() if ours.poll() else {"objective": None, "bound": None, "cpu": None}
            if process.exitcode == 1:
                continue
            line = {"instance": instance, "opponent": opponent, **found, **row}
            with STORE.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
            print(line, flush=True)


def stored() -> list[dict[str, Any]]:
    return [json.loads(line) for line in STORE.read_text(encoding="utf-8").splitlines()] if STORE.is_file() else []


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("run",))
    parser.add_argument("names", nargs="*", help="instances, by their beginnings; by default all")
    parser.add_argument("--opponents", default="", help="by default all, separated by commas")
    given = parser.parse_args()
    if not ONE_THREAD.items() <= os.environ.items():
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **ONE_THREAD})
    run(given.names, given.opponents.split(",") if given.opponents else [])


if __name__ == "__main__":
    main()
