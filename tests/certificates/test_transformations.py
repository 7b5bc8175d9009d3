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
from claims import CLAIMS, Planted, carried, contradiction, ordered, planted, solved, stated, unproved, verdict
from pyomo_models import FREE, POSITIVE, model_of
from small_programs import CHANGES, CLASSES, EXACT, Change, Small, build, drawn, scaled, small
from solver_cases import usable_solvers
from support import sampled

import fsopt

WHOLE = bool(os.environ.get("FSOPT_TRUTH"))
SEEDS = range(25 if WHOLE else 1)
SOLVERS = [name for name in usable_solvers() if WHOLE or name in ("highs", "clarabel", "scip")]
"""In the normal run a simplex method, an interior point method, and a search."""
MOVED = ("scaled-rows", "scaled-columns", "noise", "epsilon-bounds", "loose-bounds")
"""The changes of a program about which false claims are planted: in the normal run all of an LP, one of each class."""
PLANTED = [
    *((kind, None) for kind in CLASSES),
    *(("LP", change) for change in MOVED),
    *zip(CLASSES[1:], (*MOVED[2:], *MOVED[:2]), strict=True),
]
if WHOLE:
    PLANTED = [(kind, change) for kind in CLASSES for change in (None, *MOVED)]
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


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("kind", "change"), sampled(PLANTED, 10**6 if WHOLE else 8))
def test_no_planted_claim_is_confirmed(kind: str, change: str | None, seed: int) -> None:
    program = change_of(change, kind, seed).program if change else drawn(kind, seed)
    found = [claim.kind for claim in planted(program, rng_of("planted", kind, seed)) if claim.accepted]
    assert not found


def claim(kind: str, program: Small, x, y=None, *, ray=None, direction=None) -> Planted:
    """Return a false claim about a program: x optimal, ``ray`` a Farkas vector, or ``direction`` a ray of descent."""
    model = build(program)
    rows = y if ray is None else ray
    point, multipliers = ordered(model, x, np.zeros(len(program.lo)) if rows is None else rows)
    if ray is not None:
        return Planted(kind, model, stated(model, ray=multipliers))
    along = None if direction is None else ordered(model, direction, np.zeros(len(program.lo)))[0]
    return Planted(kind, model, stated(model, x=point, y=multipliers, direction=along))


def slopes(d: float) -> Iterator[Planted]:
    """Yield claims about objectives that change by d over one, within data of size 1."""
    far, below = ([0, 0], [1e14, 1e14]), ([[1, -1]], [0], [0])
    bounded = small("LP", [1, -(1 + d)], below, far)
    yield claim(f"slope {d:g} up to 1e14", bounded, [0, 0], [1])
    free = small("LP", [1, -(1 + d)], below, ABOVE)
    yield claim(f"slope {d:g}, unbounded", free, [0, 0], [1])
    parallel = small("LP", [0, 0], ([[1, -1], [1, -1 + d]], [0, 1], [0, INF]), ([-INF, 0], [INF, INF]))
    yield claim(f"rows parallel within {d:g}", parallel, [0, 0], ray=[-1, 1])
    short = small("LP", [1, -(1 - d)], below, far)
    yield claim(f"ray with slope {d:g}", short, [0, 0], direction=[1, 1])


def epsilons(e: float) -> Iterator[Planted]:
    """Yield claims about programs with a right-hand side or bounds of e: the zero point, a ray, a Farkas vector."""
    rows = [[0, 1, 0], [0, 1, -1], [-1, -1, -1]], [-INF] * 3, [2.5, 1.25, -e]
    noisy = small("LP", [1, 0, 0], rows, ([-INF, 0, 0], [INF, INF, 1]))
    yield claim(f"right-hand side {e:g}", noisy, [0, 0, 0])
    positive = [e, e], [INF, INF]
    one = small("LP", [-3, -2], ([[1, 1]], [-INF], [4]), positive, sense=-1.0)
    yield claim(f"bounds {e:g}, smallest point", one, [e, e])
    two = small("LP", [-3, -2], ([[1, 1], [1, 3]], [-INF, -INF], [4, 6]), positive)
    yield claim(f"bounds {e:g}, ray", two, [e, e], direction=[1, 0])
    three = small("LP", [1, 2, 3], ([[1, 1, 1], [1, -1, 0]], [4, -INF], [INF, 1]), ([e] * 3, [INF] * 3))
    yield claim(f"bounds {e:g}, Farkas vector", three, [0, 0, 0], ray=[1, 0])


def others() -> Iterator[Planted]:
    hidden = small("LP", [1, 200], ([[1e-9, -1e-6]], [-INF], [0]), ([500, 0], [1e10, 1]))
    for factor in (1.0, 1e3, 1e9):
        rows = scaled(hidden, np.array([factor]), np.ones(2)).program
        yield claim(f"loose bound hides a row times {factor:g}", rows, [500, 0])
    free = [-INF, -INF], [INF, INF]
    drowned = small("LP", [0, 0], ([[1, 2], [1, 2]], [0, 2], [0, 2]), free, truth="infeasible")
    yield claim("right-hand side drowns in its terms", drowned, [-2e29, 1e29])


@pytest.mark.parametrize(
    "claims",
    [
        *(partial(slopes, d) for d in (1e-7, 1e-9, 1e-10)),
        *(partial(epsilons, e) for e in (1e-16, 1e-12, 1e-9, 1e-7, 1e-6)),
        others,
    ],
)
def test_no_claim_of_a_known_kind_is_confirmed(claims: Callable[[], Iterator[Planted]]) -> None:
    assert [one.kind for one in claims() if one.accepted] == []


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
