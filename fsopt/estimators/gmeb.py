"""Estimators of Peleg & Meir."""

from __future__ import annotations

from fsopt.drivers.run import Progress
from fsopt.estimators.base import ClassWeight, UnweightedClassifier, WeightedClassifier


class GMEB(WeightedClassifier):
    r"""The method ``gmeb`` as an estimator.

    The classifier of smallest generalization error bound (GMEB).

    Parameters
    ----------
    r_plus : float, default 3.0
        R+ and R- > 0; infinity drops the constraint, not both.
    r_minus : float, default 3.0
        R+ and R- > 0; infinity drops the constraint, not both.
    route : str, default 'auto'
        ``dual``: (16), with (w, b) its multipliers (Theorem 19); ``primal``: (15) with rotated cones; ``sdp``: (15)
        with its matrix inequality, for p up to about 100; ``theta-cuts``: linear programs alone, exact zeros; ``auto``
        (default): the dual if the solver takes cones, and cuts if not or if the dual fails its check.
    scale : str, default 'center'
        ``center`` (default), ``standard`` or ``none``.
    rule : str, default 'relative'
        Which weights count as selected, see :func:`fsopt.methods.selection.select_by_size`; the paper has epsilon 0.01,
        and raw units reproduce its counts.
    units : str, default 'scaled'
        Which weights count as selected, see :func:`fsopt.methods.selection.select_by_size`; the paper has epsilon 0.01,
        and raw units reproduce its counts.
    epsilon : float, default 1e-05
        Which weights count as selected, see :func:`fsopt.methods.selection.select_by_size`; the paper has epsilon 0.01,
        and raw units reproduce its counts.
    class_weight, solver, time_limit, callback : as there, optional
        As in :class:`fsopt.estimators.base.SelectingClassifier`.
    """

    method = "gmeb"

    def __init__(
        self,
        *,
        r_plus: float = 3.0,
        r_minus: float = 3.0,
        route: str = "auto",
        scale: str = "center",
        rule: str = "relative",
        units: str = "scaled",
        epsilon: float = 1e-05,
        class_weight: ClassWeight = None,
        solver: str | None = None,
        time_limit: float | None = None,
        callback: Progress | None = None,
    ) -> None:
        self.r_plus = r_plus
        self.r_minus = r_minus
        self.route = route
        self.scale = scale
        self.rule = rule
        self.units = units
        self.epsilon = epsilon
        super().__init__(class_weight, solver, time_limit, callback)


class GMEBPenalised(UnweightedClassifier):
    r"""The method ``gmeb-penalised`` as an estimator.

    The classifier of smallest generalization error bound with penalty weights on its two norm terms.

    Parameters
    ----------
    c_plus : float, default 4.0
        C+ and C- > 0; the paper's bound has 4.
    c_minus : float, default 4.0
        C+ and C- > 0; the paper's bound has 4.
    tolerance : float, default 1e-06
        As in :func:`fsopt.drivers.scale_search.scale_search`.
    scale : str, default 'center'
        ``center`` (default), ``standard`` or ``none``.
    rule : str, default 'relative'
        Which weights count as selected, see :func:`fsopt.methods.selection.select_by_size`.
    units : str, default 'scaled'
        Which weights count as selected, see :func:`fsopt.methods.selection.select_by_size`.
    epsilon : float, default 1e-09
        Which weights count as selected, see :func:`fsopt.methods.selection.select_by_size`.
    solver, time_limit, callback : as there, optional
        As in :class:`fsopt.estimators.base.SelectingClassifier`.
    """

    method = "gmeb-penalised"

    def __init__(
        self,
        *,
        c_plus: float = 4.0,
        c_minus: float = 4.0,
        tolerance: float = 1e-06,
        scale: str = "center",
        rule: str = "relative",
        units: str = "scaled",
        epsilon: float = 1e-09,
        solver: str | None = None,
        time_limit: float | None = None,
        callback: Progress | None = None,
    ) -> None:
        self.c_plus = c_plus
        self.c_minus = c_minus
        self.tolerance = tolerance
        self.scale = scale
        self.rule = rule
        self.units = units
        self.epsilon = epsilon
        super().__init__(solver, time_limit, callback)


class NormSVM(UnweightedClassifier):
    r"""The method ``svm-norm`` as an estimator.

    The support vector machine with an unsquared norm: GMEB without feature scaling.

    Parameters
    ----------
    c : float, default 1.0
        > 0, penalty weight of the hinge loss. Up to a threshold, :func:`fsopt.methods.gmeb.svm_forms.norm_threshold`, w
        is 0, with a warning.
    scale : str, default 'center'
        ``center`` (default), ``standard`` or ``none``.
    solver, time_limit, callback : as there, optional
        As in :class:`fsopt.estimators.base.SelectingClassifier`.
    """

    method = "svm-norm"

    def __init__(
        self,
        *,
        c: float = 1.0,
        scale: str = "center",
        solver: str | None = None,
        time_limit: float | None = None,
        callback: Progress | None = None,
    ) -> None:
        self.c = c
        self.scale = scale
        super().__init__(solver, time_limit, callback)
