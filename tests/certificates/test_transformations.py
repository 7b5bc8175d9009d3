"""Changes that leave the optimum, or change it in a known way, and planted false claims: they move no certificate.

Small programs of every class are changed (units, noise, loose bounds, copies) and solved by every solver; the truth is
their exact optimum in rational arithmetic. The normal run takes a seeded sample, ``make truth`` (FSOPT_TRUTH=1) all.
"""

import os
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product

import numpy as np
import pyomo.environ as pyo
import pytest
from claims import CLAIMS, carried, contradiction, solved, unproved, verdict
from pyomo_models import FREE, POSITIVE, model_of
from small_programs import CHANGES, CLASSES, EXACT, Change, Small, build, drawn, scaled, small
from solver_cases import usable_solvers
from support import sampled

import fsopt
from fsopt.answers.results import Point, Status
from fsopt.compiler import compile_model

WHOLE = bool(os.environ.get("FSOPT_TRUTH"))
SEEDS = range(25 if WHOLE else 1)
SOLVERS = [name for name in usable_solvers() if WHOLE or name in ("highs", "clarabel", "scip")]
"""In the normal run a simplex method, an interior point method, and a search."""
INF = np.inf
ABOVE = [0, 0], [INF, INF]
"""The bounds of nonnegative variables."""


def rng_of(*parts: object) -> np.random.Generator:
    return np.random.default_rng([ord(letter) for letter in "".join(map(str, parts))])


def change_of(change: str, kind: str, seed: int) -> Change:
    return CHANGES[change](drawn(kind, seed), rng_of(change, kind, seed))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", CLASSES)
def test_right_answers_are_claimed_with_a_certificate_which_does_not_depend_on_units(kind: str, seed: int) -> None:
    """Without it, a certificate that refuses everything would pass the tests below."""
    program, found = drawn(kind, seed), []
    for solver in SOLVERS:
        model = build(program)
        result = solved(program, solver, model)
        if result is None:
            continue
        if contradiction(program, result) or (unproved(program, result) and not program.integer.any()):
            found.append(f"{solver}: {result.status} {result.objective}, {result.certificate}; {program.truth}")
        elif result.status in CLAIMS and not result.certificate.ok:
            found.append(f"{solver}: {result.status} on the word of the solver")
        before = verdict(fsopt.certify(model, result))
        for name in EXACT:
            change = change_of(name, kind, seed)
            other = build(change.program)
            after = verdict(fsopt.certify(other, carried(result, change, other)))
            if after != before:
                found.append(f"{solver}, {name}: {before}, then {after}")
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("change", "kind", "seed"), sampled(product(CHANGES, CLASSES, SEEDS), 10**6 if WHOLE else 15, 0)
)
def test_no_claim_contradicts_the_exact_optimum(change: str, kind: str, seed: int) -> None:
    program = change_of(change, kind, seed).program
    answers = {solver: solved(program, solver) for solver in SOLVERS}
    judged = {solver: contradiction(program, result) for solver, result in answers.items() if result is not None}
    assert {solver: wrong for solver, wrong in judged.items() if wrong} == {}


def accepted(program: Small, x, y=(), *, ray=None, direction=None) -> bool:
    """Return whether a certificate confirms a false claim: x optimal, ``ray`` a Farkas vector, or a ray of descent."""
    model = build(program)
    arrays = compile_model(model)
    columns, rows = ([part.index() for part in parts] for parts in (arrays.variables, arrays.constraints))
    y = np.array(y or np.zeros(len(rows)), dtype=float)
    point = Point(np.array(x, dtype=float)[columns], y[rows], np.zeros(0))
    value, kinds = arrays.objective_at(point.x), ("convex", "mixed-integer", "global")
    claim = {"status": Status.OPTIMAL, "objective": value, "bound": value, "point": point}
    if ray is not None:
        farkas = Point(0.0 * point.x, np.array(ray, dtype=float)[rows], np.zeros(0))
        claim, kinds = {"status": Status.INFEASIBLE, "objective": None, "bound": None, "ray": farkas}, ("infeasible",)
    elif direction is not None:
        along = Point(np.array(direction, dtype=float)[columns])
        claim, kinds = {"status": Status.UNBOUNDED, "objective": None, "bound": None}, ("unbounded",)
        claim |= {"direction": along, "evidence": point}
    result = fsopt.SolveResult(**claim, stop="optimal", solver="clarabel", seconds={}, iterations=0)
    found = fsopt.certify(model, result)
    return found.ok and str(found.kind) in kinds


