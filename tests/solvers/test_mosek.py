"""MOSEK up to the licence call: what stands in the task is the program, and answers come back with the right signs."""

from importlib.util import find_spec

import numpy as np
import pyomo.environ as pyo
import pytest
import scipy.sparse as sp
from support import blobs

import fsopt
from fsopt.compiler import compile_model, lmi
from fsopt.errors import SolverError
from fsopt.solvers.base import Session
from fsopt.solvers.spec import Settings

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


def assert_held(interface):
    """Check that the task holds the present values of the conic form, and the root of P where there are cones."""
    import mosek

    t, form, cones = interface.task, interface.form, interface.program.cones
    n, m, k = t.getnumvar(), form.equalities + form.inequalities, len(cones.h)
    M, b, P = form.matrix().toarray(), form.right_hand_side(), form.hessian().toarray()
    extra = n - interface.program.n
    assert extra == bool(len(cones) and P.any())
    assert t.getvarboundslice(0, n)[0] == [mosek.boundkey.fr] * n
    keys, _, high = t.getconboundslice(0, m)
    assert keys == [mosek.boundkey.fx] * form.equalities + [mosek.boundkey.up] * form.inequalities
    np.testing.assert_array_equal(high, b[:m])
    np.testing.assert_array_equal(triplets(t, "getatrip", (m, n))[:, : n - extra], M[:m])
    np.testing.assert_array_equal(t.getcslice(0, n), np.append(form.linear(), np.ones(extra)))
    F, g = triplets(t, "getafeftrip", (t.getnumafe(), n)), np.array(t.getafegslice(0, t.getnumafe()))
    np.testing.assert_array_equal(F[:k, : n - extra], -M[m:])
    np.testing.assert_array_equal(g[:k], b[m:])
    held = [t.getaccafeidxlist(i) for i in range(len(cones))]
    assert np.concatenate([*held, np.zeros(0)]).tolist() == cones.by_lower_triangles().tolist()
    whole = P + np.triu(P, 1).T
    if extra:  # (t, 1, Fx) in the rotated cone
        root = F[k + 2 :, : n - 1]
        np.testing.assert_allclose(root.T @ root, whole, atol=1e-12 * np.abs(whole).max())
        assert (F[k].tolist(), g[k : k + 2].tolist()) == ([0.0] * (n - 1) + [1.0], [0.0, 1.0])
        assert t.getdomaintype(t.getaccdomain(len(cones))) == mosek.domaintype.rquadratic_cone
    else:
        np.testing.assert_array_equal(triplets(t, "getqobj", (n, n)), np.tril(whole))


@pytest.mark.parametrize("slug", CONVEX)
def test_the_task_of_a_model_is_its_conic_form(slug):
    assert_held(loaded(fsopt.build(slug, blobs(30, 4, seed=1), **PARAMETERS.get(slug, {})))[1])


@pytest.mark.parametrize("integer", [False, True])
def test_a_square_beside_cones_is_an_epigraph_and_integers_keep_their_unit(integer):
    from mosek import variabletype

    program, interface = loaded(mixed(integer))
    t, scale = interface.task, interface.form.scale
    assert np.any(scale != 1.0)
    assert not integer or scale[3] == 1.0
    assert [t.getvartype(j) == variabletype.type_int for j in range(program.n)] == program.integer.tolist()
    assert (t.getnumacc(), t.getnumqobjnz()) == (len(program.cones) + 1, 0)
    assert_held(interface)


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


def test_statuses_are_mapped_and_an_unknown_end_is_numerical(monkeypatch):
    model = fsopt.build("rlp", blobs(30, 4, seed=1))
    point = fsopt.solve(model, "clarabel").point
    limited = answered(monkeypatch, model, "unknown", point, "trm_max_time")
    assert limited.stop == "time-limit"
    infeasible = answered(monkeypatch, model, "prim_infeas_cer", point)
    assert (infeasible.status, infeasible.point) == ("none", None)
    assert "found a feasible point" in infeasible.message, "a point of a feasible program was taken for a proof"
    assert answered(monkeypatch, model, "dual_feas", point, "trm_internal").stop == "numerical"


def test_without_a_licence_the_error_says_in_one_line_how_to_get_one(monkeypatch, tmp_path):
    monkeypatch.setenv("MOSEKLM_LICENSE_FILE", str(tmp_path / "none.lic"))
    for slug in ("rlp", "svm", "gmeb-primal"):
        with pytest.raises(SolverError, match=r"licence.*mosek\.com.*mosek\.lic.*MOSEKLM_LICENSE_FILE") as caught:
            fsopt.solve(fsopt.build(slug, blobs(12, 2, seed=1)), "mosek")
        assert "\n" not in str(caught.value)
