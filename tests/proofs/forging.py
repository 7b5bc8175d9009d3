"""Honest proofs of every kind on tiny problems, and changes of program, statement and evidence together.

The digest of a changed program is renewed, and half of the changed proofs claim what their evidence shows, as sharp as
the checker finds it: what is refused is refused for its mathematics.
"""

import copy
import random
from fractions import Fraction
from functools import cache, partial

import numpy as np
import pyomo.environ as pyo
from support import blobs

import fsopt
from fsopt.answers.results import Point
from fsopt.certificates.exact.claims import claim_of_pair
from fsopt.certificates.exact.intervals import pair_of
from fsopt.certificates.exact.proofs import Header, proof_file
from fsopt.compiler import compile_model
from fsopt.methods.exact.programs import about_of
from fsopt.verification.exact_checking import claim_infeasible, exactly
from fsopt.verifier import verify
from fsopt.verifier.grammar import number, written
from fsopt.verifier.rationals import MOST_WORK, Work

DATA = blobs(n=8, p=3, seed=5, gap=0.4)
FITS = {
    "svm": {},
    "svm none": {"scale": "none", "c": 0.5},
    "onsvm": {},
    "l1-svm": {"c": 0.5},
    "rsvm": {},
    "gmeb": {},
    "svm-norm": {},
    "mpm": {},
    "s-mpm": {},
    "l1-mpm": {},
    "l0-mpm": {},
    "fsv": {"lam": 0.3},
    "misclass": {},
    "best-subset": {"m": 1},
    "best-subset budget": {"costs": [3.0, 1.0, 2.0], "budget": 4.0},
    "best-subset rules": {"m": 2, "implies": [[0, 2]], "conflicts": [[1, 2]]},
    "best-subset-penalised": {"lam": 0.5},
    "best-subset squared": {"m": 1, "loss": "squared-hinge"},
    "best-subset logistic": {"m": 1, "loss": "logistic"},
    "best-subset groups": {"m": 1, "groups": [[0, 2]], "positive": [0], "upper": {1: 0.25}},
    "best-subset bounds": {"m": 2, "loss": "logistic", "lower": {0: -0.1}, "upper": {0: 0.1}, "negative": [1]},
    "pearson": {},
    "rfe": {},
}
MODELS = {"gmeb-sdp": {}, "misclass-milp": {"big_m": 100.0}, "svm-dual": {}, "gmeb-dual": {}}
OTHERS = (None, True, "1/0", "0/1", "x", "", [], {}, -1, 0, 1, 10**6, 2.5, 1e-6, [[]], "a\nb", "\ud800", "1_0", "0x1")
WORDS = (
    *verify.WORDS,
    "min",
    "max",
    "hinge",
    "squared-hinge",
    "logistic",
    "leaf",
    "empty",
    "split",
    "branch",
    "peg",
    "known",
)


def _of_built(slug, params):
    model = fsopt.build(slug, DATA, **params)
    return _file(_solved(model), about_of(slug, params))


def _solved(model):
    result, program = fsopt.solve(model), compile_model(model)
    integer = bool(program.integer.any())
    pair = pair_of(program, result.point.x, None if integer else result.point)
    return claim_of_pair("", "feasible" if integer else "optimal", pair, 1e-6)


def _value(model):
    return claim_of_pair("", "feasible", pair_of(compile_model(model), fsopt.solve(model).point.x, None), 1e-6)


def _file(claim, about=None):
    header = None if about is None else Header(DATA, "none")
    return proof_file([claim.part], [about or claim.about], header)


def _vertex(sense=pyo.minimize):
    model = pyo.ConcreteModel()
    model.x = pyo.Var([0, 1], bounds=(0, None))
    model.first = pyo.Constraint(expr=3 * model.x[0] + model.x[1] >= 1)
    model.second = pyo.Constraint(expr=model.x[0] + 3 * model.x[1] >= 1)
    model.objective = pyo.Objective(expr=sense * (model.x[0] + model.x[1]), sense=sense)
    return model


def _square():
    """A convex quadratic program whose matrix is singular, of numbers that are no short binary fractions."""
    model = pyo.ConcreteModel()
    model.x = pyo.Var([0, 1], bounds=(-1, 2))
    model.sum = pyo.Constraint(expr=model.x[0] + 2 * model.x[1] == 1)
    a, b = 0.1, 0.3
    squares = a * a * model.x[0] ** 2 + 2 * a * b * model.x[0] * model.x[1] + b * b * model.x[1] ** 2
    model.objective = pyo.Objective(expr=squares - 0.7 * model.x[1])
    return model


