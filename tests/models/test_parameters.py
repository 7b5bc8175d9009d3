"""A mutable parameter at its next value is the model that is built with it: the same arrays, without another build."""

import numpy as np
import pytest

import fsopt
from fsopt.compiler import compile_model
from fsopt.models.draws import trial_data

NEXT = {"alpha": 2.5, "delta": 0.4, "lam": 0.3, "sigma": 0.25}
"""Parameter -> its next value; 1.7 for the others."""
OTHER = {
    "bmpm": "beta",
    "s-mpm": "beta",
    "fsp-m": "c",
    "fsp-lambda": "c",
    "fsp-m-bigm": "c",
    "kernel-scaling": "c e_cap",
    "kernel-scaling-step": "c",
    "fsv-step": "alpha",
    "misclass-step": "alpha",
    "gmeb-cuts": "r_plus r_minus",
    "gmeb-weighted-l1": "c_plus c_minus",
    "mmop": "h_cap",
    "rsvm-dual": "w_cap",
}
"""Slug -> parameters whose next value is that of another component, or a new model, as the builder says."""
NAMES = "alpha beta c c_plus c_minus delta e_cap h_cap lam r_plus r_minus sigma w_cap"
CASES = [(slug, name) for slug, spec in fsopt.MODELS.items() for name in NAMES.split() if name in spec.parameters]


@pytest.mark.parametrize(("slug", "name"), [case for case in CASES if case[1] not in OTHER.get(case[0], "").split()])
def test_the_arrays_are_those_of_a_new_build(slug, name):
    data, params = trial_data(slug), dict(fsopt.MODELS[slug].trial.params)
    if slug in ("fsp-master", "fsp-lambda") and name == "lam":
        params = {"lam": 1.0}
    value = NEXT.get(name, 1.7)
    model, session = fsopt.build(slug, data, **params), None
    if fsopt.MODELS[slug].problem_class in ("LP", "QP", "SOCP"):
        session = fsopt.Session(model)
        program = session.program
    parameter = getattr(model, name)
    for place in parameter if parameter.is_indexed() else [None]:
        parameter[place] = value
    if session is not None:
        session.refresh()
        assert (session.program is program) != bool(session.rebuilt)
    given = np.full(len(parameter), value).tolist() if parameter.is_indexed() else value
    anew = compile_model(fsopt.build(slug, data, **params | {name: given}))
    for p in (compile_model(model), *([] if session is None else [session.program])):
        arrays = ("c", "lo", "hi", "lb", "ub")
        pairs = [(getattr(p, a), getattr(anew, a)) for a in arrays]
        pairs += [(p.P.toarray(), anew.P.toarray()), (p.A.toarray(), anew.A.toarray()), (p.cones.h, anew.cones.h)]
        pairs += [(p.cones.G.toarray(), anew.cones.G.toarray()), (p.c0, anew.c0)]
        for found, expected in pairs:
            np.testing.assert_array_equal(found, expected)
    x = np.full(anew.n, 0.3)
    assert compile_model(model).objective_at(x) == anew.objective_at(x)


def test_a_path_over_c_solves_what_a_new_build_does():
    data = trial_data("onsvm")
    session = fsopt.Session(fsopt.build("onsvm", data))
    session.model.c = 10
    optimum = session.solve().objective
    assert not session.rebuilt
    assert optimum == pytest.approx(fsopt.solve(fsopt.build("onsvm", data, c=10.0)).objective, rel=1e-6)
