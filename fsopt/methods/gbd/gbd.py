"""Method ``gbd`` (Aytug, GBD-M): the best support vector machine with few features."""

from __future__ import annotations

from collections.abc import Sequence

from fsopt.data import Dataset
from fsopt.drivers.gbd.settings import GbdSettings
from fsopt.drivers.run import Run
from fsopt.methods.gbd.decomposition import Training, few_cuts, fit_by_benders
from fsopt.methods.gbd.verification import check_gbd, objective
from fsopt.methods.spec import MethodSpec
from fsopt.models.gbd.limits import Feature
from fsopt.results import Fit


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

    .. math:: \min_{\sigma \in \{0,1\}^p}\ F(\sigma) \quad\text{s.t.}\quad e'\sigma \le M \ \text{or}\
              \beta'\sigma \le B, \ \text{and rules between features}

    Parameters
    ----------
    m : largest number of features; 5 (or all, where there are fewer) if no limit is given.
    costs, budget : prices of the features and the budget, instead of m.
    include, exclude : features that must be, and must not be, selected, by place (from 0) or name.
    implies : pairs [j, k]: where j is selected, so is k.
    conflicts : groups of features, at most one of each.
    c : > 0, price of a unit of hinge loss.
    start, root_cuts, stabilisation, master_solver, tolerance, max_cuts : as in :func:`fsopt.drivers.gbd.loop.gbd`.
    validation : share in (0, 1) of each class that is held out: the answer is then the machine of the iterate with the
        fewest errors there, not the one of least F.
    patience : iterations without fewer errors there after which the loop stops.
    seed : of the rows that are held out.
    scale : ``standard`` (default), ``center`` or ``none``, by statistics of the training rows.

    Returns
    -------
    Fit
        ``objective`` is F(sigma) of the final machine and ``bound`` the master's, in preprocessed units, on the
        training rows; ``optimal`` where they meet, else ``feasible`` with the gap between them.

    Raises
    ------
    ParameterError : a parameter out of range, or limits that no selection keeps.

    Notes
    -----
    Paper 4, GBD-M, (5)-(11) and Table 1.
    """
    limits = {
        "m": m, "costs": costs, "budget": budget, "include": include, "exclude": exclude, "implies": implies,
        "conflicts": conflicts,
    }  # fmt: skip
    training = Training(c, scale, validation, seed)
    settings = GbdSettings(start, root_cuts, stabilisation, master_solver, tolerance, max_cuts, patience)
    return fit_by_benders(data, run, training, settings, limits)


SPEC = MethodSpec(
    "gbd",
    fit_gbd,
    objective,
    check_gbd,
    ("fsp-sub", "fsp-master"),
    paper="gbd",
    equation="(5)-(10)",
    driver="gbd",
    resumable=True,
    compare=few_cuts,
)
