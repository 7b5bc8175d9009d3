"""Drivers refuse models of other data, weights, norms or objectives than they are told: their bounds would be false."""

import numpy as np
import pytest
from support import blobs

import fsopt
from fsopt.answers.results import Status
from fsopt.drivers.baselines import partitions
from fsopt.drivers.gbd.driver import gbd
from fsopt.drivers.scale_search import scale_search
from fsopt.drivers.theta_cuts import theta_cuts
from fsopt.errors import ParameterError
from fsopt.models.gmeb.gmeb_penalised import GmebPenalty
from fsopt.models.gmeb.norm import GmebNorm

DATA = blobs(24, 4, seed=1)
OTHERS = {
    "values": DATA.with_X(DATA.X * 1.001),
    "labels": fsopt.Dataset(DATA.X, -DATA.y),
    "samples": DATA.rows(np.arange(20)),
    "features": DATA.columns(np.arange(3)),
}
C = 2.0


def sub(data=DATA, c=C):
    return fsopt.build("fsp-sub", data, c=c)


def run_gbd(data, model, c=C):
    return gbd(data, fsopt.build("fsp-master", data, m=2), model, c=c)


def run_theta_cuts(data, model, radii=(3.0, 3.0)):
    return theta_cuts(data, model, GmebNorm.of(data, *radii))


def run_scale_search(data, model):
    return scale_search(data, model, GmebPenalty.of(data, 0.2, 0.2))


RUNS = {
    "gbd": (run_gbd, sub),
    "theta_cuts": (run_theta_cuts, lambda data=DATA: fsopt.build("gmeb-cuts", data)),
    "scale_search": (run_scale_search, lambda data=DATA: fsopt.build("gmeb-weighted-l1", data)),
}


@pytest.mark.parametrize("driver", RUNS)
def test_a_model_of_other_data_is_refused(driver):
    run, build = RUNS[driver]
    for other in OTHERS:
        with pytest.raises(ParameterError, match=f"given to '{driver}'") as caught:
            run(DATA, build(OTHERS[other]))
        assert "data set that the driver is given" in caught.value.hint


@pytest.mark.parametrize(
    "objective",
    [
        lambda m: m.objective.expr + m.b,
        lambda m: m.objective.expr + m.b**2,
        lambda m: 2.0 * m.objective.expr,
        lambda m: m.objective.expr + 1.0,
    ],
    ids=["term", "square", "weight", "constant"],
)
def test_a_subproblem_with_another_objective_is_refused(objective):
    model = sub()
    model.objective.set_value(objective(model))
    with pytest.raises(ParameterError, match=r"is not 1/2 u'u \+ 2 e'xi"):
        run_gbd(DATA, model)
    with pytest.raises(ParameterError, match=r"is not 1/2 u'u \+ 4 e'xi"):
        run_gbd(DATA, sub(), c=4.0)


def test_a_master_of_other_features_is_refused():
    with pytest.raises(ParameterError, match="has 3 features, the data 4"):
        gbd(DATA, fsopt.build("fsp-master", OTHERS["features"], m=2), sub(), c=C)


def test_partitions_check_their_weight():
    with pytest.raises(ParameterError, match="'c' of 'partitions'"):
        partitions(DATA, [np.arange(10)], c=0.0)


@pytest.mark.parametrize("change", ["thetas", "ball", "objective", "radius", "no radius", "radius of the norm"])
def test_another_relaxation_of_gmeb_is_refused(change):
    """The bound would be that of one ball, the hyperplane scaled into another."""
    other = {"radius": 2.9, "no radius": np.inf}.get(change, 3.0)
    model = fsopt.build("gmeb-cuts", DATA, r_minus=other, thetas=[0.5] if change == "thetas" else None)
    if change == "ball":
        model.norm.setub(2.0)
    elif change == "objective":
        model.objective.set_value(0.5 * model.objective.expr)
    with pytest.raises(ParameterError, match="objective" if change == "objective" else "not those of the norm"):
        run_theta_cuts(DATA, model, (3.0, 2.9) if change == "radius of the norm" else (3.0, 3.0))


@pytest.mark.parametrize("radii", [(3.0, 3.0), (2.0, np.inf), (np.inf, 5.0)])
def test_both_relaxations_of_the_norm_itself_are_taken(radii):
    data = blobs(24, 4, seed=1, gap=5.0)
    for hard in (False, True):
        model = fsopt.build("gmeb-cuts", data, r_plus=radii[0], r_minus=radii[1], hard=hard)
        assert run_theta_cuts(data, model, radii).status is Status.OPTIMAL


def test_the_weights_of_the_weighted_norm_are_those_of_the_penalty_whatever_the_model_s():
    """The driver sets them at each step, and its bounds are recomputed from the penalty."""
    penalty = GmebPenalty.of(DATA, 0.2, 0.2)
    values = [
        scale_search(DATA, fsopt.build("gmeb-weighted-l1", DATA, c_plus=c, c_minus=c), penalty).objective
        for c in (0.2, 4.0)
    ]
    assert values[0] == pytest.approx(values[1], rel=1e-6)
