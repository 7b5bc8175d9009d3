"""Estimators of Bi."""

from __future__ import annotations

from fsopt.drivers.run import Progress
from fsopt.estimators.base import ClassWeight, UnweightedClassifier, WeightedClassifier


class RSVM(WeightedClassifier):
    r"""The method ``rsvm`` as an estimator.

    The rigorous support vector machine (RSVM), which selects nothing.

    Parameters
    ----------
    w_cap : float, optional
        W > 0; None takes (RW + 1) / n = 0.1, with RW at least 1.
    route : str, default 'dual'
        ``dual`` (default) solves (14), ``primal`` (13).
    scale : str, default 'unit-rows'
        ``unit-rows`` (default, the paper's: centre, unit deviation, samples to norm 1), ``standard``, ``center`` or
        ``none``.
    kernel : str, optional
        ``gaussian``, ``polynomial`` or ``linear``: a classifier on the kernel values of the preprocessed samples; None
        for a hyperplane in the space of the features, which are not centred again.
    width : float, optional
        Of the Gaussian and the polynomial kernel, as in :class:`fsopt.data.kernels.Kernel`. The width None is sqrt(p v
        / 2), with v the variance of all entries.
    degree : int, default 2
        Of the Gaussian and the polynomial kernel, as in :class:`fsopt.data.kernels.Kernel`. The width None is sqrt(p v
        / 2), with v the variance of all entries.
    class_weight, solver, time_limit, callback : as there, optional
        As in :class:`fsopt.estimators.base.SelectingClassifier`.
    """

    method = "rsvm"

    def __init__(
        self,
        *,
        w_cap: float | None = None,
        route: str = "dual",
        scale: str = "unit-rows",
        kernel: str | None = None,
        width: float | None = None,
        degree: int = 2,
        class_weight: ClassWeight = None,
        solver: str | None = None,
        time_limit: float | None = None,
        callback: Progress | None = None,
    ) -> None:
        self.w_cap = w_cap
        self.route = route
        self.scale = scale
        self.kernel = kernel
        self.width = width
        self.degree = degree
        super().__init__(class_weight, solver, time_limit, callback)


class MOPFS(UnweightedClassifier):
    r"""The method ``mopfs`` as an estimator.

    The multi-objective feature selection machine (MOPFS).

    Parameters
    ----------
    w_cap : float, optional
        W0 > 0, the first capacity; None takes (W0 + 1) / n = 0.1 with W0 at least 1.
    c : float, default 0.001
        >= 0, penalty weight of a scale, relative to the product RW of the start over the number of features. With 0
        Proposition 1 guarantees that RW never rises; a positive one makes the selection sparser.
    scaling : str, default 'local'
        ``local`` (default) or ``global``, how (15) is solved, see :func:`fsopt.drivers.mop.driver.mop`.
    max_iterations : int, default 20
        Of Algorithm 1.
    scale : str, default 'unit-rows'
        ``unit-rows`` (default, the paper's: centre, unit deviation, samples to norm 1), ``standard``, ``center`` or
        ``none``.
    solver, time_limit, callback : as there, optional
        As in :class:`fsopt.estimators.base.SelectingClassifier`.
    """

    method = "mopfs"

    def __init__(
        self,
        *,
        w_cap: float | None = None,
        c: float = 0.001,
        scaling: str = "local",
        max_iterations: int = 20,
        scale: str = "unit-rows",
        solver: str | None = None,
        time_limit: float | None = None,
        callback: Progress | None = None,
    ) -> None:
        self.w_cap = w_cap
        self.c = c
        self.scaling = scaling
        self.max_iterations = max_iterations
        self.scale = scale
        super().__init__(solver, time_limit, callback)
