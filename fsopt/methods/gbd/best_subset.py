"""Method ``best-subset``: the best support vector machine with a limited number of features, by exact search."""

from __future__ import annotations

from collections.abc import Sequence

from fsopt.answers.fits import Fit
from fsopt.data import Dataset
from fsopt.drivers.run import Run
from fsopt.methods.gbd.proofs import tree_claims
from fsopt.methods.gbd.subset_search import Search, fit_by_search, some_nodes
from fsopt.methods.gbd.verification import check_best_subset, objective, selection
from fsopt.methods.spec import MethodSpec
from fsopt.models.gbd.selection_constraints import Feature


def fit_best_subset(
    data: Dataset,
    run: Run,
    *,
    m: int | None = None,
    costs: Sequence[float] | None = None,
    budget: float | None = None,
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
    r"""Fit the best support vector machine with a limited number of features, by branch and Benders.

    .. math::

        \min_{\sigma \in \{0,1\}^p}\ & F(\sigma) \quad\text{s.t.}\quad e'\sigma \le M \ \text{or}\
        \beta'\sigma \le B, \ \text{and rules between features} \\
        & F(\sigma) = \min\ \tfrac12 w'w + C e'\xi \quad\text{s.t.}\quad y_i(w'x_i + b) \ge 1 - \xi_i,\ \xi \ge 0,\
        w_j = 0 \text{ if } \sigma_j = 0

    A branch and bound whose node bound is the Boolean relaxation, with Benders cuts shared by all nodes. It calls no
    solver. Method ``gbd`` is the loop of cuts and master problems of the paper, in solvers of choice.

    Parameters
    ----------
    m : int, optional
        Largest number of features; None is 5, or all where there are fewer, if there is no budget either.
    costs : Sequence[float], optional
        (p,) costs beta >= 0 of the features, which a budget needs; None with m.
    budget : float, optional
        Largest total cost B of the selected features, in place of m; None with m.
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
        ``objective`` is F(sigma) of the final hyperplane and ``bound`` the lower bound on the optimum, in preprocessed
        units; ``optimal`` where they meet, else ``feasible`` with the gap between them.
        ``features`` are those of sigma: also one of weight 0 that a rule asks for.
        ``details`` has ``sigma`` and ``evidence``, the tree with the cut that closes each leaf.

    Raises
    ------
    ParameterError : a parameter out of range, a solver, or constraints that no selection satisfies.

    Notes
    -----
    The problem is Aytug's (FSP-M), with the cuts (7); the node bound is half the squared k-support norm for the
    cardinality (Argyriou, Foygel and Srebro, 2012).
    """
    constraints = {
        "m": m,
        "costs": costs,
        "budget": budget,
        "include": include,
        "exclude": exclude,
        "implies": implies,
        "conflicts": conflicts,
    }
    search = Search("best-subset", c, scale, initial, max_nodes, jobs, tolerance)
    return fit_by_search(data, run, search, constraints)


SPEC = MethodSpec(
    "best-subset",
    fit_best_subset,
    objective,
    check_best_subset,
    ("fsp-master",),
    paper="gbd",
    equation="(FSP-M)",
    estimator="BestSubsetSVM",
    driver="branch_and_benders",
    resumable=True,
    support=selection,
    compare=some_nodes,
    weights="samples",
    exact=tree_claims,
    solver=False,
)
