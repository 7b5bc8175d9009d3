"""Method ``gbd-lambda`` (Aytug, GBD-lambda): the best support vector machine with penalised features, by cuts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from fsopt.answers.fits import Fit
from fsopt.common.arguments import with_keywords_of
from fsopt.data import Dataset
from fsopt.drivers.run import Run, Steps
from fsopt.methods.gbd import gbd
from fsopt.methods.gbd.decomposition import fit_by_cuts
from fsopt.models.gbd.selection_constraints import SelectionConstraints


@with_keywords_of(SelectionConstraints.of, fit_by_cuts, without=("m", "costs", "budget", "exclude"))
def fit_gbd_lambda(data: Dataset, run: Run, *, lam: float | Sequence[float] | str = 1.0, **keywords: Any) -> Steps[Fit]:
    r"""Fit the best support vector machine with a penalty weight on each feature, by generalized Benders cuts.

    .. math:: \min_{\sigma \in \{0,1\}^p}\ F(\sigma) + \lambda'\sigma

    with F of :func:`fsopt.methods.gbd.gbd.fit_gbd`, the objective value of the support vector machine on a selection,
    and its loop of two models (GBD-lambda). Method ``best-subset-penalised`` solves the same problem without a solver.

    Parameters
    ----------
    lam : float | Sequence[float] | str, default 1.0
        >= 0, penalty weight of each feature, or p of them. Not every number of features is optimal for some weight.
        ``svm`` takes :math:`w'w / (2p)` from the weights w of the support vector machine on all features: its cut keeps
        the features with :math:`\tfrac12 w_j^2 > \lambda`, those above the mean. The paper's outlook suggests this
        machine as a start for choosing lambda, the mean is our choice; the number is in the parameters of the fit.

    Returns
    -------
    Fit
        ``objective`` is F(sigma) + lambda'sigma of the final hyperplane and ``bound`` the lower bound on the optimum;
        ``optimal`` where they meet, else ``feasible``.

    Raises
    ------
    ParameterError : a parameter out of range, or constraints that no selection satisfies.

    Notes
    -----
    Aytug, GBD-lambda, (12)-(15). The printed closed form for sigma solves a master problem of one cut; with more cuts
    it is an MILP. ``preset="closed-form"`` runs the loop with it.
    """
    return fit_by_cuts(data, run, lam=lam, **keywords)


SPEC = replace(
    gbd.SPEC,
    name="gbd-lambda",
    fit=fit_gbd_lambda,
    equation="(12)-(15)",
    estimator="GBDLambda",
    grid=(("lam", (0.3, 1.0, 3.0)),),
)
