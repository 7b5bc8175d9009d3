"""The parts of a saved answer: every known one of another kind is refused, by check and predict alike."""

import json

import pytest
from support import blobs

import fsopt
from fsopt.answers.fits import fit_record
from fsopt.answers.records import FORMAT, sealed
from fsopt.answers.saved import read_record, solve_record
from fsopt.answers.schema import FIT_PARTS, SOLVE_PARTS, check_parts, is_parameter
from fsopt.cli import main
from fsopt.errors import FileError
from fsopt.verification.checking import check_record

DATA = blobs(20, 3)
FIT = sealed(fit_record(fsopt.fit("svm", DATA), data=DATA, source="blobs"))
MODEL = fsopt.build("onsvm", DATA)
SOLVE = sealed(solve_record(MODEL, fsopt.solve(MODEL), slug="onsvm", data=DATA, source="blobs", params={}))
CASES = [(FIT, FIT_PARTS, name) for name in FIT_PARTS] + [(SOLVE, SOLVE_PARTS, name) for name in SOLVE_PARTS]
NONE_OF_ALL = object()


@pytest.mark.parametrize(("record", "parts", "name"), CASES, ids=lambda v: v if isinstance(v, str) else "")
def test_a_part_of_another_kind_is_refused(record, parts, name):
    check_parts(record, "here")
    with pytest.raises(FileError, match=f"'here' is not a saved answer: {name} is not"):
        check_parts({**record, name: NONE_OF_ALL}, "here")
    without = {key: value for key, value in record.items() if key != name}
    if parts[name].needed and name != "method":  # a record without a method is one of a solve
        with pytest.raises(FileError, match=f"it has no {name}"):
            check_parts(without, "here")
    elif name != "method":
        check_parts(without, "here")


@pytest.mark.parametrize("part", [{"labels": ["1"]}, {"labels": 3}, {"labels": ["1", "1"]}, {"columns": ["x1"]}])
def test_names_that_are_not_those_of_the_data_are_refused(part):
    with pytest.raises(FileError):
        check_record({**FIT, **part}, DATA, "fit.json")


@pytest.mark.parametrize("number", [None, 1, FORMAT + 1, str(FORMAT)])
def test_a_file_of_another_format_is_refused_in_one_line(number, tmp_path, capsys):
    path = tmp_path / "fit.json"
    record = {key: value for key, value in FIT.items() if key != "format"}
    path.write_text(json.dumps(record if number is None else record | {"format": number}))
    for command in (["check", str(path), "--data", "wdbc"], ["predict", str(path), "--data", "wdbc"]):
        with pytest.raises(SystemExit) as end:
            main(command)
        assert end.value.code == 2
        (line,) = capsys.readouterr().err.splitlines()
        held = "no format" if number is None else f"the format {number!r}"
        assert f"the format {FORMAT}, which this version reads: it has {held}: compute the answer again" in line


def test_names_may_be_the_words_of_numbers(tmp_path):
    path = tmp_path / "fit.json"
    names = {"columns": ["inf", "nan", "x"], "labels": ["nan", "inf"], "features": ["inf", "nan", "x"]}
    path.write_text(json.dumps({**FIT, **names}))
    read = read_record(path)
    assert {name: read[name] for name in names} == names


@pytest.mark.parametrize(
    ("annotation", "good", "bad"),
    [
        ("float", [1, 2.5, float("inf")], [None, "1", True, float("nan"), 10**400, [1.0]]),
        ("int | None", [3, None], [2.5, "3", False, 10**400]),
        ("bool | str", [True, "auto"], [1, None]),
        ("str | Sequence[float]", ["all", [1.0]], [1.0, None]),
    ],
)
def test_a_parameter_has_a_kind_of_its_annotation(annotation, good, bad):
    assert all(is_parameter(annotation, value) for value in good)
    assert not any(is_parameter(annotation, value) for value in bad)
    assert is_parameter(float, "anything")
