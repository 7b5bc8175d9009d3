"""Method ``gbd-lambda`` (Aytug, GBD-lambda): the best support vector machine with a penalty weight on each feature."""

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


def fit_gbd_lambda(
    data: Dataset,
    run: Run,
    *,
    lam: float | Sequence[float] = 1.0,
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
    r"""Fit the support vector machine that is best with a penalty weight on each feature (GBD-lambda).

    .. math:: \min_{\sigma \in \{0,1\}^p}\ F(\sigma) + \lambda'\sigma

    with F of :func:`fsopt.methods.gbd.gbd.fit_gbd`, the objective value of the support vector machine on a selection.

    Parameters
    ----------
    lam : float | Sequence[float], default 1.0
        >= 0, penalty weight of each feature, or p of them. Not every number of features is optimal for some weight.
    include, exclude, implies, conflicts, c, variant, initial, max_nodes, jobs, tolerance : as there, optional
        As in :func:`fsopt.methods.gbd.gbd.fit_gbd`.
    start, root_cuts, stabilisation, master_solver, max_cuts : as there, optional
        Of the loop as printed, as in :class:`fsopt.drivers.gbd.settings.GbdSettings`.
    validation, patience, seed, scale : as there, optional
        As in :func:`fsopt.methods.gbd.gbd.fit_gbd`.

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
    it is an MILP.
    """
    constraints = {"lam": lam, "include": include, "exclude": exclude, "implies": implies, "conflicts": conflicts}
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
    return fit_selection("gbd-lambda", data, run, training, settings, branching, constraints)


SPEC = MethodSpec(
    "gbd-lambda",
    fit_gbd_lambda,
    objective,
    check_gbd,
    ("fsp-sub", "fsp-master"),
    paper="gbd",
    equation="(12)-(15)",
    estimator="GBDLambda",
    driver="branch_and_benders",
    resumable=True,
    support=selection,
    trained_on=training_data,
    compare=some_nodes,
    excludes=without_nodes,
    weights="samples",
    exact=exact_claims,
    grid=(("lam", (0.3, 1.0, 3.0)),),
)
