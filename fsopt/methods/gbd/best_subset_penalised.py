"""Method ``best-subset-penalised``: the best support vector machine with penalised features, by exact search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from fsopt.answers.fits import Fit
from fsopt.common.arguments import with_keywords_of
from fsopt.data import Dataset
from fsopt.drivers.run import Run, Steps
from fsopt.methods.gbd import best_subset
from fsopt.methods.gbd.subset_search import fit_by_search, some_nodes
from fsopt.models.gbd.selection_constraints import SelectionConstraints


@with_keywords_of(SelectionConstraints.of, fit_by_search, without=("m", "costs", "budget", "exclude", "initial"))
def fit_best_subset_penalised(
    data: Dataset, run: Run, *, lam: float | Sequence[float] = 1.0, **keywords: Any
) -> Steps[Fit]:
    r"""Fit the best support vector machine with a penalty weight on each feature, by branch and Benders.

    .. math:: \min_{\sigma \in \{0,1\}^p}\ F(\sigma) + \lambda'\sigma

    with F of :func:`fsopt.methods.gbd.best_subset.fit_best_subset`, the objective value of the support vector machine
    on a selection, and its search, which calls no solver. Method ``gbd-lambda`` is the loop of the paper.

    Parameters
    ----------
    lam : float | Sequence[float], default 1.0
        >= 0, penalty weight of each feature, or p of them. Not every number of features is optimal for some weight.

    Returns
    -------
    Fit
        ``objective`` is F(sigma) + lambda'sigma of the final hyperplane and ``bound`` the lower bound on the optimum;
        ``optimal`` where they meet, else ``feasible``.

    Raises
    ------
    ParameterError : a parameter out of range, a solver, or constraints that no selection satisfies.

    Notes
    -----
    The problem is Aytug's (FSP-lambda).
    """
    return fit_by_search("best-subset-penalised", data, run, lam=lam, **keywords)


SPEC = replace(
    best_subset.SPEC,
    name="best-subset-penalised",
    fit=fit_best_subset_penalised,
    equation="(FSP-lambda)",
    estimator="BestSubsetPenalisedSVM",
    compare=some_nodes,
    grid=(("lam", (0.3, 1.0, 3.0)),),
)
