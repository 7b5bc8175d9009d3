"""Method ``gbd`` (Aytug, GBD-M): the best support vector machine with a limited number of features, by cuts."""

from __future__ import annotations

from collections.abc import Sequence

from fsopt.answers.fits import Fit
from fsopt.data import Dataset
from fsopt.drivers.run import Run
from fsopt.methods.gbd.decomposition import Training, few_cuts, fit_by_decomposition, settings_of
from fsopt.methods.gbd.parameters import training_data
from fsopt.methods.gbd.proofs import loop_claims
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
    r"""Fit the best support vector machine with a limited number of features, by generalized Benders cuts (GBD-M).

    .. math::

        \min_{\sigma \in \{0,1\}^p}\ & F(\sigma) \quad\text{s.t.}\quad e'\sigma \le M \ \text{or}\
        \beta'\sigma \le B, \ \text{and rules between features} \\
        & F(\sigma) = \min\ \tfrac12 w'w + C e'\xi \quad\text{s.t.}\quad y_i(w'x_i + b) \ge 1 - \xi_i,\ \xi \ge 0,\
        w_j = 0 \text{ if } \sigma_j = 0

    A loop of two explicit models: the subproblem ``fsp-sub``, a quadratic program in the solver ``solver``, gives F and
    a cut at a selection; the master ``fsp-master``, an MILP in the solver ``master_solver``, gives a lower bound and
    the next selection. Method ``best-subset`` solves the same problem without a solver, and closes larger gaps.

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
        ``objective`` is F(sigma) of the final hyperplane and ``bound`` the lower bound on the optimum, in preprocessed
        units, on the training samples; ``optimal`` where they meet, else ``feasible`` with the gap between them.
        ``features`` are those of sigma: also one of weight 0 that a rule asks for.
        ``details`` has ``sigma`` and ``alphas``, the multipliers behind the cuts.

    Raises
    ------
    ParameterError : a parameter out of range, or constraints that no selection satisfies.

    Notes
    -----
    Aytug, GBD-M, (5)-(11) and Table 1.
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
    settings = settings_of(locals())
    return fit_by_decomposition(data, run, Training(c, scale, validation, seed), settings, constraints)


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
    trained_on=training_data,
    compare=few_cuts,
    weights="samples",
    exact=loop_claims,
)
