"""Changed models through fit, studies and check; models and methods of other packages by entry points."""

import pyomo.environ as pyo
import pytest
from support import blobs

import fsopt
from fsopt.answers.fits import fit_record
from fsopt.answers.records import sealed
from fsopt.errors import FileError, ParameterError, UnknownNameError
from fsopt.verification.verify import verify_record

DATA = blobs(30, 4, seed=3)


def rule(model):
    model.own_rule = pyo.Constraint(expr=model.sigma[0] + model.sigma[1] <= 1)


def sealed_fit(found):
    return sealed(fit_record(found, data=DATA, source="blobs"))


def test_a_rule_of_the_master_gives_the_best_selection_that_keeps_it():
    free = fsopt.fit("best-subset", DATA, m=2, c=1.0)
    kept = fsopt.fit("best-subset", DATA, m=2, c=1.0, customise={"fsp-master": rule})
    assert kept.details["customised"] == {"fsp-master": "rule"}
    assert not {0, 1} <= set(kept.support)
    assert {0, 1} <= set(free.support), "the rule must cut off the optimum, or this tests nothing"
    assert kept.status == "optimal"
    known = fsopt.fit("best-subset", DATA, m=2, c=1.0, conflicts=[["x1", "x2"]])
    assert kept.objective == pytest.approx(known.objective, rel=1e-6)


def test_check_verifies_a_changed_fit_with_its_change_and_refuses_it_without():
    record = sealed_fit(fsopt.fit("best-subset", DATA, m=2, c=1.0, customise={"fsp-master": rule}))
    found = verify_record(record, DATA, "fit.json", customise={"fsp-master": rule})
    assert (found.verified, found.claimed) == (True, "optimal")
    with pytest.raises(FileError, match=r"changed models: fsp-master'?:.*customise="):
        verify_record(record, DATA, "fit.json")
    unchanged = sealed_fit(fsopt.fit("best-subset", DATA, m=2, c=1.0))
    with pytest.raises(FileError, match="unchanged models"):
        verify_record(unchanged, DATA, "fit.json", customise={"fsp-master": rule})
    forged = {**record, "details": {k: v for k, v in record["details"].items() if k != "customised"}}
    with pytest.raises(FileError, match="tree of the search"):  # the rule has multipliers in it
        verify_record(sealed(forged), DATA, "fit.json")


@pytest.mark.parametrize(
    ("customise", "error", "words"),
    [
        ({"svm": rule}, ParameterError, r"'best-subset' solves no model 'svm'.*fsp-master"),
        ({"fsp-mastr": rule}, UnknownNameError, "fsp-mastr"),
        (rule, ParameterError, "mapping of slugs"),
        ({"fsp-master": lambda m: 1 / 0}, ParameterError, r"'fsp-master' failed \(Python: division by zero"),
        ({"fsp-master": lambda m: 3}, ParameterError, "returned 3"),
    ],
)
def test_functions_that_cannot_be_used_are_refused_in_one_line(customise, error, words):
    with pytest.raises(error, match=words):
        fsopt.fit("best-subset", DATA, customise=customise)


def test_a_change_that_the_method_passes_by_is_an_error():
    with pytest.raises(ParameterError, match=r"took another way.*gmeb-dual"):
        fsopt.fit("gmeb", DATA, r_plus=0.5, r_minus=0.5, customise={"gmeb-sdp": rule})
