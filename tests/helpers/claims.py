"""Claims about small programs: of solvers, held against the exact optimum, and false ones that are planted."""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from small_programs import Change, Small, build, changed

import fsopt
from fsopt.answers.results import Point
from fsopt.compiler import compile_model
from fsopt.errors import SolverError

WITHIN = 1e-6
"""Largest difference of a claimed optimum from the exact one, relative to the larger of 1 and the exact one."""
CLAIMS = ("optimal", "infeasible", "unbounded")
OPTIMAL = ("convex", "mixed-integer", "global")
"""The kinds of certificates of an optimum."""


def solved(program: Small, solver: str, model=None) -> fsopt.SolveResult | None:
    """Return the answer of a solver; None where it does not take the class."""
    if program.kind not in fsopt.SOLVERS[solver].classes:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return fsopt.solve(model or build(program), solver, time_limit=20)
    except SolverError:
        return None


def near(program: Small, value: float | None, within: float = WITHIN) -> bool:
    """Return whether a value of the model's own sense is the exact optimum."""
    truths = [truth for truth in (program.truth, program.also) if not isinstance(truth, str)]
    return value is not None and any(abs(program.sense * value - v) <= within * max(1.0, abs(v)) for v in truths)


def contradiction(program: Small, result: fsopt.SolveResult) -> str:
    """Return what the exact optimum says against a claim, empty where nothing is claimed or the claim is right."""
    if result.status not in CLAIMS or result.status in (program.truth, program.also):
        return ""
    kind = result.certificate and result.certificate.kind
    said = f"{result.status} {result.objective}, bound {result.bound}, {kind}; the minimum is {program.truth}"
    if result.status != "optimal" or not near(program, result.objective):
        return said
    beyond = 0.0 if result.bound is None else program.sense * (result.bound - result.objective)
    return said if beyond > WITHIN * max(1.0, abs(result.objective)) else ""


def unproved(program: Small, result: fsopt.SolveResult) -> bool:
    """Return whether an answer has the right value, or no value for a program without one, and claims nothing."""
    without = isinstance(program.truth, str) and result.objective is None
    return result.status not in CLAIMS and (without or near(program, result.objective))


def carried(result: fsopt.SolveResult, change: Change, model) -> fsopt.SolveResult:
    """Return an answer to a program as an answer to its exact rescaling, whose model is given."""
    program = compile_model(model)
    columns = [change.columns[v.index()] if v.parent_component() is model.x else 1.0 for v in program.variables]
    rows = [change.rows[r.index()] if r.parent_component() is model.row else 1.0 for r in program.constraints]

    def moved(point: Point | None) -> Point | None:
        if point is None:
            return None
        return Point(point.x / columns, None if point.y is None else point.y / rows, point.z)

    parts = {name: moved(getattr(result, name)) for name in ("point", "evidence", "ray", "direction")}
    return replace(result, **parts, constraint_duals=())


def verdict(certificate) -> tuple[str, bool]:
    return str(certificate.kind), certificate.ok


@dataclass(frozen=True)
class Planted:
    """A false claim: what it is, the model, and the result that states it."""

    kind: str
    model: object
    result: fsopt.SolveResult

    @property
    def accepted(self) -> bool:
        """Whether the certificate confirms the claim."""
        found = fsopt.certify(self.model, self.result)
        wanted = OPTIMAL if self.result.status == "optimal" else (str(self.result.status),)
        return found.ok and str(found.kind) in wanted


def stated(model, *, x=None, y=None, z=None, ray=None, direction=None, bound=None) -> fsopt.SolveResult:
    """Return the claim that x is optimal, ``ray`` proves infeasibility, or the objective falls along ``direction``."""
    program = compile_model(model)
    y = np.zeros(len(program.lo)) if y is None else y
    z = np.zeros(len(program.cones.h)) if z is None else z
    status, point = fsopt.Status.OPTIMAL, None if x is None else Point(x, y, z)
    value = None if x is None else program.objective_at(x)
    parts = {"point": point, "objective": value, "bound": value if bound is None else bound}
    if ray is not None:
        status, parts = fsopt.Status.INFEASIBLE, {"ray": Point(np.zeros(program.n), ray, z)}
    elif direction is not None:
        status, parts = fsopt.Status.UNBOUNDED, {"direction": Point(direction), "evidence": point}
    return fsopt.SolveResult(status, **{"objective": None, "bound": None} | parts, **_REST)


_REST = {"stop": "optimal", "solver": "clarabel", "seconds": {}, "iterations": 0}


def ordered(model, x, rows) -> tuple[np.ndarray, np.ndarray]:
    """Return values of the variables x and of the constraints ``row`` in the order of the compiled program."""
    program = compile_model(model)
    return np.array([x[v.index()] for v in program.variables]), np.array([rows[r.index()] for r in program.constraints])


