"""Driver ``unit_ball_generation``: GMEB (15) of large data by restricted problems, with cuts for its norm."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np

from fsopt.answers.certificate import Kind, make
from fsopt.answers.results import DriverResult
from fsopt.certificates.points import relative_gap
from fsopt.common.interruption import uninterrupted
from fsopt.data import Dataset
from fsopt.data.hyperplanes import hinge, project_multipliers
from fsopt.data.weights import loss_weights
from fsopt.drivers.column_generation.driver import generate
from fsopt.drivers.column_generation.l1_hinge_program import SLACK, L1Hinge
from fsopt.drivers.column_generation.trust_region import DEFAULT_SETTINGS, GenerationSettings, TrustRegion
from fsopt.drivers.loop import Iterate, Loop, run_loop
from fsopt.drivers.recorder import Recorder
from fsopt.drivers.run import DEFAULT_RUN, NoPoint, Run, Steps, loop
from fsopt.drivers.theta_cuts import REPEATED
from fsopt.errors import SolverError
from fsopt.models.gmeb.norm import GmebNorm
from fsopt.typing import Indices, Mask, Matrix, Vector

HALVINGS = 50
"""Halvings of [0, 1] after which theta has all its digits."""
NEWTON = 50
"""Largest number of steps of Newton's method, each on another linear piece of phi."""
CONVERGED = 1e-7
"""Distance of the smallest margin from 1 at which the smallest norm is attained."""


@dataclass(frozen=True)
class UnitBall(L1Hinge):
    r"""The hinge loss over the unit ball of the norm of GMEB, on centred features of unit deviation.

    .. math:: \min_{w,b}\ \sum_i d_i \max(0,\ 1 - y_i(w'x_i + b)) \quad\text{s.t.}\quad
        \sum_j |w_j| u_j(\theta) \le 1, \quad 0 \le \theta \le 1

    Every :math:`0 \le \alpha \le d` with :math:`y'\alpha = 0` and every theta give the lower bound
    :math:`1'\alpha - \max_j |s_j|/u_j(\theta)`, :math:`s = X'Y\alpha`, whose second term is convex in theta.

    Attributes
    ----------
    norm : the norm in the units of Z.
    thetas : the theta of the norms in the restricted problems.
    """

    norm: GmebNorm
    thetas: list[float]

    @staticmethod
    def over(data: Dataset, norm: GmebNorm, row_costs: Vector) -> UnitBall:
        """Return the program of a data set with the weights d (n,), and the norm in the units of the data."""
        program = L1Hinge.of(data, row_costs, np.zeros(data.p))
        square = program.unit**2
        scaled = replace(norm, v_plus=norm.v_plus / square, v_minus=norm.v_minus / square)
        given = {part.name: getattr(program, part.name) for part in fields(program)}
        return UnitBall(**given, norm=scaled, thetas=list(norm.ends))

    def quotient(self, s: Vector) -> tuple[float, float]:
        """Return the theta that minimises max_j |s_j| / u_j(theta) for sums s (p,), and that maximum."""
        used = np.flatnonzero(s)
        if not len(used):
            return self.norm.ends[0], 0.0
        size, norm = np.abs(s[used]), replace(self.norm, v_plus=self.norm.v_plus[used], v_minus=self.norm.v_minus[used])

        def quotients(theta: float) -> Vector:
            with np.errstate(divide="ignore"):
                found: Vector = size / norm.weights(theta)
            return found

        candidates = list(norm.ends)
        if len(candidates) == 2:
            # Bisection to the last digit: the minimum is a kink, where another search leaves an error of its first
            # order. A quotient falls in theta where u_j rises.
            rising = norm.v_plus / norm.r_plus > norm.v_minus / norm.r_minus
            low, high = candidates
            for _ in range(HALVINGS):
                middle = 0.5 * (low + high)
                low, high = (middle, high) if rising[np.argmax(quotients(middle))] else (low, middle)
            candidates += [low, high]
        value, theta = min((float(quotients(theta).max()), theta) for theta in candidates)
        return theta, value

    def bound(self, alpha: Vector, columns: Mask) -> tuple[Vector, Vector, float]:
        """Return balanced multipliers (n,), their bound, and how far |s_j| is above its bound for the other features.

        That bound is u_j times the largest quotient of the features of the restricted problem.
        """
        alpha = project_multipliers(alpha, self.y, self.d)
        s = np.abs(self.Z.T @ alpha)
        theta, price = self.quotient(np.where(columns, s, 0.0))
        rounding = SLACK * np.sqrt(len(alpha)) * float(np.linalg.norm(alpha))
        return alpha, s - price * self.norm.weights(theta) - rounding, float(alpha.sum()) - self.quotient(s)[1]

    def inside(self, w: Vector) -> Vector:
        """Return weights in the unit ball, shortened where they are too long."""
        inner: Vector = w / max(1.0, self.norm.at(w)[0])
        return inner

    def norms(self, columns: Indices) -> Matrix | None:
        """Return the weights (K, |J|) of the norms so far."""
        return np.array([self.norm.weights(theta)[columns] for theta in self.thetas])

    def cut(self, w: Vector) -> bool:
        """Add the norm of the theta that the weights violate most; return whether it is a new one."""
        size, theta = self.norm.at(w)
        new = size > 1.0 and min(abs(theta - other) for other in self.thetas) > REPEATED
        if new:
            self.thetas.append(theta)
        return new

    @property
    def free(self) -> Mask:
        """The features without a cost (p,), of which there are none: the norm bounds all."""
        return np.zeros(len(self.c), dtype=bool)


