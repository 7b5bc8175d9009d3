"""Methods best-subset and best-subset-penalised: the optimum of the loops, refusals, equal optima."""

import numpy as np
import pyomo.environ as pyo
import pytest
from support import blobs, reference

import fsopt
from fsopt.errors import FileError, ParameterError


def test_a_master_with_variables_of_its_own_is_for_the_loop():
    def rule(model):
        model.half = pyo.Var(bounds=(0, 1))
        model.rule = pyo.Constraint(expr=model.sigma[0] + model.half <= 1.5)

    with pytest.raises(ParameterError, match="variables or cuts of its own") as caught:
        fsopt.fit("best-subset", reference("gbd_n6"), customise={"fsp-master": rule})
    assert "'gbd'" in caught.value.hint
    assert fsopt.fit("gbd", reference("gbd_n6"), customise={"fsp-master": rule}).status == "optimal"


def test_a_selection_to_start_from_is_given_by_names():
    data = blobs(60, 12, seed=5)
    best = fsopt.fit("best-subset", data, m=3, c=2.0)
    started = fsopt.fit("best-subset", data, m=3, c=2.0, initial=list(best.features), max_nodes=0)
    assert started.objective == pytest.approx(best.objective, rel=1e-9)


def test_a_checkpoint_of_the_other_method_is_refused(tmp_path):
    data = blobs(40, 6, seed=7)
    for method, other in (("best-subset", "gbd"), ("gbd", "best-subset")):
        path = tmp_path / f"{method}.npz"
        whole = fsopt.fit(method, data, m=3, checkpoint=path)
        assert fsopt.fit(method, data, m=3, resume=path).objective == pytest.approx(whole.objective, rel=1e-9)
        with pytest.raises(FileError, match="checkpoint"):
            fsopt.fit(other, data, m=3, resume=path)


def test_of_equal_optima_every_run_returns_the_same_and_the_alternatives_list_all():
    base = blobs(40, 3, seed=2)
    data = fsopt.Dataset(np.column_stack([base.X, base.X[:, :2]]), base.y)
    runs = [fsopt.fit("best-subset", data, m=1, c=2.0) for _ in range(2)]
    assert runs[0].support == runs[1].support
    found = fsopt.alternatives(data, 1, within=0.0, c=2.0)
    assert tuple(runs[0].support) in {tuple(one) for one in found.support}
    assert {tuple(one) for one in found.support} in ({(0,), (3,)}, {(1,), (4,)})
