"""Estimators of Yang & Ju."""

from __future__ import annotations

from collections.abc import Sequence

from fsopt.drivers.run import Progress
from fsopt.estimators.base import UnweightedClassifier


class MPM(UnweightedClassifier):
    r"""The method ``mpm`` as an estimator.

    The hyperplane with the largest worst-case accuracy alpha* on both classes (MPM).

    Parameters
    ----------
    scale : str, default 'standard'
        ``standard`` (default), ``center`` or ``none``; without ridge and kernel alpha* does not depend on it.
    unbiased : bool, default False
        Divide the covariance of a class of m samples by m - 1 instead of m.
    ridge : float, optional
        >= 0, added to the diagonals of both covariances of the preprocessed features, or of the kernel values; None is
        0 for features and 1e-2 of the mean variance within a class for kernel values, which need one.
    kernel : str, optional
        ``gaussian``, ``polynomial`` or ``linear``: a classifier on the kernel values of the preprocessed samples, which
        selects training samples (Yang & Ju, (48)-(52)); None for a hyperplane in the space of the features.
    width : float, optional
        Of the Gaussian and the polynomial kernel, as in :class:`fsopt.data.kernels.Kernel`. The width None is sqrt(p /
        2) for standardised features.
    degree : int, default 2
        Of the Gaussian and the polynomial kernel, as in :class:`fsopt.data.kernels.Kernel`. The width None is sqrt(p /
        2) for standardised features.
    solver, time_limit, callback : as there, optional
        As in :class:`fsopt.estimators.base.SelectingClassifier`.
    """

    method = "mpm"

    def __init__(
        self,
        *,
        scale: str = "standard",
        unbiased: bool = False,
        ridge: float | None = None,
        kernel: str | None = None,
        width: float | None = None,
        degree: int = 2,
        solver: str | None = None,
        time_limit: float | None = None,
        callback: Progress | None = None,
    ) -> None:
        self.scale = scale
        self.unbiased = unbiased
        self.ridge = ridge
        self.kernel = kernel
        self.width = width
        self.degree = degree
        super().__init__(solver, time_limit, callback)


class SMPM(UnweightedClassifier):
    r"""The method ``s-mpm`` as an estimator.

    A sparse biased minimax probability machine, both accuracies weighted (S-MPM, a reconstruction).

    Parameters
    ----------
    lam : float, default 0.1
        >= 0, penalty weight of the 1-norm in preprocessed units; from max |mu_1j - mu_2j| on no weight is left.
    theta : float, optional
        In (0, 1), weight of class +1; None takes its share of the samples.
    scale : str, default 'standard'
        ``standard`` (default), ``center`` or ``none``; the selection depends on it.
    unbiased : bool, default False
        As in :func:`fsopt.methods.mpm.mpm.fit_mpm`.
    ridge : float, default 0.0
        As in :func:`fsopt.methods.mpm.mpm.fit_mpm`.
    solver, time_limit, callback : as there, optional
        As in :class:`fsopt.estimators.base.SelectingClassifier`.
    """

    method = "s-mpm"

    def __init__(
        self,
        *,
        lam: float = 0.1,
        theta: float | None = None,
        scale: str = "standard",
        unbiased: bool = False,
        ridge: float = 0.0,
        solver: str | None = None,
        time_limit: float | None = None,
        callback: Progress | None = None,
    ) -> None:
        self.lam = lam
        self.theta = theta
        self.scale = scale
        self.unbiased = unbiased
        self.ridge = ridge
        super().__init__(solver, time_limit, callback)


