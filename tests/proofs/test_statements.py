"""Proof files: what a statement says, data and programs that are other ones, and files that would take for ever."""

import copy
import json
import re
import time
from fractions import Fraction

import numpy as np
import pytest
from proof_files import verdict, written
from proofs.forging import DATA, base
from support import blobs, sampled

import fsopt
from fsopt.answers.trained import fingerprint
from fsopt.cli import main
from fsopt.data.matrices import constant_columns
from fsopt.data.synthetic.files import write
from fsopt.verification.exact_checking import exactly
from fsopt.verifier import verify, verify_data


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    write(blobs(n=6, p=3, seed=1), folder / "other.csv")
    write(DATA, folder / "small.csv")
    return folder


def test_a_proof_is_confirmed_with_its_data_and_refused_with_others(files, tmp_path):
    path = written(tmp_path / "proof.json", base("svm"))
    code, shown = verdict(path, "--data", str(files / "small.csv"))
    assert code == 0, shown
    assert shown.splitlines()[-1] == "confirmed  proved for the program that follows from the data"
    code, shown = verdict(path, "--data", str(files / "other.csv"))
    assert code == 1
    assert shown.splitlines()[-1].startswith("REFUTED    the file has other than 8 samples")


def test_one_number_of_the_data_is_enough_to_refuse_them(files, tmp_path):
    path = written(tmp_path / "proof.json", base("onsvm"))
    text = (files / "small.csv").read_text()
    number = text.splitlines()[1].split(",")[0]
    (tmp_path / "data.csv").write_text(text.replace(number, number[:-1] + str((int(number[-1]) + 1) % 10), 1))
    code, shown = verdict(path, "--data", str(tmp_path / "data.csv"))
    assert code == 1
    assert "SHA-256" in shown


def test_data_that_are_no_text_are_named(tmp_path):
    path = written(tmp_path / "proof.json", base("svm"))
    (tmp_path / "data.csv.gz").write_bytes(b"\x1f\x8b\x08")
    code, shown = verdict(path, "--data", str(tmp_path / "data.csv.gz"))
    assert code == 2
    assert "data.csv.gz' are no text: give the CSV file of 'fsopt data write'" in shown


def test_data_of_the_stated_digest_refute_a_program_of_other_data(files, tmp_path):
    for name in ("onsvm", "best-subset", "fsv", "mpm", "gmeb"):
        other = blobs(n=8, p=3, seed=6, gap=0.4)
        params = {"best-subset": {"m": 1}, "fsv": {"lam": 0.3}}.get(name, {})
        proof = exactly(fsopt.fit(name, other, **params), other).proof()
        proof["statement"]["data"]["sha256"] = fingerprint(DATA)
        path = written(tmp_path / "proof.json", proof)
        assert verdict(path)[0] == 0
        code, shown = verdict(path, "--data", str(files / "small.csv"))
        assert code == 1, name
        assert "REFUTED    its" in shown or "the covariance" in shown


@pytest.mark.parametrize("method", ["rsvm", "best-subset", "fsv", "gmeb", "mpm", "pearson", "rfe", "svm-norm", "onsvm"])
def test_a_proof_that_is_renamed_is_refused(method, tmp_path):
    proof = copy.deepcopy(base("svm"))
    slugs = {"best-subset": "selection", "fsv": "fsv-step", "gmeb": "gmeb-primal"}
    proof["statement"]["name"] = method
    for slug in ("svm", slugs.get(method, method)):
        proof["statement"]["claims"][0]["program"] = slug
        assert verdict(written(tmp_path / "proof.json", proof))[0] == 1


def test_a_method_that_is_not_known_is_not_compared_with_data(files, tmp_path):
    proof = copy.deepcopy(base("svm"))
    proof["statement"]["name"] = "unheard-of"
    path = written(tmp_path / "proof.json", proof)
    assert verdict(path)[0] == 0
    code, shown = verdict(path, "--data", str(files / "small.csv"))
    assert code == 2
    assert "--program" in shown


@pytest.mark.parametrize("change", ["samples", "features", "c", "m", "loss", "gap", "wide gap", "scale", "empty"])
def test_a_statement_that_its_proof_does_not_match_is_refused(change, tmp_path):
    proof = copy.deepcopy(base("best-subset"))
    statement = proof["statement"]
    (claim,) = statement["claims"]
    if change in ("samples", "features"):
        statement["data"][change] -= 1
    elif change in ("c", "m"):
        claim["parameters"][change] = statement["parameters"][change] = 2
    elif change == "loss":
        claim["parameters"][change] = statement["parameters"][change] = "squared-hinge"
    elif change == "gap":
        claim["gap"] = 0
    elif change == "wide gap":
        claim |= {"gap": 0.5, "lower": 0}
    elif change == "scale":
        statement["scale"] = "none"
    else:
        proof["proof"][0]["problem"] |= {"y": [], "columns": [], "lam": []}
    assert verdict(written(tmp_path / "proof.json", proof))[0] == 1


