"""MOSEK up to the licence call: what stands in the task is the program, and answers come back with the right signs."""

from importlib.util import find_spec

import clarabel
import numpy as np
import pyomo.environ as pyo
import pytest
import scipy.sparse as sp
from support import blobs

import fsopt
from fsopt.compiler import compile_model, lmi
from fsopt.errors import OptionError, SolverError
from fsopt.solvers.base import Session
from fsopt.solvers.interface import Settings

CLASSES = ("LP", "QP", "SOCP", "SDP", "MILP", "MIQP", "MISOCP")
PARAMETERS = {"fsp-master": {"m": 2}}
CONVEX = [slug for slug, spec in fsopt.MODELS.items() if spec.problem_class in CLASSES]


@pytest.fixture(autouse=True)
def installed() -> None:
    if find_spec("mosek") is None:
        pytest.skip("mosek is not installed (pip install mosek)")


def loaded(model, **options):
    from fsopt.solvers.mosek import Mosek

    program = compile_model(model)
    return program, Mosek(program, Settings.make(options))


def triplets(t, name, shape):
    i, j, v = getattr(t, name)()[-3:]  # getqobj gives their number first
    return sp.coo_matrix((v, (i, j)), shape=shape).toarray()


def mixed(integer=False):
    """Return a program with constraints of every kind, free, bounded and fixed variables, a square and a cone."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(5), bounds=lambda m, j: [(None, None), (0, None), (None, 7), (-3, 8), (0, 9)][j])
    x = m.x
    if integer:
        x[3].domain = pyo.Integers
    x[2].fix(2.5)
    m.r = pyo.Param(initialize=3.0, mutable=True)
    m.le = pyo.Constraint(expr=m.r * x[0] + 250 * x[1] <= 4)
    m.ge = pyo.Constraint(expr=x[1] - x[3] >= -2)
    m.eq = pyo.Constraint(expr=x[0] + x[4] == m.r)
    m.range = pyo.Constraint(expr=(-1, x[2] + x[3], 11))
    m.ball = pyo.Constraint(expr=x[0] ** 2 + 4 * x[3] ** 2 + x[1] <= 20)
    m.turned = pyo.Constraint(expr=x[3] ** 2 <= x[1] * x[4])
    m.o = pyo.Objective(expr=2 - x[0] + 3 * x[1] + (x[0] - 2 * x[4]) ** 2)
    return m


def elsewhere(interface):
    """Return the value of the relaxation in the task, or the status without one, by Clarabel's own interface."""
    import mosek

    t = interface.task
    n, m = t.getnumvar(), t.getnumcon()
    assert t.getvarboundslice(0, n)[0] == [mosek.boundkey.fr] * n
    keys, _, high = t.getconboundslice(0, m)
    equal = sum(key == mosek.boundkey.fx for key in keys)
    assert keys == [mosek.boundkey.fx] * equal + [mosek.boundkey.up] * (m - equal)
    F, g = triplets(t, "getafeftrip", (t.getnumafe(), n)), np.array(t.getafegslice(0, t.getnumafe()))
    A, b = [triplets(t, "getatrip", (m, n))], [np.array(high)]
    cones = [clarabel.ZeroConeT(equal), clarabel.NonnegativeConeT(m - equal)]
    for k in range(t.getnumacc()):
        at = np.array(t.getaccafeidxlist(k))
        if t.getdomaintype(t.getaccdomain(k)) == mosek.domaintype.rquadratic_cone:
            turn = np.eye(len(at))
            turn[:2, :2] = np.array([[1, 1], [1, -1]]) / np.sqrt(2)
        else:
            turn = np.eye(len(at))
        A.append(-turn @ F[at])
        b.append(turn @ g[at])
        cones.append(clarabel.SecondOrderConeT(len(at)))
    lower = triplets(t, "getqobj", (n, n))
    P = sp.csc_matrix(np.triu(lower.T))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    A, b = sp.csc_matrix(np.vstack(A)), np.concatenate(b)
    found = clarabel.DefaultSolver(P, np.array(t.getcslice(0, n)), A, b, cones, settings).solve()
    return found.obj_val + t.getcfix() if "Solved" in str(found.status) else str(found.status)


