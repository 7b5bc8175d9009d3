"""Honest proofs of every kind on tiny problems, and what is changed of a proof beside the parts of any JSON.

The digest of a changed program is renewed, and most changed proofs claim what their evidence shows, as sharp as the
checker finds it: what is refused is refused for its mathematics.
"""

import copy
import json
from dataclasses import replace
from functools import cache, partial

import numpy as np
import pyomo.environ as pyo
from forgery.engine import changed, one
from pyomo_models import model_of
from support import blobs

import fsopt
from fsopt.answers.records import sealed
from fsopt.answers.saved import solve_record
from fsopt.verification.verify import verify_record
from fsopt.verifier import verify
from fsopt.verifier.rationals import number, written

DATA, OTHER = (blobs(n=8, p=3, seed=seed, gap=0.4) for seed in (5, 6))
FITS = {
    "svm": {},
    "onsvm": {},
    "rsvm": {},
    "gmeb": {},
    "s-mpm": {},
    "l1-mpm": {},
    "l0-mpm": {},
    "fsv": {"lam": 0.3},
    "best-subset": {"m": 1},
    "best-subset rules": {"m": 2, "implies": [[0, 2]], "conflicts": [[1, 2]]},
    "best-subset-penalised": {"lam": 0.5},
    "best-subset squared": {"m": 1, "loss": "squared-hinge"},
    "best-subset logistic": {"m": 2, "loss": "logistic", "lower": {0: -0.1}, "upper": {0: 0.1}, "negative": [1]},
    "best-subset groups": {"m": 1, "groups": [[0, 2]], "positive": [0], "upper": {1: 0.25}},
    "rfe": {},
}
MODELS = {"gmeb-sdp": {}, "misclass-milp": {"big_m": 100.0}, "gmeb-dual": {}}
OF_DATA = (*FITS, *MODELS, "alternatives", "all alternatives", "path", "necessity")
"""Proofs whose programs are those of data."""


def _of_answer(answer):
    return fsopt.verify(answer, DATA, exact=True).proof()


def _of_fit(label, params):
    return _of_answer(fsopt.fit(label.split()[0], DATA, **params))


def _of_builder(slug, params):
    model = fsopt.build(slug, DATA, **params)
    record = solve_record(model, fsopt.solve(model), slug=slug, data=DATA, source="d", params=params)
    saved = json.loads(json.dumps(sealed(record | {"scale": "none"})))
    return verify_record(saved, DATA, "saved", exact=True).proof()


def _of_model(model, value=False):
    result = fsopt.solve(model)
    if value:
        point = replace(result.point, y=None, z=None)
        result = replace(result, status=fsopt.Status.FEASIBLE, bound=None, point=point, evidence=None)
    return fsopt.verify(result, model, exact=True).proof()


def _vertex(sense=pyo.minimize):
    rows = (lambda x, y: 3 * x + y >= 1), (lambda x, y: x + 3 * y >= 1)
    return model_of(lambda x, y: sense * (x + y), *rows, bounds=[(0, None)] * 2, sense=sense)


def _square():
    """A convex quadratic program whose matrix is singular, of numbers that are no short binary fractions."""
    a, b = 0.1, 0.3
    squares = lambda x, y: a * a * x**2 + 2 * a * b * x * y + b * b * y**2 - 0.7 * y  # noqa: E731
    return model_of(squares, lambda x, y: x + 2 * y == 1, bounds=[(-1, 2)] * 2)


def _infeasible():
    rows = (lambda x, y: 0.1 * x + 0.3 * y >= 1), (lambda x, y: 0.2 * x + 0.6 * y <= 1)
    return model_of(lambda x, y: x, *rows, bounds=[(None, None)] * 2)


MAKERS = {
    **{label: partial(_of_fit, label, params) for label, params in FITS.items()},
    **{slug: partial(_of_builder, slug, params) for slug, params in MODELS.items()},
    "vertex": lambda: _of_model(_vertex()),
    "maximum": lambda: _of_model(_vertex(pyo.maximize)),
    "value of a maximum": lambda: _of_model(_vertex(pyo.maximize), value=True),
    "square": lambda: _of_model(_square()),
    "no point": lambda: _of_model(_infeasible()),
    "alternatives": lambda: _of_answer(fsopt.alternatives(DATA, 2, within=0.5, count=2)),
    "all alternatives": lambda: _of_answer(fsopt.alternatives(DATA, 1, within=1e9)),
    "path": lambda: _of_answer(fsopt.selection_path(DATA, m=[1], c=[0.5, 1.0])),
    "necessity": lambda: _of_answer(fsopt.necessity(DATA, 1)),
}
"""Name -> function that returns an honest proof file."""


@cache
def base(name):
    """Return an honest proof file."""
    return MAKERS[name]()


def split(proof, rng, other):
    """Split a term in two halves: of a concave part, a row, or a square."""
    program = one(proof["claims"], rng)["program"]
    kind = one([k for k in ("concave", "rows", "quadratic") if program.get(k)], rng)
    spot = int(rng.integers(len(program[kind])))
    term = program[kind][spot]
    if kind == "rows":
        place = int(rng.integers(len(term[0])))
        term[1][place] = written(number(term[1][place]) / 2)
        term[0].append(term[0][place])
        term[1].append(term[1][place])
    else:
        value = 0 if kind == "concave" else 2
        term[value] = written(number(term[value]) / 2)
        program[kind].insert(spot, copy.deepcopy(term))


def known(proof, rng, other):
    """Mark a leaf as a known selection, with or without an entry of it in the statement."""
    claim = one([claim for claim in proof["claims"] if "loss" in claim["program"]], rng)
    tree, statement, p = claim["evidence"]["tree"], claim["statement"], len(claim["program"]["lam"])
    tree[rng.integers(len(tree))] = one((["known"], ["known"], ["known"], ["empty"], ["leaf", 0]), rng)
    if rng.random() < 0.6:
        statement["left_out"].append(sorted(rng.permutation(p)[: rng.integers(p + 1)].tolist()))
    if rng.random() < 0.5:
        claim["evidence"]["point"] = None
        statement |= {"status": "bounded", "upper": None}


CHANGES = {f.__name__: f for f in (split, known)}


def forged(seed):
    """Return the name of a base, the kinds of changes, and the changed proof of a seed."""
    rng = np.random.default_rng([9, seed])
    name = one(list(MAKERS), rng)
    kinds, proof = changed(base(name), rng, base(one(list(MAKERS), rng)), CHANGES)
    for chance, kind in ((0.9, renewed), (0.6, tightened)):
        if rng.random() < chance:
            try:
                kind(proof)
            except Exception:
                continue
            kinds.append(kind.__name__)
    return name, kinds, proof


def renewed(proof):
    """Renew the digests of the programs."""
    for claim in proof["claims"]:
        claim["statement"]["program"] = verify.digest(claim["program"])


def tightened(proof):
    """State what the evidence of a changed proof shows, as the checker finds it: the strongest attack."""
    for claim in proof["claims"]:
        claim["statement"] |= verify.statement(claim["program"], claim["evidence"])
