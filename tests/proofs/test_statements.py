"""Proof files and data: what a statement says, programs and data that are others, files that would take for ever."""

import contextlib
import copy
import gzip
import json
import re
import time
from fractions import Fraction

import pytest
from proof_files import refusal, verdict, written
from proofs.forging import DATA, base
from support import ROOT, blobs, sampled

import fsopt
from fsopt.errors import FileError, FsoptError
from fsopt.formats.writers import export
from fsopt.verification.origins import check_proof
from fsopt.verifier import verify

OTHER = blobs(n=8, p=3, seed=6, gap=0.4)
CASES = ROOT.parent / "shared" / "cases" / "proofs"


def changed(name, **origin):
    """Return an honest proof with another origin of its first program."""
    proof = copy.deepcopy(base(name))
    proof["claims"][0]["statement"]["origin"] |= origin
    return proof


def test_every_parameter_is_stated_and_compared(tmp_path):
    """Left out, null, or another number: no program of the data has the digest, or there is none."""
    for name in ("svm", "gmeb", "l1-mpm", "best-subset", "best-subset rules", "fsv"):
        given = base(name)["claims"][0]["statement"]["origin"]["parameters"]
        for key, value in given.items():
            rest = {k: v for k, v in given.items() if k != key}
            others = [rest, {**rest, key: "x"}] + [{**rest, key: None}] * (value not in (None, []))
            others += [{**rest, key: value * 1.5 + 0.25}] if type(value) in (int, float) else []
            others += [{**rest, key: [0]}] * (key in ("include", "exclude"))
            for params in others:
                path = written(tmp_path / "proof.json", changed(name, parameters=params))
                assert verdict(path)[0] == 0  # the proof of the program in it is right
                with contextlib.suppress(FsoptError):
                    assert check_proof(path, DATA).reason, (name, key, params)


@pytest.mark.parametrize(
    "origin",
    [
        {"scale": "center"},
        {"model": "onsvm"},
        {"columns": [0, 1]},
        {"units": "rms"},
        {"data": "0" * 64},
        {"model": "rsvm", "parameters": {"w_cap": 1.0}},
    ],
)
def test_another_origin_is_another_program(origin, tmp_path):
    path = written(tmp_path / "proof.json", changed("svm", **origin))
    assert check_proof(path, DATA).reason


@pytest.mark.parametrize(
    "origin",
    [
        {"model": "unheard-of"},
        {"more": 1},
        {"changed": ["svm"]},
        {"changed": None},
        {"units": "si"},
        {"scale": "x"},
        {"scale": None},
        {"columns": [7]},
        {"columns": "x"},
        {"columns": [2, 1, 0]},
        {"columns": [-3, -2, -1]},
        {"columns": [True]},
        {"parameters": {"c": True}},
        {"parameters": {"c": "1.0"}},
    ],
)
def test_an_origin_that_is_none_is_an_error_in_one_line(origin, tmp_path):
    path = written(tmp_path / "proof.json", changed("svm", **origin))
    with pytest.raises(FsoptError) as error:
        check_proof(path, DATA)
    assert "\n" not in str(error.value)


def test_the_digest_of_the_data_does_not_make_another_program_theirs(tmp_path):
    """A right proof of other data, whose origin says that it is of these."""
    for name in ("onsvm", "best-subset", "fsv", "mpm", "gmeb"):
        params = {"best-subset": {"m": 1}, "fsv": {"lam": 0.3}}.get(name, {})
        proof = fsopt.verify(fsopt.fit(name, OTHER, **params), OTHER, exact=True).exact.proof()
        proof["claims"][0]["statement"]["origin"]["data"] = base("svm")["claims"][0]["statement"]["origin"]["data"]
        path = written(tmp_path / "proof.json", proof)
        assert verdict(path)[0] == 0
        assert "is another one than the program in the proof" in check_proof(path, DATA).reason


def test_functions_that_changed_a_model_are_asked_for(tmp_path):
    change = {"svm": lambda model: model.w[0].setub(0.1)}
    fit = fsopt.fit("svm", DATA, customise=change)
    proof = fsopt.verify(fit, DATA, exact=True, customise=change).exact.proof()
    path = written(tmp_path / "proof.json", proof)
    with pytest.raises(FileError, match="changed models"):
        check_proof(path, DATA)
    assert check_proof(path, DATA, change).reason == ""
    other = {"svm": lambda model: model.w[0].setub(0.2)}
    assert "another one" in check_proof(path, DATA, other).reason


