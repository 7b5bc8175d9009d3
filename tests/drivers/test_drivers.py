"""What all drivers owe: values, records, stops, interruption, refusals of models of other data, a page each."""

from functools import partial

import numpy as np
import pyomo.environ as pyo
import pytest
from support import blobs, reference

import fsopt
from fsopt.answers.results import Point, SolveResult, Status
from fsopt.data.hyperplanes import hinge, hyperplane_errors
from fsopt.drivers.baselines import partitions
from fsopt.drivers.column_generation import column_generation
from fsopt.drivers.dca import dca
from fsopt.drivers.gbd.driver import GbdSettings, gbd
from fsopt.drivers.kernel_scaling import kernel_scaling
from fsopt.drivers.mop import mop
from fsopt.drivers.penalties import Exponential
from fsopt.drivers.pmm import pmm
from fsopt.drivers.recorder import PHASES
from fsopt.drivers.run import Run
from fsopt.drivers.scale_search import scale_search
from fsopt.drivers.sla import ConcaveTerms, sla
from fsopt.drivers.theta_cuts import theta_cuts
from fsopt.errors import ParameterError, SolverError
from fsopt.models.gmeb.gmeb_penalised import GmebPenalty
from fsopt.solvers.base import Session

ALPHA, DELTA, LAM, C = 5.0, 0.7, 0.05, 4.0


def run_dca(data=None, **options):
    model = fsopt.build("l0-mpm-step", data or blobs(40, 6, seed=2, gap=1.0), delta=DELTA, alpha=ALPHA)
    return dca(model, Exponential(ALPHA), **options)


def run_fsv(data=None, **options):
    model = fsopt.build("fsv-step", data or reference("sla_fs8"), lam=LAM, alpha=ALPHA)
    return sla(model, ConcaveTerms((("v", "cost_v"),), ALPHA, weight=LAM), **options)


def run_misclass(data=None, **options):
    model = fsopt.build("misclass-step", data or blobs(40, 3, seed=2), alpha=ALPHA)
    return sla(model, ConcaveTerms((("y", "cost_y"), ("z", "cost_z")), ALPHA), **options)


def run_gbd(max_iterations=250, **options):
    data = reference("gbd_n6")
    master, sub = fsopt.build("fsp-master", data, m=2), fsopt.build("fsp-sub", data, c=C)
    return gbd(data, master, sub, c=C, **options, settings=GbdSettings(max_cuts=max_iterations))


DATA = blobs(24, 4, seed=1)
run_mop = partial(mop, reference("mop_a"), w_cap=3.0)
PENALTY = GmebPenalty.of(DATA, 0.2, 0.2)
PLANE = np.array([0.9, 0.7, 0.2, -0.3])
RUNS = {"dca": run_dca, "fsv": run_fsv, "misclass": run_misclass, "gbd": run_gbd, "mop": run_mop}
OTHER_RUNS = {
    "scale_search": lambda **options: scale_search(DATA, PENALTY, **options),
    "kernel_scaling": lambda **options: kernel_scaling(DATA, w=PLANE, b=0.1, **options),
    "pmm": lambda **options: pmm(DATA, **options),
}
"""Loops without a limit of their iterations."""
ENDED = {"gbd": 6, "mop": 6, "scale_search": 8}
"""The solve at which a solver ends early, if not the third."""


def check_value(name, result):
    """Assert that the value which the driver claims is that of the point which it returns."""
    at = result.point
    if name == "dca":
        value = -np.expm1(-ALPHA * np.abs(at["w"])).sum()
    elif name == "fsv":
        value = (1 - LAM) * (at["y"].mean() + at["z"].mean()) - LAM * np.expm1(-ALPHA * at["v"]).sum()
    elif name == "scale_search":
        value = hinge(DATA.X @ at["w"] + at["b"], DATA.y) / DATA.n + PENALTY.at(at["w"])[0]
    elif name == "kernel_scaling":
        value = (DATA.X**2 @ at["s"]).max() * (PLANE**2 @ at["s"])
    elif name == "pmm":
        value = hyperplane_errors(DATA, at["w"], -at["gamma"])
    elif name == "misclass":
        value = -np.expm1(-ALPHA * np.r_[at["y"], at["z"]]).sum()
    else:
        data = reference("gbd_n6" if name == "gbd" else "mop_a")
        loss = hinge(data.X @ at["w"] + at["b"], data.y)
        value = loss if name == "mop" else 0.5 * at["w"] @ at["w"] + C * loss
    assert result.objective == pytest.approx(value, rel=1e-7, abs=1e-7)