def _infeasible():
    model = pyo.ConcreteModel()
    model.x = pyo.Var([0, 1])
    model.low = pyo.Constraint(expr=0.1 * model.x[0] + 0.3 * model.x[1] >= 1)
    model.high = pyo.Constraint(expr=0.2 * model.x[0] + 0.6 * model.x[1] <= 1)
    model.objective = pyo.Objective(expr=model.x[0])
    return _file(claim_infeasible(compile_model(model), Point(np.zeros(2), np.array([2.0, -1.0]), np.zeros(0))))


def _of_fit(label, params):
    return exactly(fsopt.fit(label.split()[0], DATA, **params), DATA).proof()


MAKERS = {
    **{label: partial(_of_fit, label, params) for label, params in FITS.items()},
    **{slug: partial(_of_built, slug, params) for slug, params in MODELS.items()},
    "vertex": lambda: _file(_solved(_vertex())),
    "maximum": lambda: _file(_solved(_vertex(pyo.maximize))),
    "value of a maximum": lambda: _file(_value(_vertex(pyo.maximize))),
    "square": lambda: _file(_solved(_square())),
    "no point": _infeasible,
    "alternatives": lambda: fsopt.alternatives(DATA, 2, within=0.5, count=2, exact=True).proof,
    "all alternatives": lambda: fsopt.alternatives(DATA, 1, within=1e9, exact=True).proof,
    "path": lambda: fsopt.selection_path(DATA, m=[1], c=[0.5, 1.0]).proof(DATA),
    "necessity": lambda: fsopt.necessity(DATA, 1, exact=True).proof,
}
"""Name -> function that returns an honest proof file."""


@cache
def base(name):
    """Return an honest proof file."""
    return MAKERS[name]()


# -- changes -------------------------------------------------------------------------------------------------------


def places(value, path=()):
    """Yield the path of every part of plain data."""
    if path:
        yield path
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield from places(value[key], (*path, key))


def at(proof, path):
    """Return a part of a proof."""
    for key in path:
        proof = proof[key]
    return proof


def put(proof, path, value):
    """Put a value in a place."""
    at(proof, path[:-1])[path[-1]] = value


def is_number(value):
    """Return whether a value is a number of the format."""
    if isinstance(value, str):
        return (
            bool(value)
            and value.strip("-0123456789abcdef/") == ""
            and any(c.isdigit() for c in value)
            and len(value) < 64
        )
    return isinstance(value, int) and not isinstance(value, bool)


def other(value, rng):
    """Return another number: 2^-40 of it away, or far."""
    exact = Fraction(value) if isinstance(value, str) and "/" not in value else number(value)
    tiny = Fraction(1, exact.denominator * 2)
    near = (exact * (1 + Fraction(1, 2**40)), exact * (1 - Fraction(1, 2**40)), exact + tiny, exact - tiny)
    far = (-exact, exact * 2, exact / 2, exact + 1, exact - 1, Fraction(0), exact * Fraction(3, 2))
    return written(rng.choice((*near, *far)))


def change_number(proof, rng):
    """Change one number."""
    path = rng.choice([p for p in places(proof) if is_number(at(proof, p))])
    put(proof, path, other(at(proof, path), rng))


def change_few(proof, rng):
    """Change one number of a part that has few of them: ends, concave terms, multipliers, trees."""
    groups = {}
    for path in places(proof):
        if is_number(at(proof, path)):
            groups.setdefault(tuple(k for k in path if isinstance(k, str)), []).append(path)
    path = rng.choice(groups[rng.choice(list(groups))])
    put(proof, path, other(at(proof, path), rng))


def change_word(proof, rng):
    """Change one word to another one."""
    paths = [p for p in places(proof) if isinstance(at(proof, p), str) and not is_number(at(proof, p))]
    put(proof, rng.choice(paths), rng.choice(WORDS))


def change_type(proof, rng):
    """Put a value of another kind in a place."""
    put(proof, rng.choice(list(places(proof))), rng.choice(OTHERS))


def absent(proof, rng):
    """Leave out a key of an object, or make its value null."""
    path = rng.choice([p for p in places(proof) if isinstance(p[-1], str)])
    if rng.random() < 0.5:
        put(proof, path, None)
    else:
        del at(proof, path[:-1])[path[-1]]


