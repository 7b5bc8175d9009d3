"""Each part of a saved fit and of its evidence, changed alone: it counts, and is judged without a solver."""

import copy
import json

import pytest
from forgery.answers import CASES, judged, opened, record_of, resealed
from forgery.engine import at, paths, put
from saved_records import as_read
from support import reference

import fsopt
from fsopt.verification.verify import verify_record

PARTS = ("params", "coef", "intercept", "objective", "bound", "support", "details")
FREE = {
    *("params.seed", "params.step", "params.tolerance", "params.max_cuts", "params.max_iterations", "params.max_nodes"),
    *("details.starts", "details.point.x", "details.alphas", "details.evidence.alpha", "details.evidence.mu"),
    *("details.scaling.radius", "details.scaling.capacity", "details.scaling.value", "details.scaling.from"),
    *("details.leaves", "details.leaves.mu", "details.leaves.share", "details.b_interval", "details.worst_case"),
}
"""Parts that no statement depends on, that prove as much in another order, and cuts, of which others do."""
WEAK = {
    "gmeb": {"params.r_plus"},
    "misclass": {"params.alpha", "details.point.y"},
    "pmm": {"coef", "intercept"},
    "fsv": {"intercept"},
    "mopfs": {"params.c", "params.w_cap"},
    "rfe": {"params.m"},
    "rsvm": {"intercept", "details.alpha"},
    "svm": {"details.alpha"},
    "best-subset": {"bound"},
}
"""Method -> parts of which a larger or a smaller number is true as well: no active constraint, or a number between."""
RULES = {
    "upper": {"age": 0.1},
    "lower": {"age": 1.0},
    "negative": ["age"],
    "include": ["pulse"],
    "groups": [["age", "pulse"]],
    "implies": [["age", "pulse"]],
    "conflicts": [["age", "height"]],
    "approx": "log",
    "kernel": "polynomial",
    "loss": "squared-hinge",
}
"""Parameter -> a value with which the answers would be others."""


def scaled(value, factor):
    """Return plain data with all numbers times a factor, and whole ones moved by one."""
    if isinstance(value, list):
        return [scaled(one, factor) for one in value]
    if isinstance(value, int) and not isinstance(value, bool):
        return value + (1 if factor > 1.0 else -1)
    return value * factor if isinstance(value, float) else value


CHANGES = (
    lambda value: scaled(value, 1.01),
    lambda value: scaled(value, 0.9),
    lambda value: value[::-1] if isinstance(value, list) else value,
)


def verified(record, name):
    """Return whether a changed record is verified, which one that is not read is not."""
    try:
        return judged(json.dumps(resealed(record)), name).verified
    except fsopt.FsoptError:
        return False


@pytest.mark.parametrize("name", [name for name in CASES if name.startswith("fit")])
def test_a_changed_part_is_refused(name, monkeypatch):
    record, method = opened(record_of(name)), CASES[name][0]
    monkeypatch.setattr(fsopt.Session, "solve", lambda *args, **keywords: pytest.fail("a solver was called"))
    assert verified(record, name)
    places = {".".join(k for k in path if isinstance(k, str)): path for path in reversed(list(paths(record)))}
    for part, path in places.items():
        if path[0] not in PARTS or part in FREE | WEAK.get(method, set()):
            continue
        for change in CHANGES:
            new = copy.deepcopy(record)
            put(new, path, change(at(new, path)))
            assert new == record or not verified(new, name), (part, at(new, path))
    for rule in RULES.keys() & fsopt.METHODS[method].parameters.keys():
        assert not verified({**record, "params": {**record["params"], rule: RULES[rule]}}, name), rule


def test_of_an_open_loop_the_bounds_up_to_the_optimum_are_believed(monkeypatch):
    """Those that its cuts, or a search of few nodes, prove: what was not proved counts for nothing."""
    data, given = reference("gbd_n6"), {"m": 2, "c": 4.0, "scale": "none"}
    few, whole = (as_read(fsopt.fit("gbd", data, **given, **more), data) for more in ({"max_cuts": 4}, {}))
    assert (few["status"], few["bound"] < whole["objective"]) == ("feasible", True)

    def judge(record, **parts):
        return verify_record(record | parts, data, "test")

    assert not judge(few, status="optimal").verified
    assert judge(few, bound=whole["objective"] * (1 - 1e-6)).verified
    beyond = judge(few, bound=whole["objective"] * (1 + 1e-5), objective=2 * whole["objective"])
    assert beyond.certificate.residuals["stated bound"] > 5e-6
    assert judge(whole).verified
    monkeypatch.setattr("fsopt.methods.gbd.problems.CLOSED_NODES", 0)
    assert not judge(whole).verified