def optimum(model):
    """Return the value of the relaxation, to be compared."""
    relaxed = pyo.TransformationFactory("core.relax_integer_vars").create_using(model)
    found = fsopt.solve(relaxed)
    if found.status == "infeasible":
        return "PrimalInfeasible"
    return pytest.approx(compile_model(relaxed).sign * found.objective, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("slug", [slug for slug in CONVEX if slug != "gmeb-sdp"])
def test_the_task_of_a_model_has_its_optimum(slug):
    model = fsopt.build(slug, blobs(30, 4, seed=1), **PARAMETERS.get(slug, {}))
    program, interface = loaded(model)
    assert elsewhere(interface) == optimum(model)
    if not len(program.cones):
        t = interface.task
        assert (t.getnumvar(), t.getnumafe(), t.getnumacc()) == (program.n, 0, 0)


@pytest.mark.parametrize("integer", [False, True])
def test_a_square_beside_cones_is_an_epigraph_and_integers_keep_their_unit(integer):
    from mosek import variabletype

    model = mixed(integer)
    program, interface = loaded(model)
    t, scale, n = interface.task, interface.form.scale, program.n
    assert np.any(scale != 1.0)
    assert not integer or scale[3] == 1.0
    assert [t.getvartype(j) == variabletype.type_int for j in range(n)] == program.integer.tolist()
    assert (t.getnumvar(), t.getnumacc(), t.getnumqobjnz()) == (n + 1, len(program.cones) + 1, 0)
    assert elsewhere(interface) == optimum(model)


def test_a_matrix_is_held_by_its_lower_triangle_with_roots_of_two():
    """sMat of MOSEK: columns of the lower triangle, entries off the diagonal times the root of 2."""
    from mosek import domaintype

    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=1.0)
    matrix = [[11.0, 2.0, 3.0], [2.0, 24.0, 5.0], [3.0, 5.0, 36.0]]
    m.matrix = lmi([[entry * m.x for entry in row] for row in matrix])
    m.o = pyo.Objective(expr=m.x)
    for (i, j), entry in m.matrix.S.items():
        entry.set_value(matrix[i][j])
    program, interface = loaded(m)
    t, k = interface.task, len(program.cones.h)
    assert t.getdomaintype(t.getaccdomain(0)) == domaintype.svec_psd_cone
    x = np.array([v.value for v in program.variables]) / interface.form.scale
    values = triplets(t, "getafeftrip", (k, program.n)) @ x + np.array(t.getafegslice(0, k))
    root = np.sqrt(2.0)
    held = values[t.getaccafeidxlist(0)]
    expected = np.array([11.0, 2 * root, 3 * root, 24.0, 5 * root, 36.0])
    e = np.sqrt(held[[0, 3, 5]] / expected[[0, 3, 5]])  # the solver has ESE, with the units of the entries
    assert len(set(e)) > 1
    assert held == pytest.approx(expected * e[[0, 0, 0, 1, 1, 2]] * e[[0, 1, 2, 1, 2, 2]])


def test_a_change_is_loaded_before_the_next_solve():
    m = pyo.ConcreteModel()
    m.r, m.d = pyo.Param(initialize=4.0, mutable=True), pyo.Param(initialize=3.0, mutable=True)
    m.x = pyo.Var(range(3), bounds=(0, 5))
    x, y, z = m.x.values()
    m.first = pyo.Constraint(expr=x - y <= 1)
    m.row = pyo.Constraint(expr=m.r * x + y + z >= m.r)
    m.o = pyo.Objective(expr=2 * x + m.d * y + m.d * (z - x) ** 2)
    session = Session(m, "mosek")
    interface = session.connection.interface
    m.r.set_value(7.0)
    m.d.set_value(5.0)
    y.setub(3.0)
    session.update(m.o, m.row, m.x)
    assert (session.rebuilt, session.connection.interface) == ("", interface)
    interface._load()
    assert elsewhere(interface) == optimum(m.clone())
    y.setub(None)
    session.update(m.x)
    assert session.rebuilt == "a bound appeared or vanished"


