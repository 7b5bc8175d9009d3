"""DCA on L0-MPM with many more features than samples: its steps by column generation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fsopt.answers.results import DriverResult
from fsopt.common import clock
from fsopt.compiler import compile_model
from fsopt.drivers.column_generation.worst_case import WorstCaseData, add_violated, worst_case_generation
from fsopt.drivers.dca import Descent, best_descent, dca
from fsopt.drivers.penalties.penalty import Penalty
from fsopt.drivers.recorder import EARLY, Recorder
from fsopt.drivers.run import DEFAULT_RUN, Run, loop
from fsopt.models.blocks import vector, whole
from fsopt.typing import Indices, Vector


@dataclass
class _Descent(Descent):
    """A run whose steps are solved by column generation."""

    problem: WorstCaseData

    def run(self, v: Vector) -> None:
        """Iterate from the first linearisation v."""
        first = worst_case_generation(self.problem, alpha=self.penalty.slope, v=v, run=self.recorder.rest())
        self.recorder.include(first)
        self._take(first.point["w"], first.point["b"])
        for record in first.history:
            self._record(columns=record["columns"])
        columns = first.point["columns"]
        self.stop = first.stop
        # Each pass adds a feature, of which there are p, or ends.
        while self.stop not in EARLY:
            clock.check()
            excess = self._descend(np.flatnonzero(columns))
            if excess is None or not add_violated(columns, excess):
                return

    def _descend(self, kept: Indices) -> Vector | None:
        """Go on with DCA on some features; return the excess (p,) of the reduced costs of all, None without a proof."""
        assert self.w is not None
        p, slope = len(self.w), self.penalty.slope
        model = self.problem.restricted(kept, slope)
        found = dca(model, self.penalty, start=self.w[kept], tolerance=self.tolerance, run=self.recorder.rest())
        self.recorder.include(found)
        self.stop = found.stop
        w, v = np.zeros(p), np.zeros(p)
        w[kept], v[kept] = found.point["w"], found.point["gradient"]
        assert found.certificate is not None
        self.rise = max(self.rise, found.certificate.residuals["ascent"])
        self._take(w, -float(found.point["b"]))
        for record in found.history:
            self._record(columns=len(kept), criticality=record["criticality"])
        proof = found.point["proof"]
        if proof is None:
            return None
        at = self.problem.multipliers(model, compile_model(model), proof, kept)
        program = self.problem.program(slope, v)
        feasible, excess, bound = program.dual(at)
        here = program.value(w)
        self.criticality = max(here - bound, 0.0) / max(1.0, abs(here))
        self.point |= {"gradient": v, "multipliers": feasible}
        return excess

    def _take(self, w: Vector, b: float) -> None:
        """Move to a hyperplane, of which nothing is proved yet."""
        value = self.penalty.value(w)
        if self.w is not None:
            self.rise = max(self.rise, (value - self.value) / max(1.0, abs(self.value)))
        self.w, self.value = w, value
        self.criticality, self.point = np.inf, {"w": w, "b": b}

    def _record(self, *, columns: int, criticality: float = np.inf) -> None:
        """Record an iteration."""
        self.recorder.record(start=self.start, objective=self.value, criticality=criticality, columns=columns)


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
) -> DriverResult:
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
    p = problem.data.p
    n_starts = whole("dca", "n_starts", n_starts)
    rng = np.random.default_rng(whole("dca", "seed", seed))
    first = np.zeros(p) if start is None else penalty.gradient(vector("dca", "start", start, p))
    recorder = Recorder([], run)
    starts = (_Descent(k, recorder, penalty, tolerance, problem) for k in range(n_starts))
    return best_descent(starts, first, rng, recorder)
