"""Estimators of the filters."""

from __future__ import annotations

from fsopt.drivers.run import Progress
from fsopt.estimators.base import ClassWeight, WeightedClassifier


class InfoGainFilter(WeightedClassifier):
    r"""The method ``infogain`` as an estimator.

    A support vector machine on the features of largest information gain.

    Parameters
    ----------
    m : int, optional
        Number of features to keep; 5 (or all, where there are fewer) by default. Of equal scores the first is kept.
    bins : int, optional
        None (default) bins each feature by minimum description length, and a number >= 2 takes so many bins of about as
        many samples, see :func:`fsopt.methods.baselines.feature_scores.infogain`. The paper does not print its binning;
        this is our choice.
    machine : str, default 'svm'
        ``rsvm`` (default) with its capacity, or ``svm`` with its penalty weight, as in
        :class:`fsopt.methods.baselines.subset_svm.SvmSettings`.
    c : float, default 1.0
        ``rsvm`` (default) with its capacity, or ``svm`` with its penalty weight, as in
        :class:`fsopt.methods.baselines.subset_svm.SvmSettings`.
    w_cap : float, optional
        ``rsvm`` (default) with its capacity, or ``svm`` with its penalty weight, as in
        :class:`fsopt.methods.baselines.subset_svm.SvmSettings`.
    scale : str, default 'standard'
        ``unit-rows`` (default, the paper's), ``standard``, ``center`` or ``none``; scores are of the preprocessed
        features, and only ``unit-rows`` changes them.
    class_weight, solver, time_limit, callback : as there, optional
        As in :class:`fsopt.estimators.base.SelectingClassifier`.
    """

    method = "infogain"

    def __init__(
        self,
        *,
        m: int | None = None,
        bins: int | None = None,
        machine: str = "svm",
        c: float = 1.0,
        w_cap: float | None = None,
        scale: str = "standard",
        class_weight: ClassWeight = None,
        solver: str | None = None,
        time_limit: float | None = None,
        callback: Progress | None = None,
    ) -> None:
        self.m = m
        self.bins = bins
        self.machine = machine
        self.c = c
        self.w_cap = w_cap
        self.scale = scale
        super().__init__(class_weight, solver, time_limit, callback)


class PearsonFilter(WeightedClassifier):
    r"""The method ``pearson`` as an estimator.

    A support vector machine on the features of largest absolute correlation with the label.

    Parameters
    ----------
    m : int, optional
        Number of features to keep; 5 (or all, where there are fewer) by default. Of equal scores the first is kept.
    machine : str, default 'rsvm'
        ``rsvm`` (default) with its capacity, or ``svm`` with its penalty weight, as in
        :class:`fsopt.methods.baselines.subset_svm.SvmSettings`.
    c : float, default 1.0
        ``rsvm`` (default) with its capacity, or ``svm`` with its penalty weight, as in
        :class:`fsopt.methods.baselines.subset_svm.SvmSettings`.
    w_cap : float, optional
        ``rsvm`` (default) with its capacity, or ``svm`` with its penalty weight, as in
        :class:`fsopt.methods.baselines.subset_svm.SvmSettings`.
    scale : str, default 'unit-rows'
        ``unit-rows`` (default, the paper's), ``standard``, ``center`` or ``none``; scores are of the preprocessed
        features, and only ``unit-rows`` changes them.
    class_weight, solver, time_limit, callback : as there, optional
        As in :class:`fsopt.estimators.base.SelectingClassifier`.
    """

    method = "pearson"

    def __init__(
        self,
        *,
        m: int | None = None,
        machine: str = "rsvm",
        c: float = 1.0,
        w_cap: float | None = None,
        scale: str = "unit-rows",
        class_weight: ClassWeight = None,
        solver: str | None = None,
        time_limit: float | None = None,
        callback: Progress | None = None,
    ) -> None:
        self.m = m
        self.machine = machine
        self.c = c
        self.w_cap = w_cap
        self.scale = scale
        super().__init__(class_weight, solver, time_limit, callback)


class FisherFilter(WeightedClassifier):
    r"""The method ``fisher`` as an estimator.

    A support vector machine on the features of largest Fisher criterion.

    Parameters
    ----------
    m : int, optional
        Number of features to keep; 5 (or all, where there are fewer) by default. Of equal scores the first is kept.
    machine : str, default 'rsvm'
        ``rsvm`` (default) with its capacity, or ``svm`` with its penalty weight, as in
        :class:`fsopt.methods.baselines.subset_svm.SvmSettings`.
    c : float, default 1.0
        ``rsvm`` (default) with its capacity, or ``svm`` with its penalty weight, as in
        :class:`fsopt.methods.baselines.subset_svm.SvmSettings`.
    w_cap : float, optional
        ``rsvm`` (default) with its capacity, or ``svm`` with its penalty weight, as in
        :class:`fsopt.methods.baselines.subset_svm.SvmSettings`.
    scale : str, default 'unit-rows'
        ``unit-rows`` (default, the paper's), ``standard``, ``center`` or ``none``; scores are of the preprocessed
        features, and only ``unit-rows`` changes them.
    class_weight, solver, time_limit, callback : as there, optional
        As in :class:`fsopt.estimators.base.SelectingClassifier`.
    """

    method = "fisher"

    def __init__(
        self,
        *,
        m: int | None = None,
        machine: str = "rsvm",
        c: float = 1.0,
        w_cap: float | None = None,
        scale: str = "unit-rows",
        class_weight: ClassWeight = None,
        solver: str | None = None,
        time_limit: float | None = None,
        callback: Progress | None = None,
    ) -> None:
        self.m = m
        self.machine = machine
        self.c = c
        self.w_cap = w_cap
        self.scale = scale
        super().__init__(class_weight, solver, time_limit, callback)


class KSFilter(WeightedClassifier):
    r"""The method ``ks`` as an estimator.

    A support vector machine on the features of largest Kolmogorov-Smirnov distance of the classes.

    Parameters
    ----------
    m : int, optional
        Number of features to keep; 5 (or all, where there are fewer) by default. Of equal scores the first is kept.
    machine : str, default 'rsvm'
        ``rsvm`` (default) with its capacity, or ``svm`` with its penalty weight, as in
        :class:`fsopt.methods.baselines.subset_svm.SvmSettings`.
    c : float, default 1.0
        ``rsvm`` (default) with its capacity, or ``svm`` with its penalty weight, as in
        :class:`fsopt.methods.baselines.subset_svm.SvmSettings`.
    w_cap : float, optional
        ``rsvm`` (default) with its capacity, or ``svm`` with its penalty weight, as in
        :class:`fsopt.methods.baselines.subset_svm.SvmSettings`.
    scale : str, default 'unit-rows'
        ``unit-rows`` (default, the paper's), ``standard``, ``center`` or ``none``; scores are of the preprocessed
        features, and only ``unit-rows`` changes them.
    class_weight, solver, time_limit, callback : as there, optional
        As in :class:`fsopt.estimators.base.SelectingClassifier`.
    """

    method = "ks"

    def __init__(
        self,
        *,
        m: int | None = None,
        machine: str = "rsvm",
        c: float = 1.0,
        w_cap: float | None = None,
        scale: str = "unit-rows",
        class_weight: ClassWeight = None,
        solver: str | None = None,
        time_limit: float | None = None,
        callback: Progress | None = None,
    ) -> None:
        self.m = m
        self.machine = machine
        self.c = c
        self.w_cap = w_cap
        self.scale = scale
        super().__init__(class_weight, solver, time_limit, callback)
