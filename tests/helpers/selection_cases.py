"""Problems that are small enough to enumerate, with all kinds of constraints on the selection."""

import itertools

import numpy as np
import pytest
from support import blobs, exact_value, keeps

from fsopt.data.hyperplanes import LOSSES
from fsopt.methods.gbd.problems import selection_problem
from fsopt.models.gbd.fsp_master import build_fsp_master
from fsopt.search.branch_and_benders.driver import branch_and_benders
from fsopt.search.branch_and_benders.evidence import replayed, unpacked
from fsopt.search.branch_and_benders.problem import BranchSettings, Partial
from fsopt.search.branch_and_benders.tree import FORGOTTEN, marks_of

KINDS = (
    *("cardinality", "budget", "logic", "include", "budget implies"),
    *("lambda", "lambda cardinality", "lambda implies", "lambda conflicts"),
)


def drawn(kind, seed):
    """Return random data, penalty weight and limits of one kind."""
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    p, n = int(rng.integers(4, 7)), int(rng.integers(16, 40))
    data, c = blobs(n, p, seed=seed), float(rng.choice([0.3, 1.0, 4.0, 20.0]))
    return data, c, limits_of(kind, p, rng)


def limits_of(kind, p, rng):
    """Return random limits of one kind on p features."""
    j, k, other = rng.permutation(p)[:3].tolist()
    costs = rng.integers(0, 5, p).astype(float)
    budget = float(rng.integers(1, int(costs.sum()) + 2))
    return {
        "cardinality": {"m": int(rng.integers(1, p + 1))},
        "budget": {"costs": (costs + 0.1).tolist(), "budget": budget + 0.35},
        "logic": {"m": 3, "implies": [[j, k]], "conflicts": [[k, other], [0, 1]], "exclude": [other]},
        "include": {"m": 2, "include": [j], "conflicts": [[j, k]]},
        "lambda": {"lam": rng.uniform(0.05, 6.0, p).tolist()},
        "lambda cardinality": {"lam": rng.uniform(0.05, 1.0, p).tolist(), "m": 2},
        "lambda implies": {"lam": 2.0, "implies": [[j, k], [k, other]]},
        "lambda conflicts": {"lam": 1.0, "conflicts": [[j, k, other]]},
        "budget implies": {"costs": costs.tolist(), "budget": 5.0, "implies": [[j, k]]},
    }[kind]


NOISE = blobs(36, 14, seed=1, gap=0.0)
"""With c = 1 and five features the search visits a hundred nodes, with 47 relaxations and eight records."""


def problem_of(data, c, limits, loss="hinge"):
    """Return the problem of limits in the parameters of ``fsp-master``."""
    return selection_problem(data, build_fsp_master(data, **limits), c, LOSSES[loss])


def allowed_values(data, c, limits, loss="hinge"):
    """Return selection -> value with penalty weights, of all allowed selections."""
    rules = {name: value for name, value in limits.items() if name != "lam"}
    lam = np.broadcast_to(limits.get("lam", 0.0), (data.p,))
    every = (np.array(s) for s in itertools.product((0, 1), repeat=data.p))
    return {tuple(s): exact_value(data, s, c, loss) + float(lam @ s) for s in every if keeps(s, **rules)}


def solved(problem, **settings):
    """Return the result of the driver."""
    return branch_and_benders(problem, settings=BranchSettings(**settings))


def solved_as(values, problem):
    """Return the result of the driver, whose value, bound, point and replayed evidence are those of all selections."""
    result, best = solved(problem), min(values.values())
    assert (result.status, result.stop) == ("optimal", "optimal")
    assert result.objective == pytest.approx(best, rel=2e-6)
    assert best * (1 - 2e-6) <= result.bound <= best * (1 + 1e-9)
    assert values[tuple(result.point["sigma"].astype(int))] == pytest.approx(best, rel=2e-6)
    assert not np.any(result.point["w"][result.point["sigma"] == 0])
    assert replayed(problem, result.point["evidence"]).bound == pytest.approx(result.bound, rel=1e-12)
    assert FORGOTTEN not in {name for _, name, _ in marks_of(unpacked(problem, result.point["evidence"])[0])}
    return result


def random_nodes(problem, rng, count):
    """Yield random nodes of a problem, as they are where its constraints have decided features."""
    for _ in range(count):
        draw = rng.uniform(size=problem.p)
        at = problem.propagated(Partial(problem.fixed.inside | (draw < 0.2), problem.fixed.outside | (draw > 0.75)))
        if at is not None and not np.any(at.inside & at.outside):
            yield at


def below(values, at):
    """Return selection -> value of the selections below a node."""
    return {s: v for s, v in values.items() if np.all(at.inside <= s) and not np.any(at.outside & np.array(s, bool))}
