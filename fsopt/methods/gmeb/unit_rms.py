"""The data of the GMEB problems: centred, without constant features, in units of unit root mean square."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fsopt.common.texts import counted
from fsopt.data import Dataset
from fsopt.data.matrices import Preprocessing, constant_columns, exact_sums
from fsopt.errors import ParameterError
from fsopt.methods.preprocessing import preprocess
from fsopt.typing import Indices, Vector


@dataclass(frozen=True)
class UnitRms:
    """The data that a GMEB problem is solved on, and the way back.

    Attributes
    ----------
    work : the preprocessed features that are not constant, each divided by its root mean square.
    map_ : the preprocessing of all features, before that division.
    kept : (q,) places of the features that are not constant.
    units : (q,) their root mean squares after preprocessing.
    warnings : a warning about the constant features, if there are any.
    """

    work: Dataset
    map_: Preprocessing
    kept: Indices
    units: Vector
    warnings: tuple[str, ...]

    def full(self, w: Vector) -> Vector:
        """Return the weights (p,) of all preprocessed features from those (q,) of ``work``."""
        weights = np.zeros(len(self.map_.scale))
        weights[self.kept] = w / self.units
        return weights


def unit_rms(data: Dataset, scale: str) -> UnitRms:
    """Return the data in units of unit root mean square.

    The problems are invariant to the units of the features, the arithmetic of solvers is not: on WDBC in raw units
    one solver stops at 84.45, another at 79.79, instead of 97.01.

    Parameters
    ----------
    scale : preprocessing before that, see :func:`fsopt.methods.preprocessing.preprocess`.

    Raises
    ------
    ParameterError : all features are constant.
    """
    centred, map_ = preprocess(data, scale)
    kept = np.flatnonzero(~constant_columns(data.X))
    if not len(kept):
        raise ParameterError("all features are constant, nothing can be learned", "give data that vary")
    warnings: tuple[str, ...] = ()
    if len(kept) < data.p:
        names = ", ".join(data.features[j] for j in np.setdiff1d(np.arange(data.p), kept)[:5])
        warnings = (f"dropped {counted(data.p - len(kept), 'constant feature')} ({names})",)
    units = np.sqrt(exact_sums(centred.X[:, kept] ** 2) / data.n)
    return UnitRms(centred.columns(kept).with_X(centred.X[:, kept] / units), map_, kept, units, warnings)