@pytest.mark.parametrize(("slug", "ending"), [("svm", "mps"), ("onsvm", "mps"), ("misclass-milp", "mps")])
def test_a_proof_is_compared_with_an_exported_program(slug, ending, tmp_path):
    params = {"big_m": 100.0} if slug == "misclass-milp" else {}
    model = fsopt.build(slug, DATA, **params)
    proof = fsopt.verify(fsopt.solve(model), model, exact=True).exact.proof()
    path = written(tmp_path / "proof.json", proof)
    assert proof["claims"][0]["statement"]["origin"] is None
    for data, right in ((DATA, True), (OTHER, False)):
        (file,) = export(fsopt.build(slug, data, **params), tmp_path / f"{slug}.{ending}")
        assert (check_proof(path, fsopt.read_model(file)).reason == "") == right


def test_the_json_object_has_the_statement_and_its_interval(tmp_path):
    path = written(tmp_path / "proof.json", base("svm"))
    found = check_proof(path, DATA).record()
    assert found["confirmed"]
    assert found["sense"] == "min"
    assert Fraction(found["lower"]) <= Fraction(found["upper"])
    assert found["statement"]["origin"]["parameters"] == {"c": 1.0}
    code, shown = verdict(path, "--json")
    assert code == 0
    (statement,) = json.loads(shown)["statements"]
    assert "origin" not in statement  # nothing is printed that was not compared
    assert statement["program"] == verify.digest(base("svm")["claims"][0]["program"])
    code, shown = verdict(written(tmp_path / "proof.json", "[1"), "--json")
    assert code == 2
    assert not json.loads(shown.splitlines()[0])["confirmed"]


def test_nothing_of_the_origin_is_printed_by_the_verifier(tmp_path):
    proof = changed("svm", model="every data set", scale="SCALE", data="DATA")
    code, shown = verdict(written(tmp_path / "proof.json", proof))
    assert code == 0
    assert not re.search("every|SCALE|DATA", shown)


@pytest.mark.parametrize("sign", [1, -1])
def test_the_interval_that_is_printed_contains_the_proved_one(sign):
    lower, upper = sorted([Fraction(sign, 3), Fraction(2 * sign, 3)])
    found = {
        "status": "interval",
        "sense": "min",
        "lower": str(lower),
        "upper": str(upper),
        "gap": "1/3",
        "left_out": [],
        "about": "",
        "program": "",
    }
    printed = "\n".join(verify.said(found))
    low, high = re.search(r"in \[(.*), (.*)\]", printed).groups()
    (wide,) = re.search(r"relative width (.*)", printed).groups()
    for shown, exact in [(-Fraction(low), -lower), (Fraction(high), upper), (Fraction(wide), Fraction(1, 3))]:
        assert exact < shown < exact + Fraction(1, 10**3)


def test_files_of_another_format_say_what_to_do(tmp_path):
    code, shown = verdict(written(tmp_path / "proof.json", '{"format": "fsopt proof 1", "parts": [1]}'))
    assert code == 2
    assert "fsopt check --proof" in shown
    for path in sorted(CASES.glob("*.json")):
        assert verdict(path)[0] == 2
        with pytest.raises(FileError, match="its format is not"):
            check_proof(path, DATA)


def test_alternatives_that_list_all_selections_state_that_there_is_no_other(tmp_path):
    found = fsopt.alternatives(DATA, 1, within=1e9, exact=True)
    assert found.exact.holds
    assert len(found.support) == 4
    code, shown = verdict(written(tmp_path / "proof.json", found.proof))
    assert code == 0
    assert "there is no feasible point, but for the selections" in shown


def test_an_interval_of_some_per_cent_is_no_optimum():
    data = blobs(n=40, p=10, seed=2, gap=0.2)
    found = fsopt.verify(fsopt.fit("best-subset", data, m=3, tolerance=10.0), data, exact=True).exact.plain()
    (claim,) = found["claims"]
    assert float(claim["relative_width"]) > 1e-3
    assert found["word"] == "not verified exactly" or claim["reason"] == ""
    assert claim["lower"] is not None


def _huge(change):
    proof = copy.deepcopy(base("best-subset" if change in ("steps", "constraints") else "vertex"))
    claim = proof["claims"][0]
    program, evidence = claim["program"], claim["evidence"]
    if change == "steps":
        evidence["cuts"][0][0] = 10**4000
    elif change == "constraints":  # rules that are the same, or empty, by the hundred thousand
        program |= {"R": [[0, 0, 0]] * 100_000, "r": [0] * 100_000}
        evidence["tree"] = [["branch", 0]] * 3000 + [["leaf", 0]] * 3001
    elif change == "digits":
        program["c"][0] = "1" * 10**6
    elif change == "denominators":
        costs = [f"1/{2**4000 + 2 * k + 1:x}" for k in range(300)]
        program |= {"c": costs, "lb": [0] * 300, "ub": [None] * 300, "rows": []}
        evidence |= {"point": [], "nodes": []}
    claim["statement"]["program"] = verify.digest(program)
    return json.dumps(proof)


