"""Honest proofs of every kind on tiny problems, and changes of them: of one field, of two, splits and duplications."""

import copy
import random
from fractions import Fraction
from functools import cache, partial
from math import nextafter

import numpy as np
import pyomo.environ as pyo
from integer_programs import random_program
from proof_files import ends
from support import blobs

import fsopt
from fsopt.answers.results import Point
from fsopt.certificates.exact.claims import About, claim_of_pair, claim_of_tree
from fsopt.certificates.exact.encoding import decoded, encoded
from fsopt.certificates.exact.intervals import pair_of
from fsopt.certificates.exact.proofs import relative_width
from fsopt.certificates.exact.statements import Header, proof_file
from fsopt.compiler import compile_model
from fsopt.verification.exact_checking import claim_infeasible, exactly
from fsopt.verifier import verify

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
    "pearson": {},
    "rfe": {},
}
MODELS = {"gmeb-sdp": {}, "misclass-milp": {"big_m": 100.0}, "svm-dual": {}}
TREES = {"MILP": 23, "MIQP": 65, "MISOCP": 69, "no integers": None}
WORDS = (
    "hinge",
    "squared-hinge",
    "logistic",
    "optimal",
    "feasible",
    "bounded",
    "stationary",
    "infeasible",
    "exhausted",
    "min",
    "max",
    "given",
    "rms",
)
SLUGS = ("svm", "onsvm", "rsvm", "gbd", "best-subset", "selection", "fsp-sub", "mpm", "l1-svm", "pearson", "none")
KINDS = ("convex", "infeasible", "selection", "method", "model", "study", "standard", "center", "alternatives")
OTHERS = (None, True, "1/0", "0/1", "x", "", [], {}, -1, 0, 1, 10**6, 2.5, 1e-6, [[]], "a\nb", "\ud800", "1_0", "0x1")


def _of_model(slug, model, params):
    result = fsopt.solve(model)
    program = compile_model(model)
    integer = bool(program.integer.any())
    pair = pair_of(program, result.point.x, None if integer else result.point)
    claim = claim_of_pair(slug, "feasible" if integer else "optimal", pair, 1e-6)
    object.__setattr__(claim, "about", About(slug, params))
    return proof_file(Header("model", slug, params, DATA, "none"), [claim])


def _of_built(slug, params):
    return _of_model(slug, fsopt.build(slug, DATA, **params), params)


def _tree(kind, seed):
    model = _odd() if seed is None else random_program(seed, kind)[0]
    result = fsopt.prove(model)
    x = None if result.point is None else result.point.x
    claim = claim_of_tree(kind, compile_model(model), result.tree, x, result.status)
    object.__setattr__(claim, "about", About(kind, {}))
    return proof_file(Header("model", kind, {}, DATA, "none"), [claim])


def _odd():
    model = pyo.ConcreteModel("odd")
    model.x = pyo.Var([0, 1], domain=pyo.Integers, bounds=(0, 2))
    model.odd = pyo.Constraint(expr=2 * model.x[0] + 2 * model.x[1] == 3)
    model.objective = pyo.Objective(expr=model.x[0])
    return model


def _vertex():
    model = pyo.ConcreteModel()
    model.x = pyo.Var([0, 1], bounds=(0, None))
    model.first = pyo.Constraint(expr=3 * model.x[0] + model.x[1] >= 1)
    model.second = pyo.Constraint(expr=model.x[0] + 3 * model.x[1] >= 1)
    model.objective = pyo.Objective(expr=model.x[0] + model.x[1])
    return model


def _infeasible():
    model = pyo.ConcreteModel()
    model.x = pyo.Var([0, 1])
    model.low = pyo.Constraint(expr=0.1 * model.x[0] + 0.3 * model.x[1] >= 1)
    model.high = pyo.Constraint(expr=0.2 * model.x[0] + 0.6 * model.x[1] <= 1)
    model.objective = pyo.Objective(expr=model.x[0])
    claim = claim_infeasible(compile_model(model), Point(np.zeros(2), np.array([2.0, -1.0]), np.zeros(0)))
    object.__setattr__(claim, "about", About("empty", {}))
    return proof_file(Header("model", "empty", {}, DATA, "none"), [claim])