def planted(program: Small, rng) -> Iterator[Planted]:
    """Yield false claims about a program with an optimum, made of right answers to it and to others."""
    model = build(program)
    right = solved(program, _solver(program), model)
    if right is None or not near(program, right.objective, 1e-4) or right.point is None:
        return
    true = right.supported if right.supported.y is not None else right.point
    others = [w for w in map(_point, _relatives(program, rng)) if w is not None]
    discrete = program.integer.any()
    arrays = compile_model(model)
    bound = arrays.objective_at(true.x) if discrete else None  # a solver's word, so it has to be right
    claims = [("zero point", stated(model, x=np.clip(np.zeros(arrays.n), arrays.lb, arrays.ub), bound=bound))]
    for w in others:
        claims += list(_wrong_optima(model, true, w, rng, bound))
    if not discrete:
        claims += [("Farkas", stated(model, ray=y, z=z)) for y, z in _farkas(program, true, others, rng)]
        claims += [("ray", stated(model, x=true.x, direction=d)) for d in _rays(model, true, others)]
    yield from (Planted(kind, model, c) for kind, c in claims if c.status != "optimal" or _false(program, model, c))


def _solver(program: Small) -> str:
    return {"LP": "highs", "MILP": "highs", "MIQP": "scip"}.get(program.kind, "clarabel")


def _relatives(program: Small, rng) -> Iterator[Small]:
    """Yield programs with the same feasible set and other costs."""
    for c in (-program.c, rng.integers(-6, 7, program.n) * np.maximum(np.abs(program.c), 0.5)):
        yield changed(program, c=c, P=program.P if program.kind == "MIQP" else 0 * program.P)


def _point(program: Small) -> Point | None:
    result = solved(replace(program, kind="LP" if program.kind == "QP" else program.kind), _solver(program))
    return result.supported if result is not None and result.status == "optimal" else None


def _wrong_optima(model, true: Point, w: Point, rng, bound) -> Iterator[tuple[str, fsopt.SolveResult]]:
    """Yield another vertex with several multipliers, and small steps towards it."""
    if bound is not None:
        yield "vertex", stated(model, x=w.x, bound=bound)
    elif true.y is not None and w.y is not None:
        multipliers = {"own": w.y, "true": true.y, "swapped": rng.permutation(true.y), "negated": -w.y, "no": 0 * w.y}
        for name, y in multipliers.items():
            yield f"vertex, {name} multipliers", stated(model, x=w.x, y=y, z=w.z if name == "own" else true.z)
    best = compile_model(model).objective_at(true.x)
    far = abs(compile_model(model).objective_at(w.x) - best)
    for size in (1e-4, 1e-2):
        if far > size * max(1.0, abs(best)):
            share = size * max(1.0, abs(best)) / far
            x = true.x + share * (w.x - true.x)
            yield f"step {size:g}", stated(model, x=x, y=true.y, z=true.z, bound=bound)


def _farkas(program: Small, true: Point, others, rng) -> Iterator[tuple[np.ndarray, np.ndarray | None]]:
    """Yield multipliers, random ones, and the Farkas vector of a program with other right-hand sides."""
    if true.y is None:
        return
    yield true.y, true.z
    yield rng.permutation(true.y), true.z
    yield rng.normal(size=len(true.y)), true.z
    yield from ((w.y, w.z) for w in others if w.y is not None)
    away = rng.choice([-40.0, 40.0], len(program.lo))
    other = solved(changed(program, lo=program.lo + away, hi=program.hi + away), _solver(program))
    if other is not None and other.ray is not None:
        yield other.ray.y, other.ray.z


def _rays(model, true: Point, others) -> Iterator[np.ndarray]:
    """Yield the steps between two vertices and the negative gradient."""
    program = compile_model(model)
    yield -(program.P @ true.x + program.c)
    for w in others:
        yield w.x - true.x
        yield true.x - w.x


def _false(program: Small, model, claim: fsopt.SolveResult) -> bool:
    """Return whether a stated optimum has another value, or violates a row by 1e-6 and by 1e-5 of its terms."""
    arrays, x = compile_model(model), claim.point.x
    row, terms = arrays.A @ x, abs(arrays.A) @ np.abs(x)
    violated = any(
        (gap > 1e-6) & (gap > 1e-5 * (size + abs(side)))
        for sides, gaps in ((arrays.lo, arrays.lo - row), (arrays.hi, row - arrays.hi))
        for side, gap, size in zip(sides, gaps, terms, strict=True)
    )
    fraction = np.abs(x - np.round(x))[arrays.integer].max(initial=0.0)
    return violated or fraction > 1e-3 or not near(program, claim.objective, 2e-6)
