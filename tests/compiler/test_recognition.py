"""Cones recognised from quadratic constraints have the same members; every other constraint is refused by name."""

import itertools
from itertools import pairwise

import numpy as np
import pyomo.environ as pyo
import pytest
from pyomo_models import FREE, POSITIVE, missed, model_of
from support import sampled

import fsopt
from fsopt.compiler import compile_model, dot, recognition

BOUNDS = [*[FREE] * 3, POSITIVE, POSITIVE, (None, 0), (-0.5, None)]
SHAPES = {  # a body that is at most 0, of a norm of w, numbers a and b, and w, s, t >= 0, n <= 0 and p >= -1/2
    "ball": lambda norm, a, b, w, s, t, n, p: norm - a,
    "parabola": lambda norm, a, b, w, s, t, n, p: norm - s + b * w + a,
    "lorentz": lambda norm, a, b, w, s, t, n, p: norm - a * s**2,
    "rotated": lambda norm, a, b, w, s, t, n, p: norm - a * s * t,
    "negative": lambda norm, a, b, w, s, t, n, p: norm + a * s * n,
    "forms": lambda norm, a, b, w, s, t, n, p: norm - (a * s + b * t) * (b * s - a * n),
    "product": lambda norm, a, b, w, s, t, n, p: a - s * t,
    "bounded product": lambda norm, a, b, w, s, t, n, p: norm + a - b * s * t,
    "affine": lambda norm, a, b, w, s, t, n, p: norm - (s + a) * (b * p + b),
    "affine product": lambda norm, a, b, w, s, t, n, p: norm + a - (s - b * n + b) * (p + 0.5),
    "far head": lambda norm, a, b, w, s, t, n, p: norm + a - s**2,
}


def quadratic_model(rng, shape, side, unit):
    """Return a model whose only constraint is one random convex quadratic of the given shape."""
    factors, (a, b) = rng.standard_normal((2, 3)) * unit, rng.uniform(0.2, 3, 2).tolist()

    def row(*x):
        body = SHAPES[shape](sum(dot(factor, x[:3]) ** 2 for factor in factors), a, b, x[0], *x[3:])
        return body <= 0 if side == "<=" else -body >= 0

    return model_of(lambda *x: x[0], row, bounds=BOUNDS)


@pytest.mark.parametrize(
    ("shape", "side", "unit"), sampled(itertools.product(SHAPES, ["<=", ">="], [1e-4, 1.0]), 2 * len(SHAPES), 0)
)
def test_convex_quadratics_become_cones_with_the_same_members(shape, side, unit):
    rng = np.random.default_rng(7)
    m = quadratic_model(rng, shape, side, unit)
    p = compile_model(m)
    assert (p.nonconic, len(p.cones)) == ([], 1)
    kinds = set()
    for _ in range(200):
        at = np.concatenate([rng.standard_normal(3) / unit * 10 ** rng.uniform(-2, 1), rng.exponential(1, 4)])
        at[5] *= -1
        at[6] -= 0.5
        for v, a in zip(p.variables, at.tolist(), strict=True):
            v.set_value(a)
        q = -m.row[0].slack()
        s = p.cones.G @ at + p.cones.h
        if abs(q) > 1e-7 * max(1.0, float(s @ s)):
            kinds.add(bool(missed(p.cones, s)[0] == 0))
            assert (missed(p.cones, s)[0] == 0) == (q <= 0), at
            form = p.cones.scale[0] * (s[1:] @ s[1:] - s[0] ** 2)
            assert form == pytest.approx(q, rel=1e-9, abs=1e-9 * float(s @ s))
    assert kinds == {True, False}


@pytest.mark.parametrize("unit", [1e-8, 1.0, 1e6])
@pytest.mark.parametrize(("product", "convex"), [(3.0, False), (2.0 + 2.0**-47, False), (2.0, True), (1.0, True)])
def test_no_unit_of_a_variable_changes_a_sign(unit, product, convex):
    """u^2 + product uv + v^2 is a sum of squares up to the product 2, in the objective and in a constraint."""
    m = model_of(
        lambda x, y: (unit * x) ** 2 + product * x * y + (y / unit) ** 2,
        lambda x, y: (unit * x) ** 2 + product * x * y + (y / unit) ** 2 <= 1,
        bounds=[FREE] * 2,
    )
    program = compile_model(m)
    assert (program.convex_objective, program.nonconic == []) == (convex, convex)


@pytest.mark.parametrize("delta", [1e-7, 1e-10, 1e-13])
def test_a_nearly_flat_direction_keeps_its_digits(delta):
    """q = u^2 + (2 - delta) uv + v^2 is delta u^2 at v = -u."""
    q = 2.0 - delta
    rows = (lambda u, v, w: u**2 + q * u * v + v**2 <= w), lambda u, v, w: w <= 1
    result = fsopt.solve(model_of(lambda u, v, w: u - v, *rows, bounds=[FREE] * 3), "clarabel")
    assert (result.status, result.objective) == ("optimal", pytest.approx(-2 / np.sqrt(2.0 - q), rel=1e-6))