def test_the_json_object_has_the_statement_and_its_interval(files, tmp_path):
    path = written(tmp_path / "proof.json", base("svm"))
    code, shown = verdict(path, "--data", str(files / "small.csv"), "--json")
    found = json.loads(shown)
    assert code == 0
    assert found["confirmed"]
    assert found["compared_with_data"]
    assert found["statement"] == json.loads(path.read_text())["statement"]
    assert verify.Fraction(found["gap"]) <= verify.Fraction(found["statement"]["claims"][0]["gap"])
    code, shown = verdict(written(tmp_path / "proof.json", "[1"), "--json")
    assert code == 2
    assert not json.loads(shown.splitlines()[0])["confirmed"]


@pytest.mark.parametrize("sign", [1, -1])
def test_the_interval_that_is_printed_contains_the_proved_one(sign):
    lower, upper = sorted([Fraction(sign, 3), Fraction(2 * sign, 3)])
    claim = {"program": "svm", "parameters": {}, "rows": None, "columns": None, "units": "given", "left_out": []}
    claim |= {"status": "optimal", "sense": "min", "lower": lower, "upper": upper, "gap": Fraction(2, 3)}
    printed = "\n".join(verify.said(claim, {"gap": Fraction(1, 3), "sizes": {}}))
    low, high = re.search(r"in \[(.*), (.*)\]", printed).groups()
    gap, stated = re.search(r"relative gap (.*), stated at most (.*)", printed).groups()
    pairs = [(-Fraction(low), -lower), (Fraction(high), upper), (Fraction(gap), Fraction(1, 3))]
    for shown, exact in [*pairs, (Fraction(stated), claim["gap"])]:
        assert exact < shown < exact + Fraction(1, 10**9)


def test_a_number_that_is_next_to_none_has_forty_digits():
    tiny = Fraction(1, 10**50)
    assert verify.decimal(tiny, up=True) == f"0.{1:040d}"
    assert verify.decimal(tiny, up=False) == f"0.{0:040d}"


def test_a_file_of_another_format_says_what_to_do(tmp_path):
    code, shown = verdict(written(tmp_path / "proof.json", '{"format": "fsopt proof 1", "parts": [1]}'))
    assert code == 2
    assert "fsopt evidence" in shown


def test_alternatives_that_list_all_selections_state_that_there_is_no_other(files, tmp_path):
    found = fsopt.alternatives(DATA, 1, within=1e9, exact=True)
    assert found.exact.holds
    assert len(found.support) == 4
    assert found.proof["statement"]["claims"][0]["status"] == "exhausted"
    code, shown = verdict(written(tmp_path / "proof.json", found.proof), "--data", str(files / "small.csv"))
    assert code == 0
    assert "there is no selection, but for" in shown


def test_an_interval_of_some_per_cent_is_no_optimum():
    data = blobs(n=40, p=10, seed=2, gap=0.2)
    found = fsopt.verify(fsopt.fit("best-subset", data, m=3, tolerance=10.0), data, exact=True).exact.plain()
    (claim,) = found["claims"]
    assert float(claim["relative_width"]) > 1e-3
    assert found["word"] == "not verified exactly" or claim["reason"] == ""
    assert claim["lower"] is not None


