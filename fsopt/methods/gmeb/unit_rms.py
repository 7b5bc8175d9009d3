"""The data as the GMEB problems need them: centred, without constant columns, in units of unit root mean square."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fsopt.data import Dataset
from fsopt.errors import ParameterError
from fsopt.methods.preprocessing import constant_columns, preprocess
from fsopt.results import Preprocessing
from fsopt.typing import Indices, Vector


class UnitColumns(NamedTuple):
    """The data a GMEB problem is solved on, and the way back.

    Attributes
    ----------
    work : the preprocessed columns that are not constant, each divided by its root mean square.
    map_ : the preprocessing of all columns, before that division.
    alive : (q,) indices of the columns kept.
    units : (q,) their root mean squares after preprocessing.
    warnings : a line on the columns dropped, if there are any.
    """

    work: Dataset
    map_: Preprocessing
    alive: Indices
    units: Vector
    warnings: list[str]

    def full(self, w: Vector) -> Vector:
        """Return the weights (p,) of all preprocessed columns from those (q,) of the columns kept."""
        weights = np.zeros(len(self.map_.scale))
        weights[self.alive] = w / self.units
        return weights


def unit_columns(data: Dataset, scale: str) -> UnitColumns:
    """Return the data in the units to solve in.

    The problems are invariant to the units of the columns, the solvers are not.

    Parameters
    ----------
    scale : how the columns are preprocessed, see :func:`fsopt.methods.preprocessing.preprocess`.

    Raises
    ------
    ParameterError : all columns are constant.
    """
    centred, map_ = preprocess(data, scale)
    alive = np.flatnonzero(~constant_columns(data.X))
    if not len(alive):
        raise ParameterError("all columns are constant, nothing can be learned", "give data that vary")
    warnings: list[str] = []
    if len(alive) < data.p:
        names = ", ".join(data.features[j] for j in np.setdiff1d(np.arange(data.p), alive)[:5])
        warnings.append(f"{data.p - len(alive)} constant columns were dropped ({names})")
    units = np.sqrt((centred.X[:, alive] ** 2).mean(axis=0))
    return UnitColumns(centred.columns(alive).with_X(centred.X[:, alive] / units), map_, alive, units, warnings)
