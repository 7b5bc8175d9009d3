"""Method ``best-subset-penalised``: the best support vector machine with penalised features, by exact search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fsopt.answers.fits import Fit
from fsopt.data import Dataset
from fsopt.drivers.run import Run
from fsopt.methods.gbd import best_subset
from fsopt.methods.gbd.subset_search import Search, fit_by_search
from fsopt.models.gbd.selection_constraints import Feature


def fit_best_subset_penalised(
    data: Dataset,
    run: Run,
    *,
    lam: float | Sequence[float] = 1.0,
    include: Sequence[Feature] = (),
    exclude: Sequence[Feature] = (),
    implies: Sequence[Sequence[Feature]] = (),
    conflicts: Sequence[Sequence[Feature]] = (),
    c: float = 1.0,
    initial: Sequence[Feature] | None = None,
    max_nodes: int | None = None,
    jobs: int | None = None,
    tolerance: float = 1e-6,
    scale: str = "standard",
) -> Fit:
    r"""Fit the best support vector machine with a penalty weight on each feature, by branch and Benders.

    .. math:: \min_{\sigma \in \{0,1\}^p}\ F(\sigma) + \lambda'\sigma

    with F of :func:`fsopt.methods.gbd.best_subset.fit_best_subset`, the objective value of the support vector machine
    on a selection, and its search, which calls no solver. Method ``gbd-lambda`` is the loop of the paper.

    Parameters
    ----------
    lam : float | Sequence[float], default 1.0
        >= 0, penalty weight of each feature, or p of them. Not every number of features is optimal for some weight.
    include : Sequence[Feature], default ()
        Features that must be selected, by place (from 0) or name.
    exclude : Sequence[Feature], default ()
        Features that must not be selected, by place (from 0) or name.
    implies : Sequence[Sequence[Feature]], default ()
        Pairs [j, k]: if j is selected, so is k.
    conflicts : Sequence[Sequence[Feature]], default ()
        Groups of features, at most one of each is selected.
    c : float, default 1.0
        > 0, penalty weight of the hinge loss.
    initial : Sequence[Feature], optional
        Features of a selection to start from, by place or name; None for no such selection.
    max_nodes : int, optional
        Nodes after which the search stops; None for no limit.
    jobs : int, optional
        Subtrees that are searched at a time, in as many processes; None is 1.
    tolerance : float, default 1e-06
        The search stops at ``upper - lower <= tolerance * max(1, upper)``. Above a relative gap of 1e-3 the answer is
        ``feasible``, and ``stop`` says, for example, ``within 10``.
    scale : str, default 'standard'
        Preprocessing of the features, by statistics of the training samples: ``standard`` (default), ``center`` or
        ``none``.

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
    constraints = {"lam": lam, "include": include, "exclude": exclude, "implies": implies, "conflicts": conflicts}
    search = Search("best-subset-penalised", c, scale, initial, max_nodes, jobs, tolerance)
    return fit_by_search(data, run, search, constraints)


SPEC = replace(
    best_subset.SPEC,
    name="best-subset-penalised",
    fit=fit_best_subset_penalised,
    equation="(FSP-lambda)",
    estimator="BestSubsetPenalisedSVM",
    grid=(("lam", (0.3, 1.0, 3.0)),),
)