@pytest.mark.parametrize(
    ("name", "options"),
    [("svm", ("mps",)), ("onsvm", ("mps", "cbf")), ("rsvm", ("cbf",)), ("misclass-milp", ("mps",)), ("mpm", ("cbf",))],
)
def test_a_proof_is_compared_with_the_exported_program(name, options, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for place, seed in (("own", 5), ("other", 6)):
        write(blobs(n=8, p=3, seed=seed, gap=0.4), tmp_path / f"{place}.csv")
    commands = [f"solve {name} --data own.csv -o answer.json", "evidence answer.json --data own.csv -o proof.json"]
    commands += [f"export {name} --data {k}.csv -o {k}.{e}" for k in ("own", "other") for e in options]
    for command in commands:
        with pytest.raises(SystemExit):
            main(command.split())
    capsys.readouterr()
    for ending in options:
        assert verdict("proof.json", "--program", f"own.{ending}")[0] == 0
        code, shown = verdict("proof.json", "--program", f"other.{ending}")
        assert code == 1
        assert "another one" in shown


def _huge(change):
    proof = copy.deepcopy(base("vertex" if change != "steps" else "best-subset"))
    program = proof["proof"][0].get("program")
    if change == "steps":
        proof["proof"][0]["steps"] = 10**4000
    elif change == "digits":
        program["c"][0] = "1" * 10**6
    elif change == "denominators":
        costs = [f"1/{2**4000 + 2 * k + 1:x}" for k in range(300)]
        program |= {"c": costs, "lb": [0] * 300, "ub": [None] * 300, "rows": []}
        proof["proof"][0] |= {"point": [0] * 300, "dual": None}
    elif change == "order":
        program["matrices"] = [{"order": 201, "entries": [[[0], [1], 0]] * (201 * 202 // 2)}]
        proof["proof"][0]["dual"]["matrices"] = [[0] * (201 * 202 // 2)]
    elif change == "samples":
        proof["statement"]["data"] |= {"samples": 10**12, "positive": 10**11, "features": 10**9}
        proof["statement"] |= {"name": "svm", "answer": "method", "parameters": {}}
        proof["statement"]["claims"][0] |= {"program": "svm", "parameters": {"c": 1}}
    return json.dumps(proof)


HUGE = {
    "steps": "the number of steps is out of bounds",
    "digits": "'11111111111111111111' is not a number",
    "samples": "a program of 2 variables is not one of 1000000000000 samples",
    "denominators": "no common denominator of a reasonable length",
    "order": "a matrix has an order above 200",
}


@pytest.mark.parametrize("change", sampled(HUGE, 3))
def test_numbers_without_measure_are_refused_soon(change, tmp_path):
    started = time.process_time()
    code, shown = verdict(written(tmp_path / "proof.json", _huge(change)))
    assert code in (1, 2), shown
    assert HUGE[change] in shown
    assert time.process_time() - started < 20


@pytest.mark.parametrize("empty", ["samples", "features"])
def test_data_of_one_sample_and_one_feature_are_data_and_of_none_are_not(empty):
    data = {"samples": 1, "positive": 0, "features": 1}
    claim = {"rows": None, "columns": None}
    assert verify_data.Features({"data": data}, claim, None).n == 1
    with pytest.raises(verify_data.Different, match="no samples, or no features"):
        verify_data.Features({"data": data | {empty: 0}}, claim, None)


def test_a_feature_is_constant_where_it_is_for_the_package():
    """At a standard deviation of 1e-12 of its largest entry."""
    columns = np.array([[1.0 + d, 1.0 - d] for d in (0.0, 0.9e-12, 1.1e-12, 1.0)])
    expected = [True, True, False, False]
    assert [verify_data.constant([Fraction(v) for v in column]) for column in columns] == expected
    assert constant_columns(columns.T).tolist() == expected


@pytest.mark.parametrize("place", range(4))
def test_the_labels_stand_in_any_column_of_the_data(place, tmp_path):
    X, y = [[0.5, 1.0, -2.0], [3.0, -1.5, 0.25], [7.0, 0.0, 1.0]], [1, -1, 1]
    rows = [[*x[:place], label, *x[place:]] for x, label in zip(X, y, strict=True)]
    (tmp_path / "data.csv").write_text("\n".join(",".join(map(str, row)) for row in rows))
    digest = verify_data.Samples(X, y).digest()
    data = {"weighted": False, "samples": 3, "features": 3, "sha256": digest}
    found = verify_data.Samples.of_file(str(tmp_path / "data.csv"), {"data": data})
    assert (found.X, found.y) == (X, y)


@pytest.mark.parametrize(("status", "columns"), [("optimal", [0]), ("feasible", None)])
def test_a_filter_has_the_value_of_a_hyperplane_on_its_features_alone(status, columns):
    statement = {"name": "fisher", "answer": "method", "claims": [{"status": status}]}
    claim = {"program": "svm", "rows": None, "columns": columns}
    with pytest.raises(verify_data.Different, match="'fisher' has no such claim"):
        verify_data.compare(statement, claim, {}, None, None)


def test_the_work_is_bounded_and_can_be_raised(tmp_path, monkeypatch):
    monkeypatch.setattr(verify, "MOST_WORK", 100)
    path = written(tmp_path / "proof.json", base("svm"))
    code, shown = verdict(path)
    assert code == 2
    assert "--work" in shown
    assert verdict(path, "--work", "1000000")[0] == 0
    assert verdict(path, "--work", "x")[0] == 2


@pytest.mark.parametrize("text", ["1e999", "NaN", "-Infinity", "1e400"])
def test_numbers_that_are_none_are_not_readable(text, tmp_path):
    held = json.dumps(base("vertex"))
    assert verdict(written(tmp_path / "proof.json", held.replace('"c0": 0', f'"c0": {text}')))[0] == 2


def test_what_is_not_foreseen_is_no_refutation(tmp_path, monkeypatch):
    monkeypatch.setattr(verify, "confirm", lambda *given: {}["missing"])
    code, shown = verdict(written(tmp_path / "proof.json", base("vertex")))
    assert code == 2
    assert "it is damaged (KeyError)" in shown
