"""Each part of a saved answer and of its evidence, changed alone: it counts, and is judged without a solver."""

import copy
import json

import pytest
from forgery.answers import CASES, free, judged, opened, record_of, resealed
from forgery.engine import at, paths, put
from saved_records import as_read
from support import reference

import fsopt
from fsopt.verification.verify import verify_record

PARTS = ("params", "coef", "intercept", "objective", "bound", "support", "details")
PARTS += ("solution", "point", "ray", "direction", "evidence")
RULES = {
    "upper": {"age": 0.1},
    "lower": {"age": 1.0},
    "negative": ["age"],
    "include": ["pulse"],
    "groups": [["age", "pulse"]],
    "implies": [["age", "pulse"]],
    "conflicts": [["age", "height"]],
    "approx": "log",
    "kernel": "linear",
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


CHANGES = {
    "more": lambda value: scaled(value, 1.01),
    "less": lambda value: scaled(value, 0.9),
    "reversed": lambda value: value[::-1] if isinstance(value, list) else value,
    "another": lambda value: [] if isinstance(value, list) else f"{value}x" if isinstance(value, str) else value,
}


def supports(record):
    """Return selections with one feature less, and with one more, or twice."""
    known = record["support"]
    rest = [j for j in range(len(record["coef"])) if j not in known] or known
    return known[:-1], [*known, rest[-1]], sorted([*known, rest[-1]])


def names_of(record):
    """Return the names of the features, or of the samples of a kernel."""
    return record["columns"] if record["kernel"] is None else [f"row {j}" for j in range(len(record["coef"]))]


def verified(record, name):
    """Return whether a changed record is verified, which one that is not read is not."""
    try:
        return judged(json.dumps(resealed(record)), name).verified
    except fsopt.FsoptError:
        return False


@pytest.mark.parametrize("name", CASES)
def test_a_changed_part_is_refused(name, monkeypatch):
    record, method = opened(record_of(name)), CASES[name][0]
    monkeypatch.setattr(fsopt.Session, "solve", lambda *args, **keywords: pytest.fail("a solver was called"))
    assert verified(record, name)
    places = {".".join(k for k in path if isinstance(k, str)): path for path in reversed(list(paths(record)))}
    for part, path in places.items():
        for kind, change in CHANGES.items():
            if path[0] not in PARTS or free(record) & {part, f"{part} {kind}"}:
                continue
            new = copy.deepcopy(record)
            put(new, path, change(at(new, path)))
            assert new == record or not verified(new, name), (part, kind)
    for support in supports(record) if "support" in record else ():
        named = {"support": support, "features": [names_of(record)[j] for j in support]}
        assert not verified({**record, **named}, name), support
    spec = fsopt.METHODS.get(method) if name.startswith("fit") else None
    for rule in RULES.keys() & spec.parameters.keys() if spec else ():
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
