"""Method ``onsvm``: the one-norm support vector machine of the comparisons in Aytug, section 4."""

from __future__ import annotations

from fsopt.answers.fits import Fit
from fsopt.data import Dataset
from fsopt.drivers.run import Run, Steps
from fsopt.methods.baselines.machines import fit_machine
from fsopt.methods.spec import MethodSpec


def fit_onsvm(data: Dataset, run: Run, *, c: float = 1.0, scale: str = "standard") -> Steps[Fit]:
    r"""Fit the one-norm support vector machine, a linear program whose vertices are sparse.

    .. math:: \min\ \|w\|_1 + C e'\xi \ \text{s.t.}\ y_i(w'x_i + b) \ge 1 - \xi_i,\ \xi \ge 0

    Of large data restricted programs of some samples and features are solved (:func:`fsopt.drivers.column_generation`)
    instead of the whole one, with the same objective value and a proof for all samples and features.

    Parameters
    ----------
    c : float, default 1.0
        > 0, penalty weight of the hinge loss.
    scale : str, default 'standard'
        Preprocessing of the features: ``standard`` (default), ``center`` or ``none``; the selection depends on it.

    Returns
    -------
    Fit
        ``objective`` is that of the program, in preprocessed units.

    Raises
    ------
    ParameterError : c <= 0.

    Notes
    -----
    Aytug, (ONSVM).
    """
    return fit_machine("onsvm", data, run, c, scale=scale)


SPEC = MethodSpec(
    "onsvm",
    fit_onsvm,
    ("onsvm",),
    equation="Aytug, (ONSVM)",
    estimator="ONSVM",
    weights="samples",
    sparse=True,
)