class L1MPM(UnweightedClassifier):
    r"""The method ``l1-mpm`` as an estimator.

    The hyperplane of smallest 1-norm with worst-case accuracy delta on both classes (L1-MPM).

    Parameters
    ----------
    delta : float, optional
        In (0, alpha*]; None asks for 0.9 alpha* of the data.
    scale : str, default 'standard'
        ``standard`` (default), ``center`` or ``none``; the selection depends on it, alpha* does not.
    unbiased : bool, default False
        As in :func:`fsopt.methods.mpm.mpm.fit_mpm`.
    ridge : float, optional
        As in :func:`fsopt.methods.mpm.mpm.fit_mpm`.
    kernel : str, optional
        As in :func:`fsopt.methods.mpm.mpm.fit_mpm`.
    width : float, optional
        As in :func:`fsopt.methods.mpm.mpm.fit_mpm`.
    degree : int, default 2
        As in :func:`fsopt.methods.mpm.mpm.fit_mpm`.
    solver, time_limit, callback : as there, optional
        As in :class:`fsopt.estimators.base.SelectingClassifier`.
    """

    method = "l1-mpm"

    def __init__(
        self,
        *,
        delta: float | None = None,
        scale: str = "standard",
        unbiased: bool = False,
        ridge: float | None = None,
        kernel: str | None = None,
        width: float | None = None,
        degree: int = 2,
        solver: str | None = None,
        time_limit: float | None = None,
        callback: Progress | None = None,
    ) -> None:
        self.delta = delta
        self.scale = scale
        self.unbiased = unbiased
        self.ridge = ridge
        self.kernel = kernel
        self.width = width
        self.degree = degree
        super().__init__(solver, time_limit, callback)


class L0MPM(UnweightedClassifier):
    r"""The method ``l0-mpm`` as an estimator.

    The sparse hyperplane with worst-case accuracy delta by DCA (L0-MPM).

    Parameters
    ----------
    delta : float, optional
        As in :func:`fsopt.methods.mpm.l1_mpm.fit_l1_mpm`.
    approx : str, default 'exp'
        The approximation phi of the number of features: ``exp`` (the paper's), ``log``, ``capped-l1``, ``scad`` or
        ``lp``; their formulas are in :mod:`fsopt.drivers.penalties.registry`.
    alpha : float, default 5.0
        > 0, steepness of the approximation.
    n_starts : int, default 1
        >= 1, runs of DCA, of which the best is returned: the first from v = 0, whose first iterate is the L1-MPM
        hyperplane, the others from random v.
    seed : int, default 0
        >= 0, of the random starts.
    start : Sequence[float], optional
        (p,) weights x^0 of preprocessed features, where the first run starts instead.
    tolerance : float, optional
        In [1e-9, 1e-3], epsilon of the stopping criterion; None (default) is 1e-6. The answer is ``stationary`` only
        where the residual of the certificate is at most 1e-5.
    scale : str, default 'standard'
        As in :func:`fsopt.methods.mpm.l1_mpm.fit_l1_mpm`.
    unbiased : bool, default False
        As in :func:`fsopt.methods.mpm.mpm.fit_mpm`; with a kernel, (54)-(58).
    ridge : float, optional
        As in :func:`fsopt.methods.mpm.mpm.fit_mpm`; with a kernel, (54)-(58).
    kernel : str, optional
        As in :func:`fsopt.methods.mpm.mpm.fit_mpm`; with a kernel, (54)-(58).
    width : float, optional
        As in :func:`fsopt.methods.mpm.mpm.fit_mpm`; with a kernel, (54)-(58).
    degree : int, default 2
        As in :func:`fsopt.methods.mpm.mpm.fit_mpm`; with a kernel, (54)-(58).
    solver, time_limit, callback : as there, optional
        As in :class:`fsopt.estimators.base.SelectingClassifier`.
    """

    method = "l0-mpm"

    def __init__(
        self,
        *,
        delta: float | None = None,
        approx: str = "exp",
        alpha: float = 5.0,
        n_starts: int = 1,
        seed: int = 0,
        start: Sequence[float] | None = None,
        tolerance: float | None = None,
        scale: str = "standard",
        unbiased: bool = False,
        ridge: float | None = None,
        kernel: str | None = None,
        width: float | None = None,
        degree: int = 2,
        solver: str | None = None,
        time_limit: float | None = None,
        callback: Progress | None = None,
    ) -> None:
        self.delta = delta
        self.approx = approx
        self.alpha = alpha
        self.n_starts = n_starts
        self.seed = seed
        self.start = start
        self.tolerance = tolerance
        self.scale = scale
        self.unbiased = unbiased
        self.ridge = ridge
        self.kernel = kernel
        self.width = width
        self.degree = degree
        super().__init__(solver, time_limit, callback)
