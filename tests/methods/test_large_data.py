"""Large data: the methods that leave them to the interior point have the answers of the models."""

import numpy as np
import pytest
from support import blobs

import fsopt
from fsopt.answers.fits import fit_record
from fsopt.methods import large_programs
from fsopt.verification.checking import check_record

WIDE, LONG = blobs(30, 60, seed=2), blobs(120, 5, seed=3)


CASES = [("svm", {}), ("rsvm", {}), ("rsvm", {"w_cap": 0.05}), ("rsvm", {"w_cap": 1e5})]
CASES += [("pearson", {}), ("fisher", {"machine": "svm"}), ("vs-ssvm", {"n_partitions": 2})]


@pytest.mark.parametrize("data", [WIDE, LONG], ids=["wide", "long"])
@pytest.mark.parametrize(("method", "params"), CASES, ids=str)
def test_a_fit_without_a_model_is_that_of_the_model(method, params, data, monkeypatch):
    expected = fsopt.fit(method, data, **params)
    monkeypatch.setattr(large_programs, "INTERIOR", 1)
    fit = fsopt.fit(method, data, **params)
    assert fit.solver.endswith("fsopt")
    assert fit.status == expected.status
    assert fit.support == expected.support
    assert fit.objective == pytest.approx(expected.objective, rel=1e-5, abs=1e-5)
    assert fit.coef == pytest.approx(expected.coef, rel=1e-3, abs=1e-3 * np.abs(expected.coef).max())
    record = fit_record(fit, data=data, source="drawn")
    assert check_record(record, data, "drawn").verified
