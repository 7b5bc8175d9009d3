"""The experiments of Peleg & Meir (section 6.2): the hyperparameters that each method is tuned over.

A method is tuned by :func:`fsopt.studies.tuning.tune` with its five folds on data with a training and a test part, and
measured by :func:`fsopt.studies.tuning.nested_cross_validation` with its ten rounds on other data (Table 4).
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from fsopt.errors import ParameterError
from fsopt.models.blocks import whole


def candidates(method: str, p: int, *, points: int = 7, odds: bool = True) -> list[dict[str, Any]]:
    r"""Return the hyperparameters that the paper tries, in lexicographic order, the smallest first.

    ====== ===============================================================================================
    gmeb   :math:`R_+ \times R_-`, each from 1 to 10 in ``points`` equal steps
    svm    :math:`C = L/(1-L)`, L from 0.02 to 0.98 in ``points`` ** 2 equal steps; features in their units
    l1-svm the same
    rfe    numbers of features from 1 to p in ``points`` equal steps, rounded, times C as above from ``points`` L
    ====== ===============================================================================================

    The order decides between equal error rates: the smallest R+ wins, then the smallest R-, the smallest C, the
    smallest number of features.

    Parameters
    ----------
    method : one of these four.
    p : number of features.
    points : 7 (default) gives 49 candidates; the paper has 10 for GMEB on its first synthetic data.
    odds : False takes C = L, as the paper did for the SVM and RFE on WDBC, BUPA and Pima.

    Raises
    ------
    ParameterError : another method, points < 2.

    Notes
    -----
    Peleg & Meir, section 6.2 and Table 2. RFE has fewer candidates where rounded numbers of features coincide.
    """
    points = whole("candidates", "points", points, low=2, high=1000)
    if method == "gmeb":
        radii = np.linspace(1.0, 10.0, points).tolist()
        return [{"r_plus": plus, "r_minus": minus} for plus, minus in product(radii, radii)]
    if method in ("svm", "l1-svm"):
        return [{"c": c, "scale": "center"} for c in _penalty_weights(points**2, odds)]
    if method == "rfe":
        counts = np.unique(np.rint(np.linspace(1, p, points)).astype(int)).tolist()
        return [{"m": m, "c": c, "scale": "center"} for m, c in product(counts, _penalty_weights(points, odds))]
    raise ParameterError(
        f"Peleg & Meir have no hyperparameters for '{method}'",
        "one of gmeb, svm, l1-svm, rfe, or give candidates of your own",
    )


def _penalty_weights(count: int, odds: bool) -> list[float]:
    """Return values of C, from shares L from 0.02 to 0.98."""
    share = np.linspace(0.02, 0.98, count)
    return [float(c) for c in (share / (1.0 - share) if odds else share)]
