"""Method ``gbd`` (Aytug, GBD-M): the best support vector machine with a limited number of features, by cuts."""

from __future__ import annotations

from typing import Any

from fsopt.answers.fits import Fit
from fsopt.common.docstrings import with_keywords_of
from fsopt.data import Dataset
from fsopt.drivers.run import Run, Steps
from fsopt.methods.gbd.decomposition import few_cuts, fit_by_cuts
from fsopt.methods.gbd.proofs import loop_claims
from fsopt.methods.gbd.verification import check_gbd, objective, selection
from fsopt.methods.spec import MethodSpec
from fsopt.models.gbd.selection_constraints import SelectionConstraints


@with_keywords_of(SelectionConstraints.of, fit_by_cuts, without=("exclude",))
def fit_gbd(data: Dataset, run: Run, **keywords: Any) -> Steps[Fit]:
    r"""Fit the best support vector machine with a limited number of features, by generalized Benders cuts (GBD-M).

    .. math::

        \min_{\sigma \in \{0,1\}^p}\ & F(\sigma) \quad\text{s.t.}\quad e'\sigma \le M \ \text{or}\
        \beta'\sigma \le B, \ \text{and rules between features} \\
        & F(\sigma) = \min\ \tfrac12 w'w + C e'\xi \quad\text{s.t.}\quad y_i(w'x_i + b) \ge 1 - \xi_i,\ \xi \ge 0,\
        w_j = 0 \text{ if } \sigma_j = 0

    A loop of two explicit models: the subproblem ``fsp-sub``, a quadratic program in the solver ``solver``, gives F and
    a cut at a selection; the master ``fsp-master``, an MILP in the solver ``master_solver``, gives a lower bound and
    the next selection. From 5,000 entries of the data on fsopt's interior point solves the subproblem, where no solver
    is named and no model changed. Method ``best-subset`` solves the same problem without a solver, and closes larger
    gaps.

    Returns
    -------
    Fit
        ``objective`` is F(sigma) of the final hyperplane and ``bound`` the lower bound on the optimum, in preprocessed
        units; ``optimal`` where they meet, else ``feasible`` with the gap between them.
        ``features`` are those of sigma: also one of weight 0 that a rule asks for.
        ``details`` has ``sigma`` and ``alphas``, the multipliers behind the cuts.

    Raises
    ------
    ParameterError : a parameter out of range, or constraints that no selection satisfies.

    Notes
    -----
    Aytug, GBD-M, (5)-(11) and Table 1.
    """
    return fit_by_cuts(data, run, **keywords)


SPEC = MethodSpec(
    "gbd",
    fit_gbd,
    objective,
    check_gbd,
    ("fsp-sub", "fsp-master"),
    paper="gbd",
    equation="(5)-(10)",
    estimator="GBD",
    driver="gbd",
    resumable=True,
    support=selection,
    compare=few_cuts,
    weights="samples",
    exact=loop_claims,
)