def answered(monkeypatch, model, status, point, ended="ok"):
    """Solve a model while MOSEK's optimize, which needs a licence, puts this point of the program instead."""
    import mosek

    def optimize(t):
        program, form = compile_model(model), session.connection.interface.form
        which = session.connection.interface._solution()
        t.putxx(which, point.x / form.scale)
        linear, at = form.equalities + form.inequalities, form.blocks
        parts = [-point.y[at.equal], 0 * at.fixed, -np.minimum(point.y[at.upper], 0), 0 * at.above]
        z = np.concatenate([*parts, np.maximum(point.y[at.lower], 0), 0 * at.below]) / form.factors[:linear]
        t.puty(which, -z)
        multipliers = program.scaling.uncone.T @ point.z if len(program.cones) else point.z
        for k in range(len(program.cones)):
            part = slice(program.cones.starts[k], program.cones.starts[k + 1])
            t.putaccdoty(which, k, multipliers[program.cones.by_lower_triangles()][part])
        return getattr(mosek.rescode, ended)

    session = Session(model, "mosek")
    monkeypatch.setattr(mosek.Task, "optimize", optimize)
    monkeypatch.setattr(mosek.Task, "solutiondef", lambda t, which: which == mosek.soltype.itr)
    monkeypatch.setattr(mosek.Task, "getsolsta", lambda t, which: getattr(mosek.solsta, status))
    return session.solve()


@pytest.mark.parametrize("slug", ["rlp", "svm", "mpm", "gmeb-primal", "gmeb-sdp"])
def test_a_point_in_mosek_s_signs_is_certified(monkeypatch, slug):
    model = fsopt.build(slug, blobs(30, 4, seed=1))
    reference = fsopt.solve(model, "clarabel")
    result = answered(monkeypatch, model, "optimal", reference.point)
    assert (result.status, result.stop, result.certificate.ok) == ("optimal", "optimal", True)
    assert result.objective == pytest.approx(reference.objective, rel=1e-9)
    assert result.certificate.bound == pytest.approx(reference.objective, rel=1e-6)


def test_statuses_are_mapped_and_an_unknown_end_is_an_error(monkeypatch):
    model = fsopt.build("rlp", blobs(30, 4, seed=1))
    point = fsopt.solve(model, "clarabel").point
    limited = answered(monkeypatch, model, "unknown", point, "trm_max_time")
    assert limited.stop == "time-limit"
    infeasible = answered(monkeypatch, model, "prim_infeas_cer", point)
    assert (infeasible.status, infeasible.point) == ("none", None)
    assert "found a feasible point" in infeasible.message, "a point of a feasible program was taken for a proof"
    with pytest.raises(SolverError, match="trm_internal"):
        answered(monkeypatch, model, "optimal", point, "trm_internal")


def test_without_a_licence_the_error_says_in_one_line_how_to_get_one(monkeypatch, tmp_path):
    monkeypatch.setenv("MOSEKLM_LICENSE_FILE", str(tmp_path / "none.lic"))
    for slug in ("rlp", "svm", "gmeb-primal"):
        with pytest.raises(SolverError, match=r"licence.*mosek\.com.*mosek\.lic.*MOSEKLM_LICENSE_FILE") as caught:
            fsopt.solve(fsopt.build(slug, blobs(12, 2, seed=1)), "mosek")
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "bad", [{"nope": 1}, {"_private": 1}, {"MSK_IPAR_LOG": "loud"}, {"MSK_IPAR_LOG": 1.5}, {"MSK_DPAR_LOG": 1}], ids=str
)
def test_unknown_options_and_bad_values_are_named(bad):
    with pytest.raises(OptionError, match=next(iter(bad))):
        loaded(mixed(), **bad)


def test_options_reach_the_task():
    import mosek

    _, interface = loaded(mixed(), threads=2, seed=5, tolerance=1e-7, MSK_IPAR_PRESOLVE_USE="MSK_PRESOLVE_MODE_OFF")
    t = interface.task
    assert t.getintparam(mosek.iparam.num_threads) == 2
    assert t.getintparam(mosek.iparam.mio_seed) == 5
    assert t.getdouparam(mosek.dparam.intpnt_co_tol_rel_gap) == 1e-7
    assert t.getintparam(mosek.iparam.presolve_use) == mosek.presolvemode.off