@loop
def unit_ball_generation(
    data: Dataset, norm: GmebNorm, *, settings: GenerationSettings = DEFAULT_SETTINGS, run: Run = DEFAULT_RUN
) -> Steps[DriverResult]:
    r"""Minimise the hinge loss over :math:`N(w) \le 1` by column and constraint generation, with cuts in theta.

    The steps are those of :func:`fsopt.drivers.column_generation`, with the norms of some theta in the restricted
    problems. After each the theta at which its weights are longest is added, as :func:`fsopt.drivers.theta_cuts` does;
    the weights themselves, scaled into the ball, give an upper bound. The lower bound holds for all samples, features
    and theta.

    Parameters
    ----------
    data : all samples and features; they are centred and scaled inside.
    norm : the norm N of the same data.
    settings, run : as in :func:`fsopt.drivers.column_generation`.

    Returns
    -------
    DriverResult
        ``optimal`` where the bounds meet. The point holds ``w``, ``b``, and ``mu``, ``price`` and ``theta`` as in
        :func:`fsopt.drivers.theta_cuts`.

    Raises
    ------
    SolverError : a restricted problem was not solved, or without multipliers.
    """
    settings.check()
    d = np.ones(data.n) * loss_weights(1.0, data.weights)
    unit = float(d.max()) or 1.0
    program = UnitBall.over(data, norm, d / unit)
    recorder = Recorder([], run)
    at, stop = yield from run_loop(generate(TrustRegion(program, unit, settings, recorder, run), None), recorder)
    (w, b), alpha = program.raw(at.point["w"], at.point["b"]), at.point["alpha"]
    theta, price = program.quotient(program.Z.T @ alpha)
    value, bound = hinge(data.X @ w + b, data.y, d), unit * (float(alpha.sum()) - price)
    certificate = make(Kind.GLOBAL, {"gap": relative_gap(value, bound)}, objective=value, bound=bound)
    point = {"w": w, "b": b, "mu": unit * alpha, "price": unit * price, "theta": theta}
    return recorder.end_certified(certificate, at.stop or stop, point)


@loop
def smallest_norm_generation(
    data: Dataset, norm: GmebNorm, *, settings: GenerationSettings = DEFAULT_SETTINGS, run: Run = DEFAULT_RUN
) -> Steps[DriverResult]:
    r"""Return the separating hyperplane of smallest N(w) of separable data, by Newton's method on the hinge loss.

    .. math:: \varphi(t) = \min \{ 1'\xi : N(w) \le t \}, \qquad t^{k+1} = 1'\mu^k / \max_j \frac{|s_j^k|}{u_j(\theta)}

    phi is convex and decreasing, and multipliers mu of :func:`unit_ball_generation` at t bound it from below by a
    linear function, whose zero is the next t. Every t is a lower bound on the norm; the last one is attained.

    Parameters
    ----------
    data, norm, settings, run : as in :func:`unit_ball_generation`.

    Returns
    -------
    DriverResult
        ``objective`` is N(w) and ``bound`` t; the point is that of :func:`unit_ball_generation`, with the multipliers
        behind t.

    Raises
    ------
    NoPoint : the data are not separable.
    SolverError : a restricted problem was not solved, or t has not converged.
    """
    recorder = Recorder([], run)
    at, stop = yield from run_loop(_newton(data, norm, settings, recorder), recorder)
    if not at.point:
        raise SolverError("the smallest norm has not converged", "name a solver")
    size, t = at.objective, at.bound
    certificate = make(Kind.GLOBAL, {"gap": relative_gap(size, t)}, objective=size, bound=t)
    return recorder.end_certified(certificate, at.stop or stop, at.point)


def _newton(data: Dataset, norm: GmebNorm, settings: GenerationSettings, recorder: Recorder) -> Loop:
    """Yield the bounds t, without a point before the last one, which is attained."""
    program = UnitBall.over(data, norm, np.ones(data.n))
    mu = project_multipliers(np.ones(data.n), data.y, 1.0)
    for _ in range(NEWTON):
        # The zero of the linear function that the multipliers prove below phi.
        s = program.Z.T @ mu
        if np.abs(s).max() <= SLACK * np.sqrt(data.n) * float(np.linalg.norm(mu)):
            raise NoPoint("the data are not separable: no hyperplane has the smallest norm", "give other data")
        theta, price = program.quotient(s)
        t = float(mu.sum()) / price
        # phi and its multipliers there.
        ball = replace(norm, r_plus=norm.r_plus * t**2, r_minus=norm.r_minus * t**2)
        found = unit_ball_generation(data, ball, settings=settings, run=recorder.rest())
        recorder.include(found)
        w, b = found.point["w"], found.point["b"]
        smallest = float((data.y * (data.X @ w + b)).min())
        record = {"objective": norm.at(w)[0] / smallest if smallest > 0.0 else np.inf, "bound": t}
        if smallest >= 1.0 - CONVERGED:
            point = {"w": w / smallest, "b": b / smallest, "mu": mu, "price": price, "theta": theta}
            yield Iterate(norm.at(point["w"])[0], point, t, record=record, stop="optimal")
            return
        yield Iterate(np.inf, {}, t, record=record)
        mu = uninterrupted(found).point["mu"]
