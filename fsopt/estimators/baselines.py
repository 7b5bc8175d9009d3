"""Estimators of the papers' baselines."""

from __future__ import annotations

from collections.abc import Sequence

from fsopt.drivers.run import Progress
from fsopt.estimators.base import ClassWeight, ClassWeightedClassifier, WeightedClassifier


class SVM(WeightedClassifier):
    r"""The method ``svm`` as an estimator.

    The linear support vector machine, the baseline that selects nothing.

    Parameters
    ----------
    c : float, default 1.0
        > 0, penalty weight of the hinge loss.
    scale : str, default 'standard'
        ``standard`` (default), ``center`` or ``none``.
    rule : str, default 'relative'
        Which weights count as selected, as in :func:`fsopt.methods.selection.select_by_size`; Peleg & Meir have ``raw``
        and 0.01.
    units : str, default 'scaled'
        Which weights count as selected, as in :func:`fsopt.methods.selection.select_by_size`; Peleg & Meir have ``raw``
        and 0.01.
    epsilon : float, default 1e-06
        Which weights count as selected, as in :func:`fsopt.methods.selection.select_by_size`; Peleg & Meir have ``raw``
        and 0.01.
    interior : bool, optional
        Whether fsopt's own interior point solves the program, without a model, see
        :func:`fsopt.algorithms.interior_point.driver.svm_interior_point`. None (default): for data of 500,000 entries
        and more, where no solver is named.
    kernel : str, optional
        ``gaussian``, ``polynomial`` or ``linear``: a classifier on the kernel values of the preprocessed samples, whose
        features are the training samples; None for a hyperplane in the space of the features.
    width : float, optional
        Of the Gaussian and the polynomial kernel, as in :class:`fsopt.data.kernels.Kernel`. The width None is sqrt(p /
        2) for standardised features, the degree None 2.
    degree : int, optional
        Of the Gaussian and the polynomial kernel, as in :class:`fsopt.data.kernels.Kernel`. The width None is sqrt(p /
        2) for standardised features, the degree None 2.
    class_weight, solver, time_limit, callback : as there, optional
        As in :class:`fsopt.estimators.base.SelectingClassifier`.
    """

    method = "svm"

    def __init__(
        self,
        *,
        c: float = 1.0,
        scale: str = "standard",
        rule: str = "relative",
        units: str = "scaled",
        epsilon: float = 1e-06,
        interior: bool | None = None,
        kernel: str | None = None,
        width: float | None = None,
        degree: int | None = None,
        class_weight: ClassWeight = None,
        solver: str | None = None,
        time_limit: float | None = None,
        callback: Progress | None = None,
    ) -> None:
        self.c = c
        self.scale = scale
        self.rule = rule
        self.units = units
        self.epsilon = epsilon
        self.interior = interior
        self.kernel = kernel
        self.width = width
        self.degree = degree
        super().__init__(class_weight, solver, time_limit, callback)


class L1SVM(WeightedClassifier):
    r"""The method ``l1-svm`` as an estimator.

    The one-norm support vector machine of Peleg & Meir: features in their units, the paper's selection rule.

    Parameters
    ----------
    c : float, default 1.0
        > 0, penalty weight of the hinge loss.
    scale : str, default 'center'
        ``center`` (default), ``standard`` or ``none``; the selection depends on it.
    rule : str, default 'relative'
        Which weights count as selected, as in :func:`fsopt.methods.selection.select_by_size`.
    units : str, default 'raw'
        Which weights count as selected, as in :func:`fsopt.methods.selection.select_by_size`.
    epsilon : float, default 0.01
        Which weights count as selected, as in :func:`fsopt.methods.selection.select_by_size`.
    generate : bool | str, default 'auto'
        As in :func:`fsopt.methods.baselines.onsvm.fit_onsvm`.
    class_weight, solver, time_limit, callback : as there, optional
        As in :class:`fsopt.estimators.base.SelectingClassifier`.
    """

    method = "l1-svm"

    def __init__(
        self,
        *,
        c: float = 1.0,
        scale: str = "center",
        rule: str = "relative",
        units: str = "raw",
        epsilon: float = 0.01,
        generate: bool | str = "auto",
        class_weight: ClassWeight = None,
        solver: str | None = None,
        time_limit: float | None = None,
        callback: Progress | None = None,
    ) -> None:
        self.c = c
        self.scale = scale
        self.rule = rule
        self.units = units
        self.epsilon = epsilon
        self.generate = generate
        super().__init__(class_weight, solver, time_limit, callback)


