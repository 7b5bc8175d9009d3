"""Driver ``r2w2``: features removed along the gradient of the radius/margin bound (Weston et al.)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import pyomo.environ as pyo

from fsopt.answers.results import DriverResult
from fsopt.common import clock
from fsopt.data import Dataset
from fsopt.data.matrices import constant_columns
from fsopt.data.names import places_by_name
from fsopt.drivers.gbd.subproblem import Subproblem, Training
from fsopt.drivers.loop import Loop
from fsopt.drivers.recorder import Recorder
from fsopt.drivers.run import DEFAULT_RUN, Run, Steps, loop
from fsopt.models.blocks import number, whole
from fsopt.svm.rfe import Elimination, SubsetSVM, removal, run_elimination, train_last
from fsopt.typing import Indices, Matrix, Vector

LONGEST = 0.5
"""Largest relative change of a scaling factor in one step."""
HALVINGS = 6
"""Halvings of a step before the factors are left as they are."""
TOLERANCE = 1e-10
"""Share of the squared radius by which a point may lie outside."""
RIDGE = 1e-13
"""On the diagonal, as a share of the largest squared distance: points in one affine subspace have one solution too."""


@dataclass(frozen=True)
class FactorPenalty:
    r"""Penalty of the scaling factors, and the plane of their sum: :math:`\lambda \sum_j \sigma_j^q,\ e'\sigma = M`.

    Attributes
    ----------
    lam : lambda >= 0.
    power : q > 0; below 1 it is the smaller, the more nearly the sum counts the features.
    total : M > 0; None for the number of features that are left.
    """

    lam: float = 0.0
    power: float = 0.5
    total: float | None = None

    def check(self) -> None:
        """Raise ParameterError for a number out of range."""
        number("r2w2", "lam", self.lam)
        number("r2w2", "power", self.power)
        if self.total is not None:
            number("r2w2", "total", self.total)

    def scaled(self, sigma: Vector) -> Vector:
        """Return factors on the plane."""
        used = sigma > 0.0
        total = used.sum() if self.total is None else self.total
        return sigma * (total / sigma.sum()) if used.any() else sigma

    def value(self, sigma: Vector) -> float:
        """Return the penalty."""
        return self.lam * float(np.sum(sigma[sigma > 0.0] ** self.power)) if self.lam else 0.0

    def slopes(self, sigma: Vector, bound: RadiusMargin) -> Vector:
        """Return the gradient (p,) of log(T + penalty) at positive factors; 0 at the others."""
        used = sigma > 0.0
        own = self.lam * self.power * np.where(used, sigma, 1.0) ** (self.power - 1.0) if self.lam else 0.0
        value = bound.value + self.value(sigma)
        return np.where(used, (bound.value * bound.slopes + own) / value, 0.0) if value > 0.0 else np.zeros(len(sigma))


NO_PENALTY = FactorPenalty()


@dataclass(frozen=True)
class RadiusMargin:
    r"""The radius/margin bound at scaling factors.

    .. math:: T(\sigma) = R^2(\sigma)\, W^2(\sigma), \quad
        W^2(\sigma) = 2 \max_{0 \le \alpha \le C,\ y'\alpha = 0}\ e'\alpha
            - \tfrac12 \sum_j \sigma_j^2 \Bigl(\sum_i \alpha_i y_i x_{ij}\Bigr)^2

    Attributes
    ----------
    radius : R squared, of the smallest ball around the samples :math:`\sigma * x_i`.
    margin : W squared; of separable data, for a large C, 1 over the squared margin.
    slopes : (p,) gradient of log T by :math:`\sigma`, zeros where T is 0.
    """

    radius: float
    margin: float
    slopes: Vector

    @property
    def value(self) -> float:
        """The bound T."""
        return self.radius * self.margin

    @classmethod
    def at(cls, sigma: Vector, sub: Subproblem, recorder: Recorder) -> RadiusMargin:
        r"""Return the bound at scaling factors.

        Both programs are maxima over multipliers, so that the gradient is that of their values at fixed ones:

        .. math:: \frac{\partial R^2}{\partial \sigma_j} = 2\sigma_j \Bigl(\sum_i \beta_i x_{ij}^2
            - \bigl(\sum_i \beta_i x_{ij}\bigr)^2\Bigr), \qquad
            \frac{\partial W^2}{\partial \sigma_j} = -2 \sigma_j \Bigl(\sum_i \alpha_i y_i x_{ij}\Bigr)^2
        """
        data = sub.data
        alpha = sub.solve(sigma**2, recorder)[0]
        radius, beta = enclosing_ball(data.X * sigma)
        q = data.X.T @ (alpha * data.y)
        margin = 2.0 * float(alpha.sum()) - float((sigma * q) @ (sigma * q))
        if radius <= 0.0 or margin <= 0.0:
            return cls(max(radius, 0.0), max(margin, 0.0), np.zeros(data.p))
        spread = beta @ data.X**2 - (beta @ data.X) ** 2
        return cls(radius, margin, 2.0 * sigma * (spread / radius - q**2 / margin))


@loop
def r2w2(
    data: Dataset,
    train: pyo.ConcreteModel | Training,
    last: Callable[[Indices], SubsetSVM],
    *,
    m: int,
    c: float,
    step: int = 1,
    penalty: FactorPenalty = NO_PENALTY,
    run: Run = DEFAULT_RUN,
) -> Steps[DriverResult]:
    r"""Descend along the gradient of the radius/margin bound and remove the smallest factors, until m are left.

    .. math:: \min_{\sigma \ge 0}\ R^2(\sigma)\, W^2(\sigma) + \lambda \sum_j \sigma_j^q
        \quad\text{s.t.}\quad e'\sigma = M

    In each iteration: the support vector machine and the smallest ball at sigma, one gradient step, halved until the
    value falls, and the removal of the smallest factors. The rest of sigma is scaled to the sum M.

    Parameters
    ----------
    data : the samples, preprocessed and dense.
    train : the support vector machine of the descent, as :func:`fsopt.drivers.gbd.driver.gbd` takes it.
    last : function of the features that are left, increasing, that trains and certifies the last machine.
    m : number of features to keep, 1..p.
    c : C > 0.
    step : >= 1, features that are removed after each descent, fewer where m would be undercut.
    penalty : lambda, q and M; by default lambda is 0, and M the number of features that are left.
    run : solver (a QP), options, time limit, progress. After the time limit or an interruption all features above m
        are removed at once, and the last machine is trained.

    Returns
    -------
    DriverResult
        ``point`` has ``sigma`` and ``svm``, the answer of ``last``. ``feasible``, without a bound: the certificate is
        that of this machine on its features, nothing is claimed about their choice. ``history`` has, for each
        iteration, the number of features, the value after the step and the features that were removed.

    Raises
    ------
    ParameterError : m, c, step or the penalty out of range.
    OutOfTimeError : the time limit passed before the first machine was trained.
    SolverError : a machine was not trained.
    """
    m = whole("r2w2", "m", m, high=data.p)
    step = whole("r2w2", "step", step)
    penalty.check()
    places = places_by_name(data.features)
    sub = Subproblem(data, train, number("r2w2", "c", c), run)
    recorder = Recorder(sub.sessions, run)
    at = Elimination(np.where(constant_columns(data.X), 0.0, 1.0), np.arange(data.p))
    loop = _eliminate(partial(_descend, penalty, sub, recorder), penalty, at, m, step, places)
    at, stop = yield from run_elimination(loop, at, m, places, recorder)
    return (yield from train_last(last, at.left, stop, {"sigma": penalty.scaled(at.within())}, recorder))


def _eliminate(
    descend: Callable[[Vector], tuple[Vector, float]],
    penalty: FactorPenalty,
    at: Elimination,
    m: int,
    step: int,
    places: Indices,
) -> Loop:
    """Yield the features that are left after each descent; each pass removes at least one."""
    while len(at.left) > m:
        sigma, value = descend(penalty.scaled(at.within()))
        yield (end := removal(sigma, at.left, value, m, step, places))
        at = end.point["at"]


def _descend(penalty: FactorPenalty, sub: Subproblem, recorder: Recorder, sigma: Vector) -> tuple[Vector, float]:
    """Return factors after one step along the negative gradient on the plane of their sum, and the value there."""
    used = sigma > 0.0
    bound = RadiusMargin.at(sigma, sub, recorder)
    if not used.any():  # constant features alone
        return sigma, bound.value
    value, mean = bound.value + penalty.value(sigma), sigma.sum() / used.sum()
    slopes = penalty.slopes(sigma, bound)
    # The gradient of the value at M sigma / e'sigma: no factor changes with the scale of all.
    slopes = np.where(used, slopes - (slopes @ sigma) / sigma.sum(), 0.0)
    largest = np.abs(slopes).max()
    length = LONGEST * mean / largest if largest > 0.0 else 0.0
    for _ in range(HALVINGS if length else 0):
        tried = penalty.scaled(np.where(used, np.maximum(sigma - length * slopes, 0.0), 0.0))
        there = RadiusMargin.at(tried, sub, recorder).value + penalty.value(tried)
        if there < value:
            return tried, there
        length /= 2.0
    return sigma, value


def enclosing_ball(Z: Matrix) -> tuple[float, Vector]:
    r"""Return the squared radius of the smallest ball around points, and the multipliers of the points.

    .. math:: R^2 = \min_{a}\ \max_i\ \|z_i - a\|^2
                  = \max_{\beta \ge 0,\ e'\beta = 1}\ \sum_i \beta_i z_i'z_i - \|Z'\beta\|^2, \qquad a = Z'\beta

    The set of points with a multiplier grows by the farthest point; on it the dual program without
    :math:`\beta \ge 0` is a linear system, and a step towards its solution ends where a multiplier reaches 0: that
    point leaves. The dual value rises with each solution, and no set comes twice.

    Parameters
    ----------
    Z : (n, p) points.

    Returns
    -------
    The dual value, a lower bound on the squared radius, and beta (n,).
    """
    Z = Z - Z.mean(axis=0)
    lengths = np.einsum("ij,ij->i", Z, Z)
    beta = np.zeros(len(Z))
    beta[int(np.argmax(lengths))] = 1.0
    value = 0.0
    while True:
        clock.check()
        center = Z.T @ beta
        distances = lengths - 2.0 * (Z @ center) + center @ center
        farthest, before = int(np.argmax(distances)), value
        value = float(lengths @ beta - center @ center)
        # Rounding ends the loop where the value does not rise any more.
        if distances[farthest] <= value + TOLERANCE * lengths.max() or (before > 0.0 and value <= before):
            return value, beta
        active = np.append(np.flatnonzero(beta), farthest)
        beta = _on_active(Z, lengths, beta, active)


def _on_active(Z: Matrix, lengths: Vector, beta: Vector, active: Vector) -> Vector:
    """Return the multipliers of largest dual value on a set of points; those that leave the set are 0."""
    while True:
        count = len(active)
        system = np.ones((count + 1, count + 1))
        system[:count, :count] = 2.0 * (Z[active] @ Z[active].T) + RIDGE * lengths.max() * np.eye(count)
        system[count, count] = 0.0
        target = np.linalg.solve(system, np.append(lengths[active], 1.0))[:count]
        present = beta[active]
        if (target >= 0.0).all():
            found = np.zeros(len(beta))
            found[active] = target
            return found
        falling = np.flatnonzero(target < 0.0)
        steps = present[falling] / (present[falling] - target[falling])
        first = int(np.argmin(steps))
        beta = np.zeros(len(beta))
        beta[active] = np.maximum(present + steps[first] * (target - present), 0.0)
        beta[active[falling[first]]] = 0.0
        active = np.delete(active, falling[first])
