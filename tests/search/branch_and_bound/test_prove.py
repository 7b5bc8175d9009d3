"""Proofs of integer programs: the tree against enumeration, its replay, changed trees, limits, and what is refused."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pyomo.environ as pyo
import pytest
from integer_programs import KINDS, TOLERANCE, knapsacks, near, random_program
from proof_files import proved, refused
from support import all_values, blobs, sampled

import fsopt
from fsopt.answers.trees import LEAF, Tree
from fsopt.certificates.relaxations import relaxation_of
from fsopt.compiler import compile_model
from fsopt.errors import FileError, ParameterError, SolverError
from fsopt.search.branch_and_bound.nodes import Node, Nodes
from fsopt.search.branch_and_bound.search import Search


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", sampled([0, 1, *range(5, 25, 4)], 2))
def test_random_programs_are_proved_as_enumeration_says(seed, kind):
    model, best = random_program(seed, kind)
    result = fsopt.prove(model)
    assert result.status == ("optimal" if np.isfinite(best) else "infeasible")
    if result.status == "infeasible":
        assert fsopt.verify(result, model).verified
        return
    assert result.certificate.bound_source.startswith("proved by fsopt")
    assert near(result.objective, best)
    assert near(result.bound, best)
    assert fsopt.certify(model, result).ok
    shown = fsopt.verify(result, model, exact=True)
    assert shown.verified
    claim = shown.exact.claims[0]
    lower, upper = proved(claim.part)
    assert claim.lower <= lower <= upper <= claim.upper
    assert not refused(claim.part)
    assert claim.lower - claim.upper <= 0
    assert near(float(claim.lower), best)
    assert near(float(claim.upper), best)


def test_an_odd_sum_of_even_numbers_has_no_point():
    model = pyo.ConcreteModel("odd")
    model.x = pyo.Var(range(3), domain=pyo.Integers, bounds=(0, 3))
    model.odd = pyo.Constraint(expr=2 * sum(model.x[j] for j in range(3)) == 5)
    model.objective = pyo.Objective(expr=model.x[0])
    result = fsopt.prove(model)
    assert result.status == "infeasible"
    assert result.tree.ray.all()
    shown = fsopt.verify(result, model, exact=True)
    assert shown.verified
    assert shown.exact.claims[0].name == "the optimum of the model"
    model.odd.set_value(2 * sum(model.x[j] for j in range(3)) == 6)
    assert not fsopt.verify(result, model).verified


def test_integers_without_bounds_are_split_where_the_search_goes():
    model = pyo.ConcreteModel("free")
    model.x = pyo.Var(range(2), domain=pyo.Integers)
    model.low = pyo.Constraint(expr=3 * model.x[0] + 5 * model.x[1] >= 7)
    model.mid = pyo.Constraint(expr=5 * model.x[0] + 3 * model.x[1] >= 7.5)
    model.objective = pyo.Objective(expr=model.x[0] + model.x[1])
    result = fsopt.prove(model)
    assert result.objective == pytest.approx(2)
    assert result.status == "optimal"
    assert fsopt.verify(result, model, exact=True).verified


def changed(result, rng, kind):
    """Return a result with one thing changed: a leaf less, another multiplier, another branching or another bound."""
    tree = result.tree
    if kind == "bound":
        sign = 1.0 if result.bound <= result.objective else -1.0
        return replace(result, bound=result.bound + sign * 1e-3 * max(1.0, abs(result.bound)))
    if kind == "leaf":
        keep = np.arange(len(tree.column)) != rng.choice(np.flatnonzero(tree.column == LEAF))
        return replace(result, tree=replace(tree, column=tree.column[keep], value=tree.value[keep]))
    if kind == "branching":
        places = np.flatnonzero(tree.column != LEAF)
        place = rng.choice(places) if len(places) else 0
        value = tree.value.copy()
        value[place] += rng.choice((-1.0, 1.0, 0.5))
        return replace(result, tree=replace(tree, value=value))
    numbers = tree.multipliers.copy()
    if numbers.nnz:
        numbers.data[rng.integers(numbers.nnz)] *= rng.choice((-1.0, 0.0, 1.5, 1e3))
    return replace(result, tree=replace(tree, multipliers=numbers))


def refuted(result, model):
    """Return whether each check refutes a result: numerical, exact, and fsopt-verify on what is left of the proof."""
    try:
        shown = fsopt.verify(result, model, exact=True)
    except FileError:
        return True, True, True
    claim = shown.exact.claims[0]
    independent = claim.part is None or not claim.holds or refused(claim.part)
    return not shown.numerically, not shown.exact.verified, independent


@pytest.mark.parametrize("seeds", sampled([[k for k in range(48) if k % 12 < 3], range(48, 192)], 1), ids=len)
def test_changed_trees_are_refuted(seeds):
    models = {}
    for seed in seeds:
        rng = np.random.default_rng(seed)
        place = seed % 12
        if place not in models:
            model, best = random_program(place // 3, KINDS[place % 3])
            models[place] = model, best, fsopt.prove(model)
        model, best, honest = models[place]
        kind = ("bound", "leaf", "branching", "multiplier")[seed // 12 % 4]
        forged = changed(honest, rng, kind)
        answers = refuted(forged, model)
        if kind in ("bound", "leaf"):
            assert all(answers[:2]), (seed, kind)
        if not all(answers):  # another tree, but of a true statement
            assert near(forged.objective, best), (seed, kind)
            assert near(forged.bound, best), (seed, kind)


def test_a_tree_that_was_stopped_keeps_the_bound_of_its_open_leaves():
    model = knapsacks(10)
    first = fsopt.solve(model)
    result = fsopt.prove(model, first, time_limit=1e-9)
    assert (result.stop, result.status) == ("time-limit", "feasible")
    assert result.bound > first.objective * (1 + TOLERANCE)
    assert fsopt.verify(result, model).verified
    assert not fsopt.verify(replace(result, status=fsopt.Status.OPTIMAL), model).verified
    assert not fsopt.verify(replace(result, bound=0.5 * (result.bound + result.objective)), model).verified


def test_the_plain_data_of_a_tree_are_the_tree_and_damage_is_named():
    model, _ = random_program(2, "MISOCP")
    tree = fsopt.prove(model).tree
    text = json.dumps(tree.plain())
    again = Tree.of(json.loads(text))
    assert json.dumps(again.plain()) == text
    assert (again.multipliers != tree.multipliers).nnz == 0
    for name, value in (("size", [1]), ("ray", [10**6]), ("numbers", ["x"]), ("places", [-1]), ("column", 5)):
        with pytest.raises(FileError):
            list(Tree.of({**tree.plain(), name: value}).boxes(np.zeros(3), np.ones(3), np.ones(3, dtype=bool)))


def test_a_model_without_a_convex_relaxation_and_another_model_are_refused():
    model, _ = random_program(0, "MILP")
    result = fsopt.solve(model)
    other, _ = random_program(0, "MISOCP")
    with pytest.raises(ParameterError, match="not one of"):
        fsopt.prove(other, result)
    model.sine = pyo.Constraint(expr=pyo.sin(model.w) <= 0.5)
    with pytest.raises(SolverError, match="'sine' is neither linear nor quadratic"):
        fsopt.prove(model)


def test_a_better_incumbent_closes_the_leaves_that_were_solved_before_it():
    model = fsopt.build("misclass", blobs(10, 2, gap=0.2), alpha=5.0)
    result = fsopt.prove(model, fsopt.solve(model, "ipopt"))
    assert result.status == "optimal"
    assert near(result.objective, 2)
    assert fsopt.verify(result, model).verified


@pytest.mark.parametrize(("slug", "params"), sampled([("fsp-lambda", {"lam": 0.4}), ("fsp-m", {"m": 2})], 1))
def test_products_with_binaries_are_proved_as_enumeration_says(slug, params):
    data, c = blobs(10, 3, seed=1), 1.0
    model = fsopt.build(slug, data, c=c, **params)
    result = fsopt.prove(model, fsopt.solve(model, "scip"))
    assert result.status == "optimal"
    best = min(
        value + params.get("lam", 0.0) * sum(chosen)
        for chosen, value in all_values(data, c).items()
        if sum(chosen) <= params.get("m", data.p)
    )
    assert result.objective == pytest.approx(best, rel=1e-5)
    assert near(result.bound, result.objective)
    assert fsopt.verify(result, model).verified


def test_of_all_nodes_the_leaves_alone_keep_their_multipliers():
    search = Search(relaxation_of(compile_model(knapsacks(10))))
    search.begin()
    search.run(lambda: True)
    assert len(search.branchings) > 10
    assert len(search.closed) == len(search.branchings) + 1
    assert not search.closed.keys() & search.branchings.keys()


def test_the_multipliers_of_the_least_violation_show_that_a_node_is_empty():
    m = pyo.ConcreteModel()
    m.x, m.y = pyo.Var(bounds=(0, 1)), pyo.Var(domain=pyo.Binary)
    m.c = pyo.Constraint(expr=m.x + m.y >= 3)
    m.o = pyo.Objective(expr=m.x)
    relaxation = relaxation_of(compile_model(m))
    node = Node(relaxation.program.lb.copy(), relaxation.program.ub.copy())
    Nodes(relaxation)._elastic(node, relaxation.at(node.low, node.high))
    assert node.bound == np.inf


def test_a_point_that_is_not_finite_is_refused():
    model = knapsacks(10)
    result = fsopt.solve(model)
    point = replace(result.point, x=result.point.x * np.nan)
    with pytest.raises(ParameterError, match="not finite"):
        fsopt.prove(model, replace(result, point=point))
