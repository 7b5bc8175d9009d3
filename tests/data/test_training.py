"""A fit takes a data set, or samples with their labels: the same fit, or one clear line."""

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


def test_samples_that_are_no_data_set_are_refused_by_their_fault():
    for X, y, error, told in (
        (DATA, DATA.y, ParameterError, r"a Dataset has its labels already"),
        (DATA.X, DATA.y[:-1], DataError, r"y has shape \(19,\), expected \(20,\)"),
        (FRAME.assign(age="old"), DATA.y, DataError, "column 'age' of X is of type str, not of numbers"),
    ):
        with pytest.raises(error, match=told):
            fsopt.fit("svm", X, y)
