"""Method ``best-subset``: the best support vector machine with a limited number of features, by exact search."""

from __future__ import annotations

from typing import Any

from fsopt.answers.fits import Fit
from fsopt.common.arguments import with_keywords_of
from fsopt.data import Dataset
from fsopt.drivers.run import Run, Steps
from fsopt.methods.gbd.proofs import tree_claims
from fsopt.methods.gbd.subset_search import fit_by_search, many_nodes
from fsopt.methods.gbd.verification import check_best_subset, objective, selection
from fsopt.methods.spec import MethodSpec
from fsopt.models.gbd.selection_constraints import SelectionConstraints


@with_keywords_of(SelectionConstraints.of, fit_by_search, without=("exclude",))
def fit_best_subset(data: Dataset, run: Run, **keywords: Any) -> Steps[Fit]:
    r"""Fit the best support vector machine with a limited number of features, by branch and Benders.

    .. math::

        \min_{\sigma \in \{0,1\}^p}\ & F(\sigma) \quad\text{s.t.}\quad e'\sigma \le M \ \text{or}\
        \beta'\sigma \le B, \ \text{and rules between features} \\
        & F(\sigma) = \min\ \tfrac12 w'w + C e'\xi \quad\text{s.t.}\quad y_i(w'x_i + b) \ge 1 - \xi_i,\ \xi \ge 0,\
        w_j = 0 \text{ if } \sigma_j = 0

    With ``loss="squared-hinge"`` the second term is :math:`C \xi'\xi`, with ``loss="logistic"``
    :math:`C \sum_i \ln(1 + e^{-y_i(w'x_i + b)})`.

    A branch and bound whose node bound is the Boolean relaxation, with Benders cuts shared by all nodes. It calls no
    solver. Method ``gbd`` is the loop of cuts and master problems of the paper, in solvers of choice.

    Returns
    -------
    Fit
        ``objective`` is F(sigma) of the final hyperplane and ``bound`` the lower bound on the optimum, in preprocessed
        units; ``optimal`` where they meet, else ``feasible`` with the gap between them.
        ``features`` are those of sigma: also one of weight 0 that a rule asks for.
        Of several optimal selections it is the first that the search finds, the same one in every run on the same data;
        ``fsopt.alternatives(data, m, within=0.0)`` lists the others.
        ``details`` has ``sigma`` and ``evidence``, the tree with the cut that closes each leaf.

    Raises
    ------
    ParameterError : a parameter out of range, a solver, or constraints that no selection satisfies.

    Notes
    -----
    The problem is Aytug's (FSP-M), with the cuts (7); the node bound is half the squared k-support norm for the
    cardinality (Argyriou, Foygel and Srebro, 2012).
    """
    return fit_by_search("best-subset", data, run, **keywords)


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
    compare=many_nodes,
    weights="samples",
    exact=tree_claims,
    solver=False,
    sparse=True,
)
