"""A fit takes a data set, or samples with their labels: the same fit, or one clear line."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from support import blobs

import fsopt
from fsopt.errors import DataError, ParameterError
from fsopt.methods.registry import training_data

DATA = blobs(20, 3)
FRAME = pd.DataFrame(DATA.X, columns=["age", "size", "dose"])


def test_samples_with_labels_are_the_data_set_of_both():
    for y in (DATA.y, DATA.y.astype(int).tolist(), pd.Series(DATA.y, index=range(5, 25))):
        made = training_data(DATA.X.tolist(), y)
        assert np.array_equal(made.X, DATA.X)
        assert np.array_equal(made.y, DATA.y)
    assert fsopt.fit("svm", DATA.X, y, c=0.5).coef.tolist() == fsopt.fit("svm", DATA, c=0.5).coef.tolist()


def test_the_columns_of_a_data_frame_name_the_features():
    assert training_data(FRAME, DATA.y).features == ("age", "size", "dose")
    fit = fsopt.fit("pearson", FRAME, DATA.y, m=3)
    assert set(fit.features) == {"age", "size", "dose"}
    assert np.array_equal(fit.predict(FRAME[["dose", "age", "size"]]), fit.predict(FRAME))


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ((DATA.X,), r"samples without labels: give fit\(name, X, y\), or a Dataset"),
        ((FRAME,), "samples without labels"),
        ((DATA, DATA.y), r"a Dataset has its labels already"),
        (("wdbc",), "the data must be a Dataset, not 'wdbc'"),
        ((None,), "the data must be a Dataset, not None"),
    ],
)
def test_other_pairs_are_refused_in_one_line(given, match):
    with pytest.raises(ParameterError, match=match):
        fsopt.fit("svm", *given)


def test_samples_that_are_no_data_set_are_refused_by_their_fault():
    with pytest.raises(DataError, match=r"y has shape \(19,\), expected \(20,\)"):
        fsopt.fit("svm", DATA.X, DATA.y[:-1])
    with pytest.raises(DataError, match="X is not numeric"):
        fsopt.fit("svm", FRAME.assign(age="old"), DATA.y)