def _lists(proof, least):
    return [p for p in places(proof) if isinstance(at(proof, p), list) and len(at(proof, p)) >= least]


def duplicate(proof, rng):
    """Put an entry of a list in twice."""
    held = at(proof, rng.choice(_lists(proof, 1)))
    held.insert(rng.randrange(len(held) + 1), copy.deepcopy(rng.choice(held)))


def drop(proof, rng):
    """Leave out an entry of a list."""
    held = at(proof, rng.choice(_lists(proof, 1)))
    held.pop(rng.randrange(len(held)))


def permute(proof, rng):
    """Exchange two entries of a list."""
    held = at(proof, rng.choice(_lists(proof, 2)))
    i, j = rng.sample(range(len(held)), 2)
    held[i], held[j] = held[j], held[i]


def exchange(proof, rng):
    """Give a claim the program, or the evidence, of another claim, here or of another proof."""
    source = rng.choice([*proof["claims"], *base(rng.choice(list(MAKERS)))["claims"]])
    part = rng.choice(("program", "evidence", "statement"))
    rng.choice(proof["claims"])[part] = copy.deepcopy(source[part])


def mirror(proof, rng):
    """Change the sign of a form, a row, a cost or a square of a program, or the sense."""
    program = rng.choice(proof["claims"])["program"]
    if "loss" in program:
        column = rng.randrange(len(program["columns"]))
        program["columns"][column] = [written(-number(v)) for v in program["columns"][column]]
        return
    forms = [f for k in (*program["cones"], *program["matrices"]) for f in k.get("forms", k.get("entries", []))]
    forms += program["rows"]
    if not forms or rng.random() < 0.2:
        program["sense"] = "max" if program["sense"] == "min" else "min"
        return
    form = rng.choice(forms)
    form[1] = [written(-number(v)) for v in form[1]]
    if len(form) == 4 and rng.random() < 0.5:
        form[2], form[3] = (None if v is None else written(-number(v)) for v in (form[3], form[2]))
    elif len(form) == 3 and rng.random() < 0.5:
        form[2] = written(-number(form[2]))


def heads(proof, rng):
    """Exchange heads and tails of a cone, or give a form another denominator: one part of it is multiplied."""
    cones = [k for claim in proof["claims"] for k in claim["program"].get("cones", [])]
    if not cones:
        return mirror(proof, rng)
    cone = rng.choice(cones)
    if rng.random() < 0.5 and len(cone["forms"]) > 2:
        i, j = rng.sample(range(len(cone["forms"])), 2)
        cone["forms"][i], cone["forms"][j] = cone["forms"][j], cone["forms"][i]
        return None
    form, factor = rng.choice(cone["forms"]), rng.choice((2, Fraction(1, 2**40), 1 + Fraction(1, 2**40), 1000))
    form[1] = [written(number(v) * factor) for v in form[1]]
    form[2] = written(number(form[2]) * factor)
    return None


def columns(proof, rng):
    """Make a feature constant, zero, or that of another one, in a selection; a column of all rows in a program."""
    program = rng.choice(proof["claims"])["program"]
    if "loss" in program:
        j, k = rng.sample(range(len(program["columns"])), 2)
        kind = rng.choice(("same", "zero", "constant"))
        old = program["columns"][k]
        program["columns"][j] = {"same": list(old), "zero": [0] * len(old), "constant": [old[0]] * len(old)}[kind]
        return
    j, k = rng.randrange(len(program["c"])), rng.randrange(len(program["c"]))
    for row in program["rows"]:
        if j in row[0] and k in row[0]:
            row[1][row[0].index(j)] = row[1][row[0].index(k)]


def split(proof, rng):
    """Split a term in two halves: of a concave part, a row, or a square."""
    program = rng.choice(proof["claims"])["program"]
    kinds = [k for k in ("concave", "rows", "quadratic") if program.get(k)]
    if not kinds:
        return drop(proof, rng)
    kind = rng.choice(kinds)
    spot = rng.randrange(len(program[kind]))
    if kind == "concave":
        f, k, places_ = program["concave"].pop(spot)
        half = written(number(f) / 2)
        program["concave"] += [[half, k, places_], [half, k, list(places_)]]
    elif kind == "quadratic":
        i, j, v = program["quadratic"][spot]
        half = written(number(v) / 2)
        program["quadratic"][spot : spot + 1] = [[i, j, half], [i, j, half]]
    elif program["rows"][spot][0]:
        row = program["rows"][spot]
        place = rng.randrange(len(row[0]))
        row[1][place] = written(number(row[1][place]) / 2)
        row[0].append(row[0][place])
        row[1].append(row[1][place])
    return None


