"""Penalties are their definitions, and the certificate holds for each at optima and nowhere else."""

import numpy as np
import pytest
from support import blobs

import fsopt
from fsopt.data import Dataset
from fsopt.linear.certificate import certify
from fsopt.linear.interior_point import minimise
from fsopt.linear.penalties import SQUARES, Ball, Euclid, Norm, OneNorm, Squares, capped

RNG = np.random.default_rng(0)
COSTS = np.array([0.5, 2.0, 1.0, 3.0])
PENALTIES = {
    "squares": SQUARES,
    "length": Norm(Euclid(), 0.5),
    "one-norm": Norm(OneNorm(COSTS), 2.0),
    "ball": Ball(Euclid(), 1.5),
}
POINTS = RNG.standard_normal((400, 4)) * RNG.uniform(0.01, 4.0, (400, 1))


@pytest.mark.parametrize("name", PENALTIES)
def test_conjugates_are_those_of_the_definition(name):
    penalty = PENALTIES[name]
    inside = POINTS[[not any(v > 0.0 for v in penalty.violations(w).values()) for w in POINTS]]
    values = np.array([penalty.value(w) for w in inside])
    for q in POINTS[:20]:
        conjugate, factor = penalty.conjugate(q)
        assert 0.0 < factor <= 1.0
        assert (factor * inside @ q - values).max() <= conjugate + 1e-9
        best = {"squares": q, "ball": 1.5 * q / np.linalg.norm(q)}.get(name, np.zeros(4))
        assert factor * best @ q - penalty.value(best) == pytest.approx(conjugate, abs=1e-9)


def test_a_gram_matrix_has_the_certificate_of_its_samples():
    data = blobs(30, 4, gap=0.5)
    centred = Dataset(data.X - data.X.mean(axis=0), data.y)
    gram = Dataset(centred.X @ centred.X.T, data.y)
    for penalty, of_gram, c in ((SQUARES, Squares(gram.X), 2.0), (capped(0.7), capped(0.7, gram.X), 1.0)):
        at = minimise(centred, penalty, c=c).point
        beta = np.linalg.lstsq(centred.X.T, at["w"], rcond=None)[0]
        one = certify(centred, penalty, c, at["w"], at["b"], at["alpha"])
        other = certify(gram, of_gram, c, beta, at["b"], at["alpha"], gram=True)
        assert one.ok
        assert (other.objective, other.bound) == pytest.approx((one.objective, one.bound), rel=1e-9)


def test_the_one_norm_is_certified_by_the_multipliers_of_its_model():
    data = blobs(30, 4, gap=0.5)
    model = fsopt.build("onsvm", data, c=0.5)
    result = fsopt.solve(model, "highs")
    w = np.array([model.w[j].value for j in model.w])
    alpha = np.abs([result.point.y[k] for k in fsopt.Session(model, "highs").rows(model.margin)])
    found = certify(data, Norm(OneNorm()), 0.5, w, model.b.value, alpha)
    assert found.ok
    assert found.bound == pytest.approx(result.objective, rel=1e-9)
    assert not certify(data, Norm(OneNorm()), 0.5, w + 0.01, model.b.value, alpha).ok
    assert not certify(data, Norm(OneNorm()), 0.5, w, model.b.value, 0.99 * alpha).ok