@pytest.mark.parametrize("name", RUNS)
def test_nothing_is_translated_again_after_the_first_iteration(name):
    result = RUNS[name]()
    assert result.certificate.ok
    history = result.history
    assert len(history) >= 3
    assert [h["iteration"] for h in history] == list(range(1, result.iterations + 1))
    assert [h["rebuilt"] for h in history] == [""] * len(history)
    assert [h["seconds_translate"] for h in history[1:]] == [0.0] * (len(history) - 1)
    assert all(h["seconds_solve"] > 0 for h in history)
    for k in PHASES:
        assert all(h[f"seconds_{k}"] >= 0 for h in history)
        assert sum(h[f"seconds_{k}"] for h in history) <= result.seconds[k] * (1 + 1e-9)


@pytest.mark.parametrize("name", [*RUNS, *OTHER_RUNS])
def test_a_limit_or_an_interruption_is_named_and_claims_no_more_than_feasible(name, ends):
    run = {**RUNS, **OTHER_RUNS}[name]
    best = run()
    check_value(name, best)
    assert best.status in (Status.OPTIMAL, Status.STATIONARY, Status.FEASIBLE)
    early = [("time-limit", run(run=Run(time_limit=1e-9)))]
    early += [("iteration-limit", run(max_iterations=2))] if name in RUNS else []
    assert all(result.iterations <= 2 for _, result in early) or name in OTHER_RUNS
    stop = "time-limit" if name in RUNS else "interrupted"
    ends(ENDED.get(name, 3), stop)
    early.append((stop, run(run=Run(time_limit=1e3))))
    for stop, result in early:
        assert (result.stop, result.status) == (stop, Status.FEASIBLE)
        check_value(name, result)
        assert result.bound is None or result.bound <= best.objective * (1 + 1e-6) + 1e-9
        assert result.objective >= best.objective - 1e-9


@pytest.mark.parametrize("name", ["dca", "fsv", "misclass"])
def test_a_step_that_stopped_early_proves_nothing(name, monkeypatch):
    solve, calls = Session.solve, []

    def stay(self, **keywords):
        """Solve the first step; then stop where the model is, as a warm simplex out of time does."""
        calls.append(self)
        if len(calls) == 1:
            return solve(self, **{**keywords, "load": True, "certify": True})
        x = np.array([v.value for v in self.program.variables])
        value = self.program.objective_at(x)
        return SolveResult(Status.FEASIBLE, "time-limit", value, None, self.spec.name, {}, 0, point=Point(x))

    monkeypatch.setattr(Session, "solve", stay)
    result = RUNS[name](max_iterations=3)
    assert result.status is Status.FEASIBLE
    assert result.stop != "stationary"


OTHERS = {
    "values": DATA.with_X(DATA.X * 1.001),
    "labels": fsopt.Dataset(DATA.X, -DATA.y),
    "samples": DATA.rows(np.arange(20)),
    "features": DATA.columns(np.arange(3)),
}
WEIGHT = 2.0


def sub(data=DATA, c=WEIGHT):
    return fsopt.build("fsp-sub", data, c=c)


def run_given_gbd(data, model, c=WEIGHT):
    return gbd(data, fsopt.build("fsp-master", data, m=2), model, c=c)


GIVEN_MODELS = {
    "gbd": (run_given_gbd, sub),
    "theta_cuts": (theta_cuts, lambda data=DATA: fsopt.build("gmeb-cuts", data)),
}


@pytest.mark.parametrize("driver", GIVEN_MODELS)
def test_a_model_of_other_data_is_refused(driver):
    run, build = GIVEN_MODELS[driver]
    for other in OTHERS:
        with pytest.raises(ParameterError, match=f"given to '{driver}'") as caught:
            run(DATA, build(OTHERS[other]))
        assert "data set that the driver is given" in caught.value.hint


def refused_step(model):
    return dca(model, Exponential(ALPHA))


def refused_terms(model, weight=0.05):
    return sla(model, ConcaveTerms((("v", "cost_v"),), ALPHA, weight))


def refused_master(model):
    return gbd(DATA, model, sub(), c=WEIGHT)


def plus(term):
    """Return a change that adds a term to the objective of a model."""
    return lambda m: m.objective.set_value(m.objective.expr + term(m))


def maximised(m):
    m.objective.set_value(-m.objective.expr)
    m.objective.sense = pyo.maximize


def without_costs(m):
    m.objective.set_value(m.v[0] + 0.0)
    m.del_component(m.cost_v)