@pytest.mark.parametrize(("place", "rest"), [(1e5, 2.0**-14), (1e7, 1.0)])
def test_a_hyperbola_far_from_the_origin_keeps_what_is_left_of_its_constant(place, rest):
    """(x - P) (y - P) >= r, written out."""
    row = lambda x, y: x * y - place * x - place * y >= rest - place**2  # noqa: E731
    cones = compile_model(model_of(lambda x, y: x, row, bounds=[(place, None)] * 2)).cones
    assert cones.h[-1] == pytest.approx(np.sqrt(rest), rel=1e-12)


def test_products_of_a_matrix_without_full_rank_are_convex_in_every_unit():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((400, 4)) @ rng.standard_normal((4, 9)) * 10.0 ** rng.uniform(-8, 8, 9)
    program = compile_model(model_of(lambda *x: sum(dot(row, x) ** 2 for row in X), bounds=[FREE] * 9))
    assert program.convex_objective
    cone = model_of(lambda *x: x[0], lambda *x: sum(dot(row, x) ** 2 for row in X) <= 1, bounds=[FREE] * 9)
    assert np.diff(compile_model(cone).cones.starts).tolist() == [1 + 4]


REFUSED = [
    (lambda m: m.x * m.y <= 1, "not convex"),
    (lambda m: m.x**2 >= 1, "not convex"),
    (lambda m: m.x**2 + m.y**2 == 1, "equation or range"),
    (lambda m: m.x**2 <= m.f * m.y, "bounds"),
    (lambda m: m.x * m.y * m.f <= 1, "not quadratic"),
    (lambda m: pyo.exp(m.x) <= 1, "not quadratic"),
    (lambda m: m.x**2 + m.f**2 <= m.y**2 + m.x, "linear terms"),
]


@pytest.mark.parametrize(("make", "reason"), REFUSED)
def test_what_is_no_cone_is_refused_by_name_with_a_reason(make, reason):
    m = pyo.ConcreteModel()
    m.x, m.f = pyo.Var(), pyo.Var()
    m.y = pyo.Var(bounds=(0, None))
    m.guilty = pyo.Constraint(expr=make(m))
    m.o = pyo.Objective(expr=m.x)
    [(name, why)] = compile_model(m).nonconic
    assert (name, reason in why) == ("guilty", True)
    with pytest.raises(fsopt.FsoptError, match="guilty"):
        fsopt.solve(m, "clarabel")


def squares(x):
    return sum((1.0 + i) * v**2 for i, v in enumerate(x)) + 0.5 * x[3] ** 2


@pytest.mark.parametrize(
    "row",
    [lambda t, *x: squares(x) <= 3.0, lambda t, *x: squares(x) <= 2.0 * t**2, lambda t, *x: -squares(x) >= -3.0],
    ids=["ball", "cone", "lower bound"],
)
def test_a_large_sum_of_squares_is_the_cone_of_its_matrix(row, monkeypatch):
    m = model_of(lambda t, *x: t, row, lambda t, *x: x[0] ** 2 <= t, bounds=[POSITIVE, *[FREE] * 7])
    dense = compile_model(m).cones
    monkeypatch.setattr(recognition, "LARGE", 5)
    sparse = compile_model(m).cones
    assert (sparse.starts == dense.starts).all()
    for name in ("h", "pairs", "scale", "sense"):
        assert np.allclose(getattr(sparse, name), getattr(dense, name)), name
    for first, last in pairwise(dense.starts):
        # The rows behind the head may be in another order, and with another sign.
        blocks = (cones.G[first:last].toarray() for cones in (sparse, dense))
        assert np.allclose(*(block[0:1].T @ block[0:1] - block[1:].T @ block[1:] for block in blocks), atol=1e-12)


def test_a_ball_of_many_variables_needs_no_matrix_of_their_products():
    m = model_of(lambda *x: x[0], lambda *x: sum(v**2 for v in x) <= 1.0, bounds=[FREE] * 20_000)
    assert compile_model(m).cones.G.nnz == 20_000


@pytest.mark.parametrize("least", [0.0, -1.0])
def test_a_product_bounded_below_is_a_cone_only_where_the_bounds_say_so(least):
    """x y >= 4 with x + y >= 0: the other branch has x, y < 0."""
    m = model_of(lambda x, y: x + y, lambda x, y: x * y >= 4, bounds=[(least, None), POSITIVE])
    assert fsopt.classify(m) == ("SOCP" if least == 0.0 else "NLP")
    for solver in ("clarabel", "scs") if least == 0.0 else ():
        result = fsopt.solve(m, solver)
        assert (result.status, m.dual[m.row[0]]) == ("optimal", pytest.approx(0.5, rel=1e-4))
        assert result.objective == pytest.approx(4.0, rel=1e-6)


@pytest.mark.parametrize("solver", ["clarabel", "scs"])
def test_a_sum_of_squares_below_a_negative_number_is_infeasible_with_a_certificate(solver):
    m = model_of(lambda x, y: x, lambda x, y: x**2 + y**2 <= -1, bounds=[FREE] * 2)
    result = fsopt.solve(m, solver)
    assert (result.status, result.certificate.ok) == ("infeasible", True)
