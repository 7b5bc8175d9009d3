"""Checkpoints of proof trees: a search that was stopped ends as the undisturbed one; forged files prove nothing."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest
from integer_programs import KINDS, best_knapsack, knapsacks, near, random_program
from support import blobs

import fsopt
from fsopt.common import checkpoints
from fsopt.errors import FileError
from fsopt.search.branch_and_bound import driver
from fsopt.search.branch_and_bound.search import Search


@pytest.fixture
def stopping(monkeypatch):
    """A function after whose call the next search is interrupted after so many nodes."""

    def stop(after):
        steps = 0
        step = Search._step

        def counted(self, node):
            nonlocal steps
            steps += 1
            return step(self, node)

        @contextmanager
        def deferred():
            yield lambda: steps >= after

        monkeypatch.setattr(Search, "_step", counted)
        monkeypatch.setattr(driver, "deferred_interruption", deferred)

    return stop


@pytest.mark.parametrize("kind", KINDS)
def test_a_search_that_was_interrupted_goes_on_to_the_optimum_of_enumeration(kind, tmp_path, stopping):
    path = tmp_path / "tree.npz"
    for seed in (5, 9):
        model, best = random_program(seed, kind)
        solved = fsopt.solve(model)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(checkpoints, "WRITING", -1e9)  # a checkpoint after each node
            stopping(2)
            fsopt.prove(model, solved, checkpoint=path)
        stopping(10**9)
        result = fsopt.prove(model, resume=path)
        assert fsopt.verify(result, model, exact=True).verified
        if not np.isfinite(best):
            assert result.status == "infeasible"
            continue
        assert result.status == "optimal"
        assert near(result.objective, best)
        assert near(result.bound, best)


@pytest.mark.slow
def test_a_search_goes_on_from_its_file_and_from_its_answer(tmp_path, stopping):
    path, model = tmp_path / "tree.npz", knapsacks(10)
    best = best_knapsack(model)
    solved = fsopt.solve(model, "highs", time_limit=1)
    stopping(15)
    part = fsopt.prove(model, solved, checkpoint=path)
    assert part.stop == "interrupted"
    assert part.status == "feasible"
    assert part.bound > best * (1 + 1e-6)
    for first, places in ((part, {}), (None, {"resume": path}), (solved, {"resume": path, "checkpoint": path})):
        stopping(15)
        more = fsopt.prove(model, first, **places)
        assert more.stop == "interrupted"
        assert best < more.bound < part.bound  # where it began anew it would be at the same bound
        stopping(10**9)
        whole = fsopt.prove(model, more)
        assert (whole.status, whole.stop) == ("optimal", "optimal")
        assert near(whole.objective, best)
        assert fsopt.verify(whole, model).verified
    again = fsopt.prove(model, resume=path)
    assert again.status == "optimal"
    assert again.iterations > part.iterations


@pytest.mark.slow
def test_the_tree_of_a_nonconvex_program_goes_on(tmp_path, stopping):
    model = fsopt.build("misclass", blobs(20, 3, gap=0.2), alpha=5.0)
    path = tmp_path / "tree.npz"
    stopping(15)
    part = fsopt.prove(model, fsopt.solve(model, "ipopt"), checkpoint=path)
    stopping(15)
    more = fsopt.prove(model, resume=path)
    assert more.tree.leaves > part.tree.leaves
    assert more.bound >= part.bound - 1e-9
    assert fsopt.verify(more, model).verified


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The arrays of an honest checkpoint, and its bound."""
    path, model = tmp_path_factory.mktemp("checkpoint") / "tree.npz", knapsacks(10)
    fsopt.prove(model, fsopt.solve(model), checkpoint=path)
    with np.load(path, allow_pickle=False) as arrays:
        return {name: arrays[name] for name in arrays.files}


REFUSED = {
    "tree cut short": {"column": lambda a: a[:-1], "value": lambda a: a[:-1]},
    "tree of another length": {"value": lambda a: a[:-1]},
    "a variable out of range": {"column": lambda a: np.where(a >= 0, a + 99, a)},
    "a branching at a half": {"value": lambda a: a + 0.5},
    "multipliers not finite": {"numbers": lambda a: a * np.nan},
    "multipliers of another program": {"places": lambda a: a + 5},
    "rays without end": {"ray": lambda a: a[:-1]},
    "incumbent of another length": {"incumbent": lambda a: a[:-1]},
    "pseudo-costs not finite": {"costs": lambda a: a * np.nan},
    "pseudo-costs of others": {"costs": lambda a: a[:, :, :-1]},
    "no tree": {"text": lambda a: a[:-1]},
}
HARMLESS = {
    "multipliers scaled": {"numbers": lambda a: 1.1 * a},
    "incumbent infeasible": {"incumbent": np.ones_like},
    "pseudo-costs of nobody": {"costs": lambda a: a + 1e6},
    "rays for multipliers": {"ray": lambda a: ~a},
}


def forged(written, changes, path):
    held = dict(written)
    for name, change in changes.items():
        held[name] = change(held[name])
    np.savez(path, **held)
    return path


def test_a_damaged_checkpoint_is_refused_in_one_line(written, tmp_path):
    for name, changes in REFUSED.items():
        path = forged(written, changes, tmp_path / "tree.npz")
        with pytest.raises(FileError, match=r"damaged|no checkpoint|none of this program") as caught:
            fsopt.prove(knapsacks(10), resume=path)
        assert "\n" not in str(caught.value), name


@pytest.mark.parametrize("forgery", HARMLESS)
def test_a_forged_checkpoint_proves_nothing_false(forgery, written, tmp_path):
    model = knapsacks(10)
    path = forged(written, HARMLESS[forgery], tmp_path / "tree.npz")
    result = fsopt.prove(model, resume=path)
    assert result.bound is None or result.bound >= best_knapsack(model) * (1 - 1e-9)
    assert result.status != "optimal" or fsopt.verify(result, model).verified


def test_a_checkpoint_of_another_program_and_other_files_are_refused(written, tmp_path):
    path = tmp_path / "tree.npz"
    np.savez(path, **written)
    with pytest.raises(FileError, match="of a run that differs in objective"):
        fsopt.prove(knapsacks(10, seed=2), resume=path)
    other = knapsacks(10)
    other.size[1].deactivate()
    with pytest.raises(FileError, match="differs in constraints"):
        fsopt.prove(other, resume=path)
    with pytest.raises(FileError):
        fsopt.prove(other, resume=tmp_path / "none.npz")
    with pytest.raises(FileError):
        fsopt.prove(other, checkpoint=tmp_path / "no folder" / "tree.npz")


def test_a_tree_of_another_program_is_no_beginning():
    result = fsopt.prove(knapsacks(10))
    model, _ = random_program(0, "MILP")
    solved = replace(fsopt.solve(model), tree=result.tree)
    with pytest.raises(FileError):
        fsopt.prove(model, solved)
