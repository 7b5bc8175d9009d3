"""DCA on L0-MPM with many more features than samples: its steps by column generation."""

from __future__ import annotations

import numpy as np

from fsopt.answers.results import DriverResult
from fsopt.compiler import compile_model
from fsopt.drivers.column_generation.worst_case import Multipliers, WorstCaseData, add_violated, worst_case_generation
from fsopt.drivers.dca import best_descent, dca
from fsopt.drivers.loop import Iterate, Loop
from fsopt.drivers.penalties.approximations import Penalty
from fsopt.drivers.recorder import EARLY, Recorder
from fsopt.drivers.run import DEFAULT_RUN, Run, Steps, loop
from fsopt.typing import Vector

NOTHING = {"criticality": np.inf, "rise": 0.0}
"""Evidence for an iterate of which nothing is proved yet."""


def _descend(
    problem: WorstCaseData, recorder: Recorder, penalty: Penalty, v: Vector, *, tolerance: float, start: int
) -> Loop:
    """Yield the iterates of DCA from the linearisation v (p,), with more and more of the features."""
    slope, run = penalty.slope, recorder.rest()
    # The first step, for all features.
    found = worst_case_generation(problem, alpha=slope, v=v, run=run)
    recorder.include(found)
    w, columns = found.point["w"], found.point["columns"]
    value, rise = penalty.value(w), 0.0
    stop = found.stop if found.stop in EARLY else ""
    for record in found.history:
        fields = {"start": start, "objective": value, "criticality": np.inf, "columns": record["columns"]}
        yield Iterate(value, {"w": w, "b": found.point["b"]}, evidence=NOTHING, record=fields, stop=stop)
    # Each pass adds a feature, of which there are p, or is the last.
    while not stop:
        # DCA on the features of the restricted problem, from the last iterate.
        kept, before = np.flatnonzero(columns), value
        model = problem.restricted(kept, slope)
        found = dca(model, penalty, start=w[kept], tolerance=tolerance, run=run)
        recorder.include(found)
        w, v = np.zeros(problem.data.p), np.zeros(problem.data.p)
        w[kept], v[kept] = found.point["w"], found.point["gradient"]
        value, point = penalty.value(w), {"w": w, "b": -float(found.point["b"])}
        assert found.certificate is not None
        rise = max(rise, found.certificate.residuals["ascent"], (value - before) / max(1.0, abs(before)))
        # The multipliers of its last step price all other features, whose cost is the slope.
        criticality, proof = np.inf, found.point["proof"]
        stop = found.stop
        if proof is not None:
            at = problem.multipliers(model, compile_model(model), proof, kept)
            feasible, excess, criticality = _price(problem, slope, v, w, at)
            point |= {"gradient": v, "multipliers": feasible}
            if stop not in EARLY and add_violated(columns, excess):
                stop = ""
        evidence = {"criticality": criticality, "rise": rise}
        for record in found.history:
            fields = {"criticality": record["criticality"], "columns": len(kept)}
            fields = {"start": start, "objective": value, **fields}
            yield Iterate(value, point, evidence=evidence, record=fields, stop=stop)


def _price(
    problem: WorstCaseData, slope: float, v: Vector, w: Vector, at: Multipliers
) -> tuple[Multipliers, Vector, float]:
    """Return the multipliers made feasible, the excess (p,) of the reduced costs, and the criticality of w (p,)."""
    program = problem.program(slope, v)
    feasible, excess, bound = program.dual(at)
    here = program.value(w)
    return feasible, excess, max(here - bound, 0.0) / max(1.0, abs(here))


@loop
def worst_case_dca(
    problem: WorstCaseData,
    penalty: Penalty,
    *,
    n_starts: int = 1,
    seed: int = 0,
    start: Vector | None = None,
    tolerance: float = 1e-6,
    run: Run = DEFAULT_RUN,
) -> Steps[DriverResult]:
    r"""Minimise ``penalty(w)`` at a worst-case accuracy by DCA, with column generation for the features.

    .. math:: w^{k+1} \in \arg\min_{w \in \Omega}\ \alpha\|w\|_1 - \langle v^k, w \rangle, \qquad
        v^k_j = \operatorname{sign}(w^k_j)(\alpha - \varphi'(|w^k_j|))

    The first step is solved for all features by :func:`worst_case_generation`; DCA then goes on with the features of
    its restricted problem. Where it ends, the multipliers of its last step price all other features, whose cost is
    alpha; those of negative reduced cost are added, and DCA goes on, until there are none: the answer is then critical
    for all features. Every step lowers the penalty, since its iterate is feasible for the next.

    Parameters
    ----------
    problem : data, moments and accuracy.
    penalty, n_starts, seed, start, tolerance, run : as in :func:`fsopt.drivers.dca.dca`.

    Returns
    -------
    DriverResult
        ``point`` has ``w``, ``b`` of the classifier w'x + b, and, where the last step is proved, its ``gradient`` v
        and ``multipliers``. ``stationary`` where the certificate of :func:`fsopt.drivers.dca.dca` holds for all
        features. A local answer; there is no bound.

    Raises
    ------
    SolverError : a step was not solved.

    Notes
    -----
    Yang & Ju, Algorithm 1.
    """
    recorder = Recorder([], run)

    def descents(k: int, v: Vector) -> Loop:
        return _descend(problem, recorder, penalty, v, tolerance=tolerance, start=k)

    how = {"n_starts": n_starts, "seed": seed, "size": problem.data.p}
    return (yield from best_descent(descents, start, penalty, recorder, tolerance=tolerance, **how))
