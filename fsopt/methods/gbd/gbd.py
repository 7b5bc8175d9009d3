"""Method ``gbd`` (Aytug, GBD-M): the best support vector machine with a limited number of features."""

from __future__ import annotations

from collections.abc import Sequence

from fsopt.answers.results import Fit
from fsopt.data import Dataset
from fsopt.drivers.gbd.settings import GbdSettings
from fsopt.drivers.run import Run
from fsopt.methods.gbd.decomposition import Training
from fsopt.methods.gbd.parameters import training_data
from fsopt.methods.gbd.proofs import exact_claims
from fsopt.methods.gbd.variants import Branching, fit_selection, some_nodes, without_nodes
from fsopt.methods.gbd.verification import check_gbd, objective, selection
from fsopt.methods.spec import MethodSpec
from fsopt.models.gbd.selection_constraints import Feature


def fit_gbd(
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
    variant: str | None = None,
    initial: Sequence[Feature] | None = None,
    max_nodes: int | None = None,
    jobs: int | None = None,
    start: str | Sequence[float] = "all",
    root_cuts: int = 0,
    stabilisation: str = "in-out",
    master_solver: str | None = None,
    tolerance: float = 1e-6,
    max_cuts: int = 250,
    validation: float | None = None,
    patience: int | None = None,
    seed: int = 0,
    scale: str = "standard",
) -> Fit:
    r"""Fit the support vector machine that is best with a limited number of features (GBD-M).

    .. math::

        \min_{\sigma \in \{0,1\}^p}\ & F(\sigma) \quad\text{s.t.}\quad e'\sigma \le M \ \text{or}\
        \beta'\sigma \le B, \ \text{and rules between features} \\
        & F(\sigma) = \min\ \tfrac12 w'w + C e'\xi \quad\text{s.t.}\quad y_i(w'x_i + b) \ge 1 - \xi_i,\ \xi \ge 0,\
        w_j = 0 \text{ if } \sigma_j = 0

    Parameters
    ----------
    m : int, optional
        Largest number of features; 5 (or all, where there are fewer) if no limit is given.
    costs, budget : Sequence[float] or float, optional
        Feature costs beta and the budget B, instead of m.
    include, exclude : Sequence[Feature], default ()
        Features that must, and must not, be selected, by place (from 0) or name.
    implies : Sequence[Sequence[Feature]], default ()
        Pairs [j, k]: if j is selected, so is k.
    conflicts : Sequence[Sequence[Feature]], default ()
        Groups of features, at most one of each is selected.
    c : float, default 1.0
        > 0, penalty weight of the hinge loss.
    variant : str, optional
        ``branch-and-benders``: branch and bound whose node bound is the Boolean relaxation, with Benders cuts shared by
        all nodes. ``paper``: the loop of cuts and master problems as printed, Table 1. None is the first, or the second
        where one of its own parameters, or a solver, is given.
    initial : Sequence[Feature], optional
        Features of a selection to start from, by place or name.
    max_nodes : int, optional
        Nodes after which branch and Benders stops; None for no limit.
    jobs : int, optional
        Subtrees that are searched at a time, in as many processes; 1 by default.
    tolerance : float, default 1e-06
        The search stops at ``upper - lower <= tolerance * max(1, upper)``. Above a relative gap of 1e-3 the answer is
        ``feasible``, and ``stop`` says, for example, ``within 10``.
    start, root_cuts, stabilisation, master_solver, max_cuts : as there, optional
        Of the loop as printed, as in :class:`fsopt.drivers.gbd.settings.GbdSettings`.
    validation : float, optional
        Of the loop as printed: share in (0, 1) of each class that is held out; the answer is then the iterate with the
        fewest errors there, not the one of smallest F.
    patience : int, optional
        Iterations without fewer errors there after which the loop stops.
    seed : int, default 0
        Of the samples that are held out.
    scale : str, default 'standard'
        ``standard`` (default), ``center`` or ``none``, by statistics of the training samples.

    Returns
    -------
    Fit
        ``objective`` is F(sigma) of the final hyperplane and ``bound`` the lower bound on the optimum, in preprocessed
        units, on the training samples; ``optimal`` where they meet, else ``feasible`` with the gap between them.
        ``features`` are those of sigma: also one of weight 0 that a rule asks for.
        ``details`` has ``sigma`` and the evidence for the bound: the tree with the cut that closes each leaf
        (``evidence``), or of the loop as printed ``alphas``, the multipliers behind the cuts.

    Raises
    ------
    ParameterError : a parameter out of range or of the other variant, or constraints that no selection satisfies.

    Notes
    -----
    Aytug, GBD-M, (5)-(11) and Table 1; the node bound is half the squared k-support norm for the cardinality (Argyriou,
    Foygel and Srebro, 2012).
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
    training = Training(c, scale, validation, seed)
    settings = GbdSettings(
        start=start,
        root_cuts=root_cuts,
        stabilisation=stabilisation,
        master_solver=master_solver,
        tolerance=tolerance,
        max_cuts=max_cuts,
        patience=patience,
    )
    branching = Branching(variant, initial, max_nodes, jobs)
    return fit_selection("gbd", data, run, training, settings, branching, constraints)


SPEC = MethodSpec(
    "gbd",
    fit_gbd,
    objective,
    check_gbd,
    ("fsp-sub", "fsp-master"),
    paper="gbd",
    equation="(5)-(10)",
    estimator="GBD",
    driver="branch_and_benders",
    resumable=True,
    support=selection,
    trained_on=training_data,
    compare=some_nodes,
    excludes=without_nodes,
    weights="samples",
    exact=exact_claims,
)
