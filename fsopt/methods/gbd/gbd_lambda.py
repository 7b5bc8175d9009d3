"""Method ``gbd-lambda`` (Aytug, GBD-lambda): the best support vector machine with penalised features, by cuts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fsopt.answers.fits import Fit
from fsopt.data import Dataset
from fsopt.drivers.run import Run
from fsopt.methods.gbd import gbd
from fsopt.methods.gbd.decomposition import Training, fit_by_decomposition, settings_of
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
    preset: str | None = None,
    start: str | Sequence[float] | None = None,
    root_cuts: int | None = None,
    stabilisation: str | None = None,
    master_solver: str | None = None,
    tolerance: float = 1e-6,
    max_cuts: int = 250,
    validation: float | None = None,
    patience: int | None = None,
    seed: int = 0,
    scale: str = "standard",
) -> Fit:
    r"""Fit the best support vector machine with a penalty weight on each feature, by generalized Benders cuts.

    .. math:: \min_{\sigma \in \{0,1\}^p}\ F(\sigma) + \lambda'\sigma

    with F of :func:`fsopt.methods.gbd.gbd.fit_gbd`, the objective value of the support vector machine on a selection,
    and its loop of two models (GBD-lambda). Method ``best-subset-penalised`` solves the same problem without a solver.

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
    preset : str, optional
        ``printed``: the loop of the paper as printed, with ``start="zero"``, ``stabilisation="none"`` and no root cuts;
        these parameters, where given, go before the preset. None for no preset.
    start : str | Sequence[float], optional
        Selection of the first cut: ``all`` features, ``zero``, or sigma (p,) in [0, 1]. None is that of the preset,
        else ``all``.
    root_cuts : int, optional
        >= 0, cuts spent on the relaxation before the loop, of which one is kept. None is 0.
    stabilisation : str, optional
        ``in-out``: a second cut in each iteration, a tenth of the way to the even selection; or ``none``. None is that
        of the preset, else ``in-out``.
    master_solver : str, optional
        Solver of the master, one for MILPs; None for the preferred one.
    tolerance : float, default 1e-06
        The loop stops at ``upper - lower <= tolerance * max(1, upper)``. Above a relative gap of 1e-3 the answer is
        ``feasible``, and ``stop`` says, for example, ``within 10``.
    max_cuts : int, default 250
        >= 2, cuts after which the loop stops.
    validation : float, optional
        Share in (0, 1) of each class that is held out; the answer is then the iterate with the fewest errors there, not
        the one of smallest F. None trains on all samples.
    patience : int, optional
        >= 1, iterations without fewer errors on the held-out samples after which the loop stops; None for no such
        limit.
    seed : int, default 0
        >= 0, of the draw of the samples that are held out.
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
    ParameterError : a parameter out of range, or constraints that no selection satisfies.

    Notes
    -----
    Aytug, GBD-lambda, (12)-(15). The printed closed form for sigma solves a master problem of one cut; with more cuts
    it is an MILP.
    """
    constraints = {"lam": lam, "include": include, "exclude": exclude, "implies": implies, "conflicts": conflicts}
    settings = settings_of(locals())
    return fit_by_decomposition(data, run, Training(c, scale, validation, seed), settings, constraints)


SPEC = replace(
    gbd.SPEC,
    name="gbd-lambda",
    fit=fit_gbd_lambda,
    equation="(12)-(15)",
    estimator="GBDLambda",
    grid=(("lam", (0.3, 1.0, 3.0)),),
)
