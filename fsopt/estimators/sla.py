"""Estimators of Mangasarian."""

from __future__ import annotations

from fsopt.drivers.run import Progress
from fsopt.estimators.base import ClassWeight, ClassWeightedClassifier, UnweightedClassifier


class MisclassificationMinimizer(UnweightedClassifier):
    r"""The method ``misclass`` as an estimator.

    The hyperplane with few misclassified samples by successive linearisation.

    Parameters
    ----------
    alpha : float, default 5.0
        > 0, steepness of the approximation of the step function; the paper's 5.
    n_starts : int, default 1
        >= 1, runs of SLA, of which the best is returned: the first from zero, the others from errors drawn from U(0,
        1).
    seed : int, default 0
        >= 0, of the random starts.
    scale : str, default 'standard'
        ``standard`` (default), ``center`` or ``none``; the problem is invariant to it, its arithmetic is not.
    generate : bool | str, default 'auto'
        Solve each step by restricted programs of some of the samples
        (:func:`fsopt.drivers.column_generation.sla.sla_by_column_generation`): true, false, or ``auto`` (default),
        which does so for many samples.
    solver, time_limit, callback : as there, optional
        As in :class:`fsopt.estimators.base.SelectingClassifier`.
    """

    method = "misclass"

    def __init__(
        self,
        *,
        alpha: float = 5.0,
        n_starts: int = 1,
        seed: int = 0,
        scale: str = "standard",
        generate: bool | str = "auto",
        solver: str | None = None,
        time_limit: float | None = None,
        callback: Progress | None = None,
    ) -> None:
        self.alpha = alpha
        self.n_starts = n_starts
        self.seed = seed
        self.scale = scale
        self.generate = generate
        super().__init__(solver, time_limit, callback)


class PMM(UnweightedClassifier):
    r"""The method ``pmm`` as an estimator.

    The hyperplane with few misclassified samples by parametric minimisation (PMM).

    Parameters
    ----------
    scale : str, default 'standard'
        ``standard`` (default), ``center`` or ``none``; the problem is invariant to it, its arithmetic is not.
    solver, time_limit, callback : as there, optional
        As in :class:`fsopt.estimators.base.SelectingClassifier`.
    """

    method = "pmm"

    def __init__(
        self,
        *,
        scale: str = "standard",
        solver: str | None = None,
        time_limit: float | None = None,
        callback: Progress | None = None,
    ) -> None:
        self.scale = scale
        super().__init__(solver, time_limit, callback)


class FSV(ClassWeightedClassifier):
    r"""The method ``fsv`` as an estimator.

    A hyperplane in few features by concave minimisation (FSV).

    Parameters
    ----------
    lam : float, default 0.05
        In [0, 1], weight of feature suppression.
    alpha : float, default 5.0
        > 0, steepness of the approximation of the step function; the paper's 5.
    n_starts : int, default 1
        >= 1, runs of SLA, of which the best is returned: the first from zero, the others from v drawn from U(0, 1).
        Runs are added where the first one ends at w = 0, with a warning.
    seed : int, default 0
        >= 0, of the random starts.
    scale : str, default 'standard'
        ``standard`` (default), ``center`` or ``none``; the selection depends on it. The paper's is ``none``.
    generate : bool | str, default 'auto'
        As in :func:`fsopt.methods.sla.misclass.fit_misclass`, and ``auto`` also for many features.
    class_weight, solver, time_limit, callback : as there, optional
        As in :class:`fsopt.estimators.base.SelectingClassifier`.
    """

    method = "fsv"

    def __init__(
        self,
        *,
        lam: float = 0.05,
        alpha: float = 5.0,
        n_starts: int = 1,
        seed: int = 0,
        scale: str = "standard",
        generate: bool | str = "auto",
        class_weight: ClassWeight = None,
        solver: str | None = None,
        time_limit: float | None = None,
        callback: Progress | None = None,
    ) -> None:
        self.lam = lam
        self.alpha = alpha
        self.n_starts = n_starts
        self.seed = seed
        self.scale = scale
        self.generate = generate
        super().__init__(class_weight, solver, time_limit, callback)