def known(proof, rng):
    """Mark a leaf as a known selection, with or without an entry of it in the statement."""
    claims = [claim for claim in proof["claims"] if "loss" in claim["program"]]
    if not claims:
        return change_few(proof, rng)
    claim = rng.choice(claims)
    tree, statement = claim["evidence"]["tree"], claim["statement"]
    left_out = statement["left_out"]
    spot = rng.randrange(len(tree))
    tree[spot] = rng.choice((["known"], ["known"], ["known"], ["empty"], ["leaf", 0]))
    if rng.random() < 0.6:
        p = len(claim["program"]["lam"])
        left_out.append(sorted(rng.sample(range(p), rng.randrange(p + 1))))
    if rng.random() < 0.5:
        claim["evidence"]["point"] = None
        statement |= {"status": "bounded", "upper": None}
    return None


def parameter(proof, rng):
    """Change a number wherever it stands in the program, as a parameter of a model does."""
    claim = rng.choice(proof["claims"])
    numbers = [at(claim, p) for p in places(claim) if p[0] == "program" and is_number(at(claim, p))]
    old = rng.choice([v for v in numbers if v not in (0, 1, -1)] or numbers)
    value = other(old, rng)
    for path in list(places(claim)):
        if path[0] == "program" and at(claim, path) == old and rng.random() < 0.9:
            put(claim, path, value)


def scale(proof, rng):
    """Multiply multipliers of a proof by one number."""
    claim = rng.choice(proof["claims"])
    factor = rng.choice((Fraction(2), Fraction(1, 2), Fraction(-1), 1 + Fraction(1, 2**40)))
    for dual in claim["evidence"].get("duals", []):
        dual["multipliers"] = [[i, [written(number(v) * factor) for v in vs]] for i, vs in dual["multipliers"]]
    for cut in claim["evidence"].get("cuts", []):
        cut[1] = [int(a * factor) for a in cut[1]]


def bound(proof, rng):
    """Change the bound of a program: none, two, a branching, or other multipliers."""
    bounds = [c["evidence"]["nodes"] for c in proof["claims"] if c["evidence"].get("nodes")]
    if not bounds:
        return change_few(proof, rng)
    rng.choice(bounds)[:] = rng.choice(([], [["leaf", 0]] * 2, [["split", 0, 1]], [["empty", 0]], [["leaf", 1]]))
    return None


def shift(proof, rng):
    """Change the shift of a matrix, or its entries, so that it is convex no longer."""
    claims = [claim for claim in proof["claims"] if claim["program"].get("quadratic")]
    if not claims:
        return change_few(proof, rng)
    claim = rng.choice(claims)
    if rng.random() < 0.5:
        claim["evidence"]["shift"] = [[j, rng.choice((1, "1/100000", -1, 0))] for j in range(rng.randrange(3))]
    entry = rng.choice(claim["program"]["quadratic"])
    entry[2] = other(entry[2], rng)
    return None


CHANGES = {
    f.__name__: f
    for f in (
        *(change_number, change_few, change_word, change_type, absent, duplicate, drop, permute, exchange, mirror),
        *(heads, columns, split, known, parameter, scale, bound, shift),
    )
}


def renewed(proof, rng):
    """Renew the digests of the programs, as far as they have one."""
    for claim in proof["claims"]:
        claim["statement"]["program"] = verify.digest(claim["program"])


def tightened(proof, rng):
    """State what the evidence of a changed proof shows, as the checker finds it: the strongest attack."""
    for claim in proof["claims"]:
        Work.left = MOST_WORK
        claim["statement"] |= verify.statement(claim["program"], claim["evidence"])


def forged(seed):
    """Return the name of a base, the kinds of changes, and the changed proof of a seed."""
    rng = random.Random(seed)
    name = rng.choice(list(MAKERS))
    proof = copy.deepcopy(base(name))
    kinds = [rng.choice(list(CHANGES)) for _ in range(rng.choice((1, 1, 2)))]
    kinds += ["renewed"] if rng.random() < 0.9 else []
    kinds += ["tightened"] if rng.random() < 0.6 else []
    for kind in kinds:
        try:
            {**CHANGES, "renewed": renewed, "tightened": tightened}[kind](proof, rng)
        except Exception:  # whatever a change before this one did: there is no place for it
            continue
    return name, kinds, proof
