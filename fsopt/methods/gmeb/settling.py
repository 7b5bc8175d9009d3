"""The certified classifier of an answer to (15) of Peleg & Meir: of smallest norm where the data are separable."""

from __future__ import annotations

from dataclasses import dataclass, replace

from fsopt.answers.certificate import Certificate
from fsopt.data import Dataset
from fsopt.data.hyperplanes import midpoint_intercept
from fsopt.drivers.run import Run, Steps
from fsopt.errors import SolverError
from fsopt.methods.gmeb.formulations import RouteSolution, by_cuts, smallest_norm
from fsopt.methods.gmeb.optimality import certify_gmeb, polish
from fsopt.models.gmeb.norm import GmebNorm
from fsopt.typing import Vector

SEPARABLE = 1e-6
"""Hinge loss, relative to the number of samples, up to which an optimum counts as 0."""


@dataclass(frozen=True)
class Settled:
    """A classifier inside the unit ball of the norm, the answer it came from, and its certificate."""

    w: Vector
    b: float
    answer: RouteSolution
    certificate: Certificate


def settle(
    data: Dataset, norm: GmebNorm, answer: RouteSolution, run: Run, *, cuts: bool = False, repair: bool = True
) -> Steps[tuple[Settled, list[str]]]:
    """Return the certified classifier of an answer, and warnings.

    Parameters
    ----------
    data, norm : in the units of the answer.
    cuts : whether the separating hyperplane of smallest norm is found by cuts in theta, not by cones.
    repair : whether the problem is solved again by cuts in theta if the certificate fails.
    """
    warnings: list[str] = []
    found = _certified(data, norm, answer)
    if not found.certificate.ok and repair:
        warnings.append(f"the answer of {answer.outcome.solver} failed its check: cuts in theta were used instead")
        run, cuts = replace(run, solver=None, options=None), True
        found = _certified(data, norm, (yield from by_cuts(data, norm, run)))
    loss = found.certificate.objective
    if loss is None or loss > SEPARABLE * data.n:
        return found, warnings
    try:
        hard = _certified(data, norm, (yield from smallest_norm(data, norm, run, cuts=cuts)))
    except SolverError:
        return found, warnings
    if not hard.certificate.ok:
        return found, warnings
    return hard, ["the data are separable within the norm: the hyperplane of smallest norm is returned"]


def _certified(data: Dataset, norm: GmebNorm, answer: RouteSolution) -> Settled:
    w = answer.w / max(1.0, norm.at(answer.w)[0])
    b = midpoint_intercept(data.X @ w, data.y, data.weights)
    if not answer.separable:
        answer = replace(answer, dual=polish(data, norm, answer.dual))
    return Settled(w, b, answer, certify_gmeb(data, norm, w, b, answer.dual, separable=answer.separable))