HUGE = {
    "steps": "is none|Exceeds the limit",
    "constraints": "more work than is allowed",
    "digits": "'11111111111111111111' is not a number",
    "denominators": "no common denominator of a reasonable length",
}


@pytest.mark.parametrize("change", sampled(HUGE, 3))
def test_numbers_without_measure_are_refused_soon(change, tmp_path, monkeypatch):
    monkeypatch.setattr(verify, "MOST_WORK", 10**7)
    monkeypatch.setattr(verify, "OF_A_BYTE", 0)
    started = time.process_time()
    code, shown = verdict(written(tmp_path / "proof.json", _huge(change)))
    assert code in (1, 2), shown
    assert re.search(HUGE[change], shown)
    assert time.process_time() - started < 20


@pytest.mark.parametrize("kind", ["lists", "bits of a constraint", "bits of a gain", "lowest terms"])
def test_memory_and_bits_are_counted_before_they_are_used(kind, tmp_path, monkeypatch):
    monkeypatch.setattr(verify, "MOST_WORK", 10**7)
    monkeypatch.setattr(verify, "OF_A_BYTE", 0)
    claim = copy.deepcopy(base("vertex" if kind == "lowest terms" else "best-subset")["claims"][0])
    program, evidence = claim["program"], claim["evidence"]
    if kind == "lists":
        claim = [[]] * 60_000
    elif kind == "bits of a constraint":
        program |= {"R": [["f" * 9000 + "/1"] * 3], "r": ["f" * 9000 + "/1"]}
        evidence |= {"main": 0, "tree": [["branch", 0]] * 900 + [["leaf", 0]] * 901}
    elif kind == "bits of a gain":
        program["lam"] = ["f" * 20_000 + "/1"] * 3
    else:
        program["rows"] = [[[0, 1], [1, 1], None, None]] * 90
        evidence["point"] = [[0, "f" * 9000 + "/1"], [1, "1/" + "f" * 9000]]
    path = tmp_path / "proof.json.gz"
    path.write_bytes(gzip.compress(json.dumps({"format": verify.FORMAT, "claims": [claim]}).encode()))
    code, shown = verdict(path)
    assert code == 2
    assert "more work than is allowed" in shown


def test_the_work_is_bounded_and_can_be_raised(tmp_path, monkeypatch):
    monkeypatch.setattr(verify, "MOST_WORK", 100)
    path = written(tmp_path / "proof.json", base("svm"))
    code, shown = verdict(path)
    assert code == 2
    assert "--work" in shown
    assert verdict(path, "--work", "1000000")[0] == 0
    assert verdict(path, "--work", "x")[0] == 2
    assert verdict(path, "--json", "--work", "1000000")[0] == 0


@pytest.mark.parametrize("text", ["1e999", "NaN", "-Infinity", "1.5"])
def test_numbers_that_are_none_are_not_readable(text, tmp_path):
    held = json.dumps(base("vertex"))
    assert verdict(written(tmp_path / "proof.json", held.replace('"c0": 0', f'"c0": {text}')))[0] == 2


def test_what_is_not_foreseen_is_no_refutation(tmp_path, monkeypatch):
    monkeypatch.setattr(verify, "confirm", lambda *given: {}["missing"])
    code, shown = verdict(written(tmp_path / "proof.json", base("vertex")))
    assert code == 2
    assert "it is damaged (KeyError)" in shown


def test_an_end_without_measure_is_refused():
    claim = copy.deepcopy(base("vertex")["claims"][0])
    claim["program"]["c0"] = "f" * 5000 + "/1"
    assert "more than 4096 bits" in refusal(claim)


def test_damaged_packing_deep_parameters_and_words_of_terminals_are_refused(tmp_path):
    packed = bytearray(gzip.compress(json.dumps(base("svm")).encode()))
    packed[40:90] = b"\xff" * 50
    (tmp_path / "cut.json.gz").write_bytes(packed)
    assert "Error -3 while decompressing" in verdict(tmp_path / "cut.json.gz")[1]
    deep, odd = copy.deepcopy(base("svm")), copy.deepcopy(base("svm"))
    deep["claims"][0]["statement"]["origin"]["parameters"]["c"] = json.loads("[" * 600 + "]" * 600)
    for path in (tmp_path / "cut.json.gz", written(tmp_path / "deep.json", deep)):
        with pytest.raises(FileError, match="damaged"):
            check_proof(path, DATA)
    odd["claims"][0]["evidence"]["nodes"] = [["leaf", "\x1b[2K"]]
    assert "\x1b" not in verdict(written(tmp_path / "odd.json", odd))[1]
