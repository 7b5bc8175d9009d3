"""Changed proofs: each is refuted or not readable, or what it states is still true by brute force."""

import contextlib
import copy
import gzip
import json
import re
from fractions import Fraction
from functools import cache

import pytest
from forgery.engine import CASES, SLICES
from forgery.proofs import DATA, MAKERS, OF_DATA, OTHER, base, forged
from forgery.truth import false_claim
from proof_files import refusal, refused, renewed, verdict, written
from support import blobs, sampled

import fsopt
from fsopt.data.hyperplanes import LOSSES
from fsopt.errors import FileError, FsoptError
from fsopt.verification.verify import check_proof
from fsopt.verifier import verify


@pytest.mark.parametrize("name", MAKERS)
def test_the_honest_proofs_are_confirmed_and_for_their_data_alone(name, tmp_path):
    path = written(tmp_path / "proof.json", base(name))
    code, shown = verdict(path)
    assert code == 0, shown
    assert false_claim(base(name)) is None
    if name not in OF_DATA:
        with pytest.raises(FsoptError, match="a proof of a model file"):
            check_proof(path, DATA)
        return
    assert check_proof(path, DATA)["reason"] == ""
    assert "the data are other ones" in check_proof(path, OTHER)["reason"]


@pytest.mark.parametrize("part", sampled(range(SLICES), 1))
def test_no_false_statement_is_confirmed(part, tmp_path):
    codes = set()
    for seed in range(part, CASES // 4, SLICES):
        name, kinds, proof = forged(seed)
        path = written(tmp_path / "proof.json", json.dumps(proof))
        code, shown = verdict(path)
        codes.add(code)
        assert code in (0, 1, 2), seed
        assert "it is damaged" not in shown, (seed, shown)
        if code == 0:
            assert false_claim(proof) is None, (seed, name, kinds)
            stated = [{k: v for k, v in claim["statement"].items() if k != "origin"} for claim in proof["claims"]]
            assert json.loads(verdict(path, "--json")[1])["statements"] == stated, (seed, kinds)
            assert name not in OF_DATA or seed % 3 or of_its_origin(path, proof), (seed, name, kinds)
    assert codes == {0, 1, 2}


def of_its_origin(path, proof):
    """Return whether each program is that of its origin, where a changed proof is confirmed for the data."""
    try:
        confirmed = check_proof(path, DATA)["reason"] == ""
    except FsoptError:
        return True
    own = [(claim["statement"]["origin"], claim["program"]) for claim in proof["claims"]]
    honest = [(c["statement"]["origin"], c["program"]) for name in OF_DATA for c in base(name)["claims"]]
    return not confirmed or all(one == two for at, one in own for origin, two in honest if origin == at)


# -- forged by hand: once confirmed, or a traceback ----------------------------------------------------------------

LARGER = blobs(n=24, p=5, seed=3, gap=0.4)


@cache
def made(name, params):
    return fsopt.verify(fsopt.fit(name, LARGER, **dict(params)), LARGER, exact=True).claims[0].part


def part_of(name, **params):
    return copy.deepcopy(made(name, tuple(params.items())))


@pytest.mark.parametrize("loss", LOSSES)
def test_a_tree_of_one_loss_proves_nothing_about_the_others(loss):
    part = part_of("best-subset", m=2, loss=loss)
    assert not refused(copy.deepcopy(part))
    for other in LOSSES.keys() - {loss}:
        assert refused({**part, "program": {**part["program"], "loss": other}})


@pytest.mark.parametrize("term", [(-1, 5, [0]), (1, -5, [0]), (1, 0, [0]), (1, 5, []), (1, 5, [0, 1, 2]), None])
def test_a_concave_term_is_one_of_one_or_two_columns_with_a_positive_slope_and_counts_once(term):
    part = part_of("fsv", lam=0.3)
    concave = part["program"]["concave"]
    part["program"]["lb"][:3] = [0, 0, 0] if term else part["program"]["lb"][:3]
    part["program"]["concave"] = [list(term), *concave[1:]] if term else [*concave, concave[0]]
    assert "damaged" in refusal(part)


@pytest.fixture
def file(tmp_path):
    """Return the function that writes a proof."""
    return lambda proof: written(tmp_path / "proof.json", proof)


def changed(name, **origin):
    """Return an honest proof with another origin of its first program."""
    proof = copy.deepcopy(base(name))
    proof["claims"][0]["statement"]["origin"] |= origin
    return proof


def test_every_parameter_is_stated_and_compared(file):
    """Left out, null, or another number: no program of the data has the digest, or there is none."""
    for name in ("svm", "gmeb", "l1-mpm", "best-subset", "best-subset rules", "fsv"):
        given = base(name)["claims"][0]["statement"]["origin"]["parameters"]
        for key, value in given.items():
            rest = {k: v for k, v in given.items() if k != key}
            others = [rest, {**rest, key: "x"}] + [{**rest, key: None}] * (value not in (None, []))
            others += [{**rest, key: value * 1.5 + 0.25}] if type(value) in (int, float) else []
            others += [{**rest, key: [0]}] * (key in ("include", "exclude"))
            for params in others:
                path = file(changed(name, parameters=params))
                assert verdict(path)[0] == 0  # the proof of the program in it is right
                with contextlib.suppress(FsoptError):
                    assert check_proof(path, DATA)["reason"], (name, key, params)


@pytest.mark.parametrize(
    ("none", "origin"),
    [
        *((False, origin) for origin in (
            {"scale": "center"}, {"model": "onsvm"}, {"columns": [0, 1]}, {"units": "rms"}, {"data": "0" * 64},
            {"model": "rsvm", "parameters": {"w_cap": 1.0}},
        )),
        *((True, origin) for origin in (
            {"model": "unheard-of"}, {"more": 1}, {"changed": ["svm"]}, {"changed": None}, {"units": "si"},
            {"scale": "x"}, {"scale": None}, {"columns": [7]}, {"columns": "x"}, {"columns": [2, 1, 0]},
            {"columns": [-3, -2, -1]}, {"columns": [True]}, {"parameters": {"c": True}}, {"parameters": {"c": "1.0"}},
        )),
    ],
)  # fmt: skip
def test_another_origin_is_another_program_or_one_line(none, origin, file):
    path = file(changed("svm", **origin))
    if not none:
        assert check_proof(path, DATA)["reason"]
        return
    with pytest.raises(FsoptError) as error:
        check_proof(path, DATA)
    assert "\n" not in str(error.value)


def test_a_proof_of_a_changed_model_is_not_of_the_data(file):
    change = {"svm": lambda model: model.w[0].setub(0.1)}
    fit = fsopt.fit("svm", DATA, customise=change)
    path = file(fsopt.verify(fit, DATA, exact=True, customise=change).proof())
    with pytest.raises(FileError, match="changed models"):
        check_proof(path, DATA)


def test_the_json_object_has_the_statement_and_nothing_that_was_not_compared(file):
    found = check_proof(file(base("svm")), DATA)
    assert (found["confirmed"], found["sense"]) == (True, "min")
    assert Fraction(found["lower"]) <= Fraction(found["upper"])
    assert found["statement"]["origin"]["parameters"] == {"c": 1.0}
    code, shown = verdict(file(changed("svm", model="every data set", scale="SCALE", data="DATA")), "--json")
    (statement,) = json.loads(shown)["statements"]
    assert code == 0
    assert "origin" not in statement
    assert not re.search("every|SCALE|DATA", shown)
    assert statement["program"] == verify.digest(base("svm")["claims"][0]["program"])
    code, shown = verdict(file("[1"), "--json")
    assert code == 2
    assert not json.loads(shown.splitlines()[0])["confirmed"]


@pytest.mark.parametrize("sign", [1, -1])
def test_the_interval_that_is_printed_contains_the_proved_one(sign):
    lower, upper = sorted([Fraction(sign, 3), Fraction(2 * sign, 3)])
    found = {"status": "interval", "sense": "min", "lower": str(lower), "upper": str(upper), "gap": "1/3"}
    text = "\n".join(verify.said({**found, "left_out": [], "about": "", "program": ""}))
    low, high = re.search(r"in \[(.*), (.*)\]", text).groups()
    (wide,) = re.search(r"relative width (.*)", text).groups()
    for shown, exact in [(-Fraction(low), -lower), (Fraction(high), upper), (Fraction(wide), Fraction(1, 3))]:
        assert exact < shown < exact + Fraction(1, 10**3)


COSTS = [f"1/{2**4000 + 2 * k + 1:x}" for k in range(300)]
HUGE = {
    "steps": ("best-subset", {}, {"cuts": [[10**4000, [0] * 8, []]]}, "is none|Exceeds the limit"),
    "digits": ("vertex", {"c": ["1" * 10**6, 1]}, {}, "'11111111111111111111' is not a number"),
    "denominators": (
        "vertex",
        {"c": COSTS, "lb": [0] * 300, "ub": [None] * 300, "rows": []},
        {"point": [], "dual": None},
        "no common denominator of a reasonable length",
    ),
}
"""Kind -> the proof that is changed, parts of its program and of its evidence whose numbers have no measure, words."""


@pytest.mark.parametrize("kind", HUGE)
def test_numbers_without_a_measure_are_refused(kind, tmp_path):
    name, program, evidence, words = HUGE[kind]
    claim = copy.deepcopy(base(name)["claims"][0])
    claim["program"] |= program
    claim["evidence"] |= evidence
    path = tmp_path / "proof.json.gz"
    proof = {"format": verify.FORMAT, "claims": [renewed(claim)]}
    path.write_bytes(gzip.compress(json.dumps(proof).encode()))
    code, shown = verdict(path)
    assert code in (1, 2), shown
    assert re.search(words, shown)


TEXT = json.dumps(fsopt.verify(fsopt.fit("svm", DATA), DATA, exact=True).proof())
UNREADABLE = {
    **{f"the text {text!r}": text for text in ("", "[]", "{}", '{"format": "fsopt proof 5", "claims": []}')},
    "a proof of another format": '{"format": "fsopt proof 2", "statement": {}, "proof": []}',
    "nesting": '{"format": "fsopt proof 5", "claims": ' + "[" * 100_000 + "]" * 100_000 + "}",
    "a number for a list": '{"format": "fsopt proof 5", "claims": 5}',
    "a lone surrogate": TEXT.replace('"optimal"', '"\\ud800"', 1),
    "a line break": TEXT.replace('"optimal"', '"optimal\\nconfirmed"', 1),
    "a key twice": TEXT.replace('"lower": ', '"lower": -1e300, "lower": ', 1),
    "another format": '{"format": "fsopt proof 1", "parts": [1]}',
    "a word of terminals": TEXT.replace('"curve"', '"\\u001b[2K"', 1),
    **{f"c0 {v}": TEXT.replace('"c0": 0', f'"c0": {v}', 1) for v in ("1e999", "NaN", "-Infinity", "1.5")},
}


@pytest.mark.parametrize("kind", UNREADABLE)
def test_no_text_ends_in_a_traceback(kind, file):
    assert UNREADABLE[kind] != TEXT
    code, shown = verdict(file(UNREADABLE[kind]))
    assert code in (1, 2)
    assert shown.startswith(("fsopt-verify: ", "REFUTED"))
    assert shown.isascii()
    assert "\x1b" not in shown
    assert shown.count("\n") == 1
    assert kind != "another format" or "fsopt check --proof" in shown


def test_damaged_packing_and_deep_parameters_are_refused(tmp_path, file):
    packed = bytearray(gzip.compress(TEXT.encode()))
    packed[40:90] = b"\xff" * 50
    (tmp_path / "cut.json.gz").write_bytes(packed)
    assert "Error -3 while decompressing" in verdict(tmp_path / "cut.json.gz")[1]
    deep = copy.deepcopy(base("svm"))
    deep["claims"][0]["statement"]["origin"]["parameters"]["c"] = json.loads("[" * 600 + "]" * 600)
    for path in (tmp_path / "cut.json.gz", file(deep)):
        with pytest.raises(FileError, match="damaged"):
            check_proof(path, DATA)