FREE_GROUP = lambda m: (m.add_component("group", pyo.Var(within=pyo.Binary)), plus(lambda m: m.group)(m))  # noqa: E731
NOTHING, OBJECTIVE = lambda m: None, "'theta' plus penalty weights of 'sigma'"
CHANGED_MODELS = [  # words of the message; model and parameters; change; driver and what it is given beside the model
    *((r"is not 1/2 u'u \+ 2 e'xi", "fsp-sub", {"c": WEIGHT}, change, partial(run_given_gbd, DATA)) for change in (
        plus(lambda m: m.b), plus(lambda m: m.b**2), plus(lambda m: 1.0),
        lambda m: m.objective.set_value(2.0 * m.objective.expr),
    )),
    (r"is not 1/2 u'u \+ 4 e'xi", "fsp-sub", {"c": WEIGHT}, NOTHING, partial(run_given_gbd, DATA, c=4.0)),
    *((OBJECTIVE, "fsp-master", {"m": 2}, change, refused_master) for change in (
        lambda m: m.objective.set_value(2 * m.theta), lambda m: m.objective.set_value(sum(m.sigma.values())),
        plus(lambda m: m.sigma[0] * m.sigma[1]), plus(lambda m: 3.0), FREE_GROUP, maximised,
    )),
    *(("is not .15. any more", "gmeb-cuts", params, change, partial(theta_cuts, DATA)) for params, change in (
        ({}, lambda m: m.norm.setub(2.0)), ({"hard": True}, lambda m: m.norm.setub(1.0)),
        ({}, lambda m: m.objective.set_value(9 * m.b)), ({}, plus(lambda m: m.norm)),
    )),
    *(("slope 5 of the penalty", "l0-mpm-step", {"delta": 0.2, "alpha": alpha}, change, refused_step)
      for alpha, change in ((4.0, NOTHING), (5.0, plus(lambda m: m.w[0] ** 2)), (5.0, plus(lambda m: m.w[0])),
                            (5.0, plus(lambda m: pyo.exp(m.w[0]))), (5.0, maximised))),
    ("slope 5 of the penalty", "l1-mpm", {"delta": 0.2}, NOTHING, refused_step),
    ("has no component 'cost_v'", "fsv-step", {"lam": LAM}, without_costs, refused_terms),
    ("not a linear program that is minimised", "fsv-step", {"lam": LAM}, maximised, refused_terms),
    ("not a linear program", "fsv-step", {"lam": LAM}, plus(lambda m: m.gamma**2), refused_terms),
    ("can be negative", "fsv-step", {"lam": LAM}, lambda m: setattr(m.v[0], "domain", pyo.Reals), refused_terms),
    ("with the weight 0.0501", "fsv-step", {"lam": LAM}, NOTHING, partial(refused_terms, weight=0.0501)),
    ("not have the concave", "fsv-step", {"lam": LAM}, plus(lambda m: m.cost_v[0] * m.w[0]), refused_terms),
]  # fmt: skip


@pytest.mark.parametrize(("words", "slug", "params", "change", "driver"), CHANGED_MODELS)
def test_a_model_that_is_not_that_of_the_driver_is_refused(words, slug, params, change, driver):
    """The bound, or the criterion, would be that of another problem."""
    model = fsopt.build(slug, DATA, **params)
    change(model)
    with pytest.raises(ParameterError, match=words):
        driver(model)


REFUSED = {
    "has 3 features, the data 4": (
        ParameterError,
        lambda: refused_master(fsopt.build("fsp-master", OTHERS["features"], m=2)),
    ),
    "'c' of 'partitions'": (ParameterError, lambda: partitions(DATA, [np.arange(10)], c=0.0)),
    "rows": (ParameterError, lambda: column_generation(DATA, *COSTS, rows=1)),
    "columns": (ParameterError, lambda: column_generation(DATA, *COSTS, columns=0)),
    "row_costs": (ParameterError, lambda: column_generation(DATA, -COSTS[0], COSTS[1])),
    "start": (ParameterError, lambda: column_generation(DATA, *COSTS, start=(np.zeros(3), 0.0))),
    "one of local, global": (ParameterError, lambda: kernel_scaling(DATA, w=PLANE, b=0.1, scaling="best")),
    "'w'": (ParameterError, lambda: kernel_scaling(DATA, w=PLANE[1:], b=0.1)),
    "'e_cap'": (ParameterError, lambda: kernel_scaling(DATA, w=PLANE, b=0.1, e_cap=-1.0)),
    "infeasible": (SolverError, lambda: kernel_scaling(DATA, w=-PLANE, b=0.1, e_cap=1e-3)),
    "'n_starts'": (ParameterError, lambda: run_fsv(DATA, n_starts=1.5)),
    "'seed'": (ParameterError, lambda: run_fsv(DATA, n_starts=2, seed=-1)),
    "vertices and solver 'clarabel'": (SolverError, lambda: run_fsv(DATA, run=Run(solver="clarabel"))),
    "'alpha'": (ParameterError, lambda: ConcaveTerms((("v", "cost_v"),), 0.0)),
    "'weight'": (ParameterError, lambda: ConcaveTerms((("v", "cost_v"),), 5.0, -1.0)),
    "has no checkpoints": (ParameterError, lambda: pmm(DATA, run=Run(checkpoint="run.npz"))),
}
"""Words of the message -> the error, and the call."""
COSTS = np.ones(DATA.n), np.ones(DATA.p)


@pytest.mark.parametrize("words", REFUSED)
def test_a_wrong_argument_is_refused_by_name(words):
    error, call = REFUSED[words]
    with pytest.raises(error, match=words):
        call()