def slopes(d: float) -> Iterator[tuple[str, bool]]:
    """Yield claims about objectives that change by d over one, within data of size 1."""
    far, below = ([0, 0], [1e14, 1e14]), ([[1, -1]], [0], [0])
    bounded = small("LP", [1, -(1 + d)], below, far)
    yield f"slope {d:g} up to 1e14", accepted(bounded, [0, 0], [1])
    free = small("LP", [1, -(1 + d)], below, ABOVE)
    yield f"slope {d:g}, unbounded", accepted(free, [0, 0], [1])
    parallel = small("LP", [0, 0], ([[1, -1], [1, -1 + d]], [0, 1], [0, INF]), ([-INF, 0], [INF, INF]))
    yield f"rows parallel within {d:g}", accepted(parallel, [0, 0], ray=[-1, 1])
    short = small("LP", [1, -(1 - d)], below, far)
    yield f"ray with slope {d:g}", accepted(short, [0, 0], direction=[1, 1])


def epsilons(e: float) -> Iterator[tuple[str, bool]]:
    """Yield claims about programs with a right-hand side or bounds of e: the zero point, a ray, a Farkas vector."""
    rows = [[0, 1, 0], [0, 1, -1], [-1, -1, -1]], [-INF] * 3, [2.5, 1.25, -e]
    noisy = small("LP", [1, 0, 0], rows, ([-INF, 0, 0], [INF, INF, 1]))
    yield f"right-hand side {e:g}", accepted(noisy, [0, 0, 0])
    positive = [e, e], [INF, INF]
    one = small("LP", [-3, -2], ([[1, 1]], [-INF], [4]), positive, sense=-1.0)
    yield f"bounds {e:g}, smallest point", accepted(one, [e, e])
    two = small("LP", [-3, -2], ([[1, 1], [1, 3]], [-INF, -INF], [4, 6]), positive)
    yield f"bounds {e:g}, ray", accepted(two, [e, e], direction=[1, 0])
    three = small("LP", [1, 2, 3], ([[1, 1, 1], [1, -1, 0]], [4, -INF], [INF, 1]), ([e] * 3, [INF] * 3))
    yield f"bounds {e:g}, Farkas vector", accepted(three, [0, 0, 0], ray=[1, 0])


def others() -> Iterator[tuple[str, bool]]:
    hidden = small("LP", [1, 200], ([[1e-9, -1e-6]], [-INF], [0]), ([500, 0], [1e10, 1]))
    for factor in (1.0, 1e3, 1e9):
        rows = scaled(hidden, np.array([factor]), np.ones(2)).program
        yield f"loose bound hides a row times {factor:g}", accepted(rows, [500, 0])
    free = [-INF, -INF], [INF, INF]
    drowned = small("LP", [0, 0], ([[1, 2], [1, 2]], [0, 2], [0, 2]), free, truth="infeasible")
    yield "right-hand side drowns in its terms", accepted(drowned, [-2e29, 1e29])


@pytest.mark.parametrize(
    "claims",
    [
        *(partial(slopes, d) for d in (1e-7, 1e-9, 1e-10)),
        *(partial(epsilons, e) for e in (1e-16, 1e-12, 1e-9, 1e-7, 1e-6)),
        others,
    ],
)
def test_no_claim_of_a_known_kind_is_confirmed(claims: Callable[[], Iterator[tuple[str, bool]]]) -> None:
    assert [kind for kind, held in claims() if held] == []


def test_a_box_of_the_solver_is_no_bound() -> None:
    """max xy over free x and y is unbounded, and min a over ab >= 1 has the infimum 0, which no point attains."""
    free = model_of(lambda x, y: x * y, bounds=[FREE] * 2, start=[1, 1], sense=pyo.maximize)
    hyperbola = model_of(lambda a, b: a, lambda a, b: a * b >= 1, bounds=[POSITIVE] * 2, start=[1, 1])
    found = {}
    for solver in SOLVERS:
        if "NLP" in fsopt.SOLVERS[solver].classes:
            one, two = (fsopt.solve(m, solver, time_limit=5) for m in (free, hyperbola))
            found[solver] = one.status == "optimal", two.status == "optimal" and two.objective > 1e-6
    assert {solver: false for solver, false in found.items() if any(false)} == {}
