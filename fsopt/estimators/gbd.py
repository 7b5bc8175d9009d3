"""Estimators of Aytug."""

from __future__ import annotations

from collections.abc import Sequence

from fsopt.drivers.run import Progress
from fsopt.estimators.base import ClassWeight, WeightedClassifier
from fsopt.models.gbd.selection_constraints import Feature


class GBD(WeightedClassifier):
    r"""The method ``gbd`` as an estimator.

    The support vector machine that is best with a limited number of features (GBD-M).

    Parameters
    ----------
    m : int, optional
        Largest number of features; 5 (or all, where there are fewer) if no limit is given.
    costs : Sequence[float], optional
        Feature costs beta and the budget B, instead of m.
    budget : float, optional
        Feature costs beta and the budget B, instead of m.
    include : Sequence[Feature], default ()
        Features that must, and must not, be selected, by place (from 0) or name.
    exclude : Sequence[Feature], default ()
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
    start : str | Sequence[float], default 'all'
        Of the loop as printed, as in :class:`fsopt.drivers.gbd.settings.GbdSettings`.
    root_cuts : int, default 0
        Of the loop as printed, as in :class:`fsopt.drivers.gbd.settings.GbdSettings`.
    stabilisation : str, default 'in-out'
        Of the loop as printed, as in :class:`fsopt.drivers.gbd.settings.GbdSettings`.
    master_solver : str, optional
        Of the loop as printed, as in :class:`fsopt.drivers.gbd.settings.GbdSettings`.
    tolerance : float, default 1e-06
        The search stops at ``upper - lower <= tolerance * max(1, upper)``.
    max_cuts : int, default 250
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
    class_weight, solver, time_limit, callback : as there, optional
        As in :class:`fsopt.estimators.base.SelectingClassifier`.
    """

    method = "gbd"

    def __init__(
        self,
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
        tolerance: float = 1e-06,
        max_cuts: int = 250,
        validation: float | None = None,
        patience: int | None = None,
        seed: int = 0,
        scale: str = "standard",
        class_weight: ClassWeight = None,
        solver: str | None = None,
        time_limit: float | None = None,
        callback: Progress | None = None,
    ) -> None:
        self.m = m
        self.costs = costs
        self.budget = budget
        self.include = include
        self.exclude = exclude
        self.implies = implies
        self.conflicts = conflicts
        self.c = c
        self.variant = variant
        self.initial = initial
        self.max_nodes = max_nodes
        self.jobs = jobs
        self.start = start
        self.root_cuts = root_cuts
        self.stabilisation = stabilisation
        self.master_solver = master_solver
        self.tolerance = tolerance
        self.max_cuts = max_cuts
        self.validation = validation
        self.patience = patience
        self.seed = seed
        self.scale = scale
        super().__init__(class_weight, solver, time_limit, callback)


class GBDLambda(WeightedClassifier):
    r"""The method ``gbd-lambda`` as an estimator.

    The support vector machine that is best with a penalty weight on each feature (GBD-lambda).

    Parameters
    ----------
    lam : float | Sequence[float], default 1.0
        >= 0, penalty weight of each feature, or p of them. Not every number of features is optimal for some weight.
    include : Sequence[Feature], default ()
        As in :func:`fsopt.methods.gbd.gbd.fit_gbd`.
    exclude : Sequence[Feature], default ()
        As in :func:`fsopt.methods.gbd.gbd.fit_gbd`.
    implies : Sequence[Sequence[Feature]], default ()
        As in :func:`fsopt.methods.gbd.gbd.fit_gbd`.
    conflicts : Sequence[Sequence[Feature]], default ()
        As in :func:`fsopt.methods.gbd.gbd.fit_gbd`.
    c : float, default 1.0
        As in :func:`fsopt.methods.gbd.gbd.fit_gbd`.
    variant : str, optional
        As in :func:`fsopt.methods.gbd.gbd.fit_gbd`.
    initial : Sequence[Feature], optional
        As in :func:`fsopt.methods.gbd.gbd.fit_gbd`.
    max_nodes : int, optional
        As in :func:`fsopt.methods.gbd.gbd.fit_gbd`.
    jobs : int, optional
        As in :func:`fsopt.methods.gbd.gbd.fit_gbd`.
    start : str | Sequence[float], default 'all'
        Of the loop as printed, as in :class:`fsopt.drivers.gbd.settings.GbdSettings`.
    root_cuts : int, default 0
        Of the loop as printed, as in :class:`fsopt.drivers.gbd.settings.GbdSettings`.
    stabilisation : str, default 'in-out'
        Of the loop as printed, as in :class:`fsopt.drivers.gbd.settings.GbdSettings`.
    master_solver : str, optional
        Of the loop as printed, as in :class:`fsopt.drivers.gbd.settings.GbdSettings`.
    tolerance : float, default 1e-06
        As in :func:`fsopt.methods.gbd.gbd.fit_gbd`.
    max_cuts : int, default 250
        Of the loop as printed, as in :class:`fsopt.drivers.gbd.settings.GbdSettings`.
    validation : float, optional
        As in :func:`fsopt.methods.gbd.gbd.fit_gbd`.
    patience : int, optional
        As in :func:`fsopt.methods.gbd.gbd.fit_gbd`.
    seed : int, default 0
        As in :func:`fsopt.methods.gbd.gbd.fit_gbd`.
    scale : str, default 'standard'
        As in :func:`fsopt.methods.gbd.gbd.fit_gbd`.
    class_weight, solver, time_limit, callback : as there, optional
        As in :class:`fsopt.estimators.base.SelectingClassifier`.
    """

    method = "gbd-lambda"

    def __init__(
        self,
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
        tolerance: float = 1e-06,
        max_cuts: int = 250,
        validation: float | None = None,
        patience: int | None = None,
        seed: int = 0,
        scale: str = "standard",
        class_weight: ClassWeight = None,
        solver: str | None = None,
        time_limit: float | None = None,
        callback: Progress | None = None,
    ) -> None:
        self.lam = lam
        self.include = include
        self.exclude = exclude
        self.implies = implies
        self.conflicts = conflicts
        self.c = c
        self.variant = variant
        self.initial = initial
        self.max_nodes = max_nodes
        self.jobs = jobs
        self.start = start
        self.root_cuts = root_cuts
        self.stabilisation = stabilisation
        self.master_solver = master_solver
        self.tolerance = tolerance
        self.max_cuts = max_cuts
        self.validation = validation
        self.patience = patience
        self.seed = seed
        self.scale = scale
        super().__init__(class_weight, solver, time_limit, callback)