def _of_fit(label, params):
    return exactly(fsopt.fit(label.split()[0], DATA, **params), DATA).proof()


MAKERS = {
    **{label: partial(_of_fit, label, params) for label, params in FITS.items()},
    **{slug: partial(_of_built, slug, params) for slug, params in MODELS.items()},
    **{kind: partial(_tree, kind, seed) for kind, seed in TREES.items()},
    "vertex": lambda: _of_model("vertex", _vertex(), {}),
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


def number(value, rng):
    """Return another number: one unit in the last place away, or far."""
    if isinstance(value, int):
        return rng.choice((value + 1, value - 1, -value, value + 2, 0, float(value) if abs(value) < 2**53 else 1.5))
    if isinstance(value, float):
        near = (nextafter(value, np.inf), nextafter(value, -np.inf))
        return rng.choice((*near, value * (1 + 1e-9), -value, value + 1.0, value - 1.0, 0, 1.5 * value, value / 2))
    exact = decoded(value)
    tiny = Fraction(1, exact.denominator * 2)
    found = rng.choice((exact + tiny, exact - tiny, -exact, exact * 2, Fraction(nextafter(float(exact), np.inf))))
    return f"{found.numerator:x}/{found.denominator:x}"


def change_number(proof, rng):
    """Change one number."""
    paths = [p for p in places(proof) if _is_number(at(proof, p))]
    path = rng.choice(paths)
    at(proof, path[:-1])[path[-1]] = number(at(proof, path), rng)


def change_few(proof, rng):
    """Change one number of a part that has few of them: claims, slopes, multipliers, trees."""
    groups = {}
    for path in places(proof):
        if _is_number(at(proof, path)):
            groups.setdefault(tuple(k for k in path if isinstance(k, str)), []).append(path)
    path = rng.choice(groups[rng.choice(list(groups))])
    at(proof, path[:-1])[path[-1]] = number(at(proof, path), rng)


def _is_number(value):
    return (isinstance(value, (int, float)) and not isinstance(value, bool)) or (
        isinstance(value, str) and "/" in value
    )


def change_word(proof, rng):
    """Change one word to another one."""
    paths = [p for p in places(proof) if isinstance(at(proof, p), str) and "/" not in at(proof, p)]
    path = rng.choice(paths)
    at(proof, path[:-1])[path[-1]] = rng.choice((*WORDS, *SLUGS, *KINDS))


def change_type(proof, rng):
    """Put a value of another kind in a place."""
    path = rng.choice(list(places(proof)))
    at(proof, path[:-1])[path[-1]] = rng.choice(OTHERS)


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


def split(proof, rng):
    """Split a term in two halves: of a form, a row, the concave part, a quadratic part with its point."""
    part = rng.choice(proof["proof"])
    kinds = [k for k in ("slopes", "program") if part.get(k)]
    if not kinds:
        return drop(proof, rng)
    if rng.choice(kinds) == "slopes":
        f, k, columns = part["slopes"].pop(rng.randrange(len(part["slopes"])))
        part["slopes"] += [[encoded(decoded(f) / 2), k, columns], [encoded(decoded(f) / 2), k, list(columns)]]
        return None
    program = part["program"]
    if program["quadratic"] and rng.random() < 0.5:
        spot = rng.randrange(len(program["quadratic"]))
        j, v = program["quadratic"][spot]
        program["quadratic"].append([j, v])
        if part.get("dual"):
            part["dual"]["curve"].append(part["dual"]["curve"][spot])
    elif program["rows"]:
        row = rng.choice(program["rows"])
        if row[0]:
            spot = rng.randrange(len(row[0]))
            row[1][spot] = encoded(decoded(row[1][spot]) / 2)
            row[0].append(row[0][spot])
            row[1].append(row[1][spot])
    return None


def known(proof, rng):
    """Mark a leaf as a known selection, with or without an entry of it in the statement."""
    trees = [k for k, part in enumerate(proof["proof"]) if part["kind"] == "selection"]
    if not trees:
        return change_few(proof, rng)
    k = rng.choice(trees)
    tree, claim = proof["proof"][k]["tree"], proof["statement"]["claims"][k]
    spot = rng.randrange(len(tree))
    tree[spot] = rng.choice((["known", len(claim["left_out"])], ["known", 0], ["known"], ["empty"], ["leaf", 0]))
    if rng.random() < 0.6:
        p = len(proof["proof"][k]["problem"]["columns"])
        claim["left_out"].append(sorted(rng.sample(range(p), rng.randrange(p + 1))))
    if rng.random() < 0.5:
        claim |= {"status": "bounded", "upper": None, "gap": None}
    return None


def rename(proof, rng):
    """Give the statement the name of another method, and its claims another program."""
    proof["statement"]["name"] = rng.choice((*SLUGS, "fsv", "gmeb", "l1-mpm", "alternatives"))
    if rng.random() < 0.7:
        for claim in proof["statement"]["claims"]:
            claim["program"] = rng.choice((*SLUGS, "fsv-step", "gmeb-primal"))


def parameter(proof, rng):
    """Change a parameter in the statement and in its claims alike, and perhaps in the program."""
    names = [k for k, v in proof["statement"]["claims"][0]["parameters"].items() if _is_number(v)]
    if not names:
        return change_word(proof, rng)
    name = rng.choice(names)
    value = number(proof["statement"]["claims"][0]["parameters"][name], rng)
    old = proof["statement"]["claims"][0]["parameters"][name]
    for claim in proof["statement"]["claims"]:
        if name in claim["parameters"]:
            claim["parameters"][name] = value
    if name in proof["statement"]["parameters"]:
        proof["statement"]["parameters"][name] = value
    if rng.random() < 0.6:
        for part in proof["proof"]:
            for path in places(part):
                if _is_number(at(part, path)) and at(part, path) == old and rng.random() < 0.9:
                    at(part, path[:-1])[path[-1]] = value
    return None


def scale(proof, rng):
    """Multiply all multipliers of a proof by one number."""
    part = rng.choice(proof["proof"])
    factor = Fraction(rng.choice((2.0, 0.5, -1.0, 1.0 + 2.0**-40)))
    lists = [part["dual"][k] for k in ("rows", "curve")] if part.get("dual") else part.get("mu", [])
    for held in lists:
        held[:] = [encoded(decoded(v) * factor) for v in held]


CHANGES = {
    f.__name__: f
    for f in (
        change_number,
        change_few,
        change_word,
        change_type,
        duplicate,
        drop,
        permute,
        split,
        known,
        rename,
        parameter,
        scale,
    )
}


def tightened(proof, rng):
    """Claim what the evidence of a changed proof shows, as sharp as the checker finds it: the strongest attack."""
    for claim, part in zip(proof["statement"]["claims"], proof["proof"], strict=False):
        verify.Work.left = verify.MOST_WORK
        below, above = ends({**part, "claim": claim})
        if below is not None and above is not None and claim["gap"] is not None and below <= above:
            claim["gap"] = encoded(relative_width(below, above))
        if claim["sense"] == "max":
            below, above = (None if v is None else -v for v in (above, below))
        if claim["lower"] is not None and below is not None:
            claim["lower"] = encoded(below)
        if claim["upper"] is not None and above is not None:
            claim["upper"] = encoded(above)


def forged(seed):
    """Return the name of a base, the kinds of changes, and the changed proof of a seed."""
    rng = random.Random(seed)
    name = rng.choice(list(MAKERS))
    proof = copy.deepcopy(base(name))
    kinds = [rng.choice(list(CHANGES)) for _ in range(rng.choice((1, 1, 2)))]
    kinds += ["tightened"] if rng.random() < 0.5 else []
    for kind in kinds:
        try:
            {**CHANGES, "tightened": tightened}[kind](proof, rng)
        except Exception:  # whatever a change before this one did: there is no place for it
            break
    return name, kinds, proof