class ONSVM(WeightedClassifier):
    r"""The method ``onsvm`` as an estimator.

    The one-norm support vector machine, a linear program whose vertices are sparse.

    Parameters
    ----------
    c : float, default 1.0
        > 0, penalty weight of the hinge loss.
    scale : str, default 'standard'
        ``standard`` (default), ``center`` or ``none``; the selection depends on it.
    generate : bool | str, default 'auto'
        Solve restricted programs of some samples and features
        (:func:`fsopt.drivers.column_generation.driver.column_generation`) instead of the whole one, with the same
        objective value and a proof for all samples and features: true, false, or ``auto`` (default), which does so for
        large data.
    class_weight, solver, time_limit, callback : as there, optional
        As in :class:`fsopt.estimators.base.SelectingClassifier`.
    """

    method = "onsvm"

    def __init__(
        self,
        *,
        c: float = 1.0,
        scale: str = "standard",
        generate: bool | str = "auto",
        class_weight: ClassWeight = None,
        solver: str | None = None,
        time_limit: float | None = None,
        callback: Progress | None = None,
    ) -> None:
        self.c = c
        self.scale = scale
        self.generate = generate
        super().__init__(class_weight, solver, time_limit, callback)


class RFE(WeightedClassifier):
    r"""The method ``rfe`` as an estimator.

    Support vector machines on ever fewer features, down to m (RFE).

    Parameters
    ----------
    m : int, optional
        Number of features to keep; 5 (or all, where there are fewer) by default.
    c : float, default 1.0
        > 0, penalty weight of the hinge loss.
    step : int, default 1
        Features removed after each SVM: 1 (default) is the method of the papers, p - m + 1 SVMs; take more where there
        are thousands of features.
    scale : str, default 'standard'
        ``standard`` (default), ``center`` or ``none``; the selection depends on it.
    eliminated : Sequence[int], optional
        0-based features that an earlier elimination removed first, at most p - m of them; the SVMs before their removal
        are not trained again.
    class_weight, solver, time_limit, callback : as there, optional
        As in :class:`fsopt.estimators.base.SelectingClassifier`.
    """

    method = "rfe"

    def __init__(
        self,
        *,
        m: int | None = None,
        c: float = 1.0,
        step: int = 1,
        scale: str = "standard",
        eliminated: Sequence[int] | None = None,
        class_weight: ClassWeight = None,
        solver: str | None = None,
        time_limit: float | None = None,
        callback: Progress | None = None,
    ) -> None:
        self.m = m
        self.c = c
        self.step = step
        self.scale = scale
        self.eliminated = eliminated
        super().__init__(class_weight, solver, time_limit, callback)


class VSSSVM(ClassWeightedClassifier):
    r"""The method ``vs-ssvm`` as an estimator.

    A support vector machine on all features that sparse SVMs on random parts of the samples use (VS-SSVM).

    Parameters
    ----------
    n_partitions : int, default 20
        Number of one-norm SVMs; the paper's 20.
    share : float, default 0.8
        In (0, 1], share of the samples of each class that a one-norm SVM is trained on. The paper prints neither its
        split nor its grid of C: 0.8 and one C are our choice.
    seed : int, default 0
        >= 0, of the parts.
    machine : str, default 'rsvm'
        The last support vector machine, ``rsvm`` (default) or ``svm``, as in
        :class:`fsopt.methods.baselines.subset_svm.SvmSettings`.
    c : float, default 1.0
        > 0, penalty weight of the hinge loss in the one-norm SVMs, and in ``svm``.
    w_cap : float, optional
        > 0, capacity of ``rsvm``.
    scale : str, default 'unit-rows'
        ``unit-rows`` (default, the paper's), ``standard``, ``center`` or ``none``; the selection depends on it.
    generate : bool | str, default 'auto'
        As in :func:`fsopt.methods.baselines.onsvm.fit_onsvm`.
    class_weight, solver, time_limit, callback : as there, optional
        As in :class:`fsopt.estimators.base.SelectingClassifier`.
    """

    method = "vs-ssvm"

    def __init__(
        self,
        *,
        n_partitions: int = 20,
        share: float = 0.8,
        seed: int = 0,
        machine: str = "rsvm",
        c: float = 1.0,
        w_cap: float | None = None,
        scale: str = "unit-rows",
        generate: bool | str = "auto",
        class_weight: ClassWeight = None,
        solver: str | None = None,
        time_limit: float | None = None,
        callback: Progress | None = None,
    ) -> None:
        self.n_partitions = n_partitions
        self.share = share
        self.seed = seed
        self.machine = machine
        self.c = c
        self.w_cap = w_cap
        self.scale = scale
        self.generate = generate
        super().__init__(class_weight, solver, time_limit, callback)
