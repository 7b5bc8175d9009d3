"""What ``gbd`` and ``gbd-lambda`` share: the cut loop of Aytug on the training samples, and its Fit."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from fsopt.answers.fits import Fit
from fsopt.common.arguments import word
from fsopt.data import Dataset
from fsopt.drivers.gbd.driver import gbd
from fsopt.drivers.gbd.settings import DEFAULT_SETTINGS, PRINTED_SETTINGS, GbdSettings
from fsopt.drivers.run import Run, Steps
from fsopt.methods.assembly import make_fit
from fsopt.methods.gbd.parameters import features_of, split, trimmed
from fsopt.methods.large_programs import interior_order
from fsopt.methods.preprocessing import Hyperplane, preprocess
from fsopt.methods.spec import in_units
from fsopt.models.blocks import number
from fsopt.models.gbd.feature_lists import BOUNDS
from fsopt.models.gbd.fsp_master import build_fsp_master
from fsopt.models.gbd.fsp_sub import build_fsp_sub
from fsopt.svm.interior_point import svm_interior_point


def fit_by_cuts(
    data: Dataset,
    run: Run,
    *,
    c: float = 1.0,
    preset: str | None = None,
    start: str | Sequence[float] | None = None,
    root_cuts: int | None = None,
    stabilisation: str | None = None,
    master: str | None = None,
    master_start: str | None = None,
    master_solver: str | None = None,
    tolerance: float = 1e-6,
    max_cuts: int = 250,
    validation: float | None = None,
    patience: int | None = None,
    seed: int = 0,
    scale: str = "standard",
    **selection: Any,
) -> Steps[Fit]:
    r"""Run generalized Benders decomposition on the training samples and return the Fit of its incumbent.

    Parameters
    ----------
    c : float, default 1.0
        > 0, penalty weight of the hinge loss.
    preset : str, optional
        ``printed``: the loop of the paper as printed, with ``start="zero"``, ``stabilisation="none"`` and no root cuts;
        these parameters, where given, go before the preset. None for no preset.
    start : str | Sequence[float], optional
        Selection of the first cut: ``all`` features, ``zero``, ``concave``, the features of Mangasarian's concave
        minimisation (21) at lambda = .05, as the paper's outlook suggests, or sigma (p,) in [0, 1]. None is that of the
        preset, else ``all``.
    root_cuts : int, optional
        >= 0, cuts spent on the relaxation before the loop, of which one is kept. None is 0.
    stabilisation : str, optional
        ``in-out``: a second cut in each iteration, a tenth of the way to the even selection; or ``none``. None is that
        of the preset, else ``in-out``.
    master : str, optional
        The master problem: ``milp`` over all cuts in a solver; ``search``, a search for a selection that all cuts leave
        below the middle of both bounds, several times as fast where the constraints are linear in the selection; or
        ``closed-form``, only without constraints on the selection: the features with
        :math:`\frac12 q_j^2 > \lambda_j` in the last cut, the fast variant of the paper, which solves no integer
        program and as a rule leaves a gap. None is ``milp``.
    master_start : str, optional
        Start of the branch and bound of each master: ``none``, or the ``incumbent`` of the loop where the solver takes
        one. None is ``none``.
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
    **selection
        Constraints and penalty weights, as :func:`fsopt.models.gbd.fsp_master.build_fsp_master` takes them.

    Returns
    -------
    Fit
        With ``sigma`` and ``alphas``, the multipliers behind the cuts, in its details.

    Raises
    ------
    ParameterError : a parameter out of range, or constraints that no selection satisfies.
    """
    started = time.perf_counter()
    c = number("gbd", "c", c)
    train, held_out = split(data, validation, seed)
    work, map_ = preprocess(data.rows(train) if len(held_out) else data, scale)
    validated = None
    if len(held_out):
        validated = data.rows(held_out)
        validated = validated.with_X(map_.apply(validated.X))
    settings = settings_of(
        preset,
        start=start,
        root_cuts=root_cuts,
        stabilisation=stabilisation,
        master=master,
        master_start=master_start,
        master_solver=master_solver,
        tolerance=tolerance,
        max_cuts=max_cuts,
        patience=patience,
    )
    if isinstance(selection.get("lam"), str):
        selection["lam"] = lam_of_svm(work, c, selection["lam"])
    rules = in_units("gbd", data, selection, map_.scale)
    program = build_fsp_master(work, **rules)
    bounds = {name: rules[name] for name in BOUNDS if name in rules}
    direct = not bounds and interior_order(None, work, run, repeated=True)[0]
    sub = svm_interior_point if direct else build_fsp_sub(work, c=c, **bounds)
    result = yield from gbd.steps(work, program, sub, c=c, settings=settings, validation=validated, run=run)
    at = result.point
    sigma, w = trimmed(work, rules, at["sigma"], at["w"])
    details = {"alphas": at["alphas"], "c": c, "sigma": sigma}
    hyperplane = Hyperplane(w, at["b"], features_of(program.rules.of_features(sigma)))
    fit = make_fit(data, map_, hyperplane, result, started=started, details=details)
    return replace(fit, params={name: selection[name] for name in ("lam",) if name in selection})


def lam_of_svm(work: Dataset, c: float, name: str) -> float:
    """Return w'w / (2p) of the support vector machine on all features; the only name is ``svm``."""
    word("'lam' of 'gbd-lambda'", name, ("svm",))
    w = svm_interior_point(work, c=c).point["w"]
    return float(w @ w) / (2 * work.p)


PRESETS: Mapping[str, GbdSettings] = {"printed": PRINTED_SETTINGS}
"""Word of the parameter ``preset`` -> its settings."""


def settings_of(preset: str | None = None, **given: Any) -> GbdSettings:
    """Return the settings of the loop: those that are given, not None, and else those of the preset."""
    settings = DEFAULT_SETTINGS
    if preset is not None:
        word("'preset' of 'gbd'", preset, tuple(PRESETS))
        settings = PRESETS[preset]
    return replace(settings, **{name: value for name, value in given.items() if value is not None})


def few_cuts(p: int) -> Mapping[str, Any]:
    """Return the parameters in comparisons: cuts that are enough for a good selection, not for a proof."""
    return {"max_cuts": 20, "tolerance": 1e-4}
