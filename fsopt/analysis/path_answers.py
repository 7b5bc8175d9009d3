"""The answer of :func:`fsopt.selection_path`: optima over the number of features and C, with their evidence."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fsopt.algorithms.branch_and_benders.evidence import verify as replayed_evidence
from fsopt.analysis.cardinality import at_most, cardinality_about
from fsopt.answers.certificate import gap_allowed
from fsopt.answers.questions import Answer
from fsopt.answers.residuals import merged
from fsopt.answers.results import Status
from fsopt.certificates.exact.claims import Claim
from fsopt.certificates.exact.proofs import Header, proof_file
from fsopt.certificates.points import relative_gap
from fsopt.common.figures import BLUE, ORANGE, new_figure
from fsopt.data import Dataset
from fsopt.data.losses import HINGE, LOSSES
from fsopt.methods.gbd.proofs import SelectedHyperplane, claim_of_search
from fsopt.methods.preprocessing import preprocess, scaled_hyperplane
from fsopt.typing import Mask, Matrix, Vector

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class SelectionPath(Answer):
    """The best support vector machines for each number of features, and for each C; one entry for each pair.

    Attributes
    ----------
    features : names of the p features.
    m, c : (k,) largest number of features M and penalty weight C, by C and then by M, ascending.
    objective, bound : (k,) value F*(M) of the incumbent, and a lower bound on the optimum.
    optimal : mask (k,) of the entries whose gap is closed.
    support : selected features of each entry, by place.
    coef, intercept : (k, p) and (k,), for raw features.
    nodes : (k,) nodes of each search.
    tolerance, scale, loss : the other parameters.
    evidence : of each bound, as in :mod:`fsopt.algorithms.branch_and_benders.evidence`.
    seconds : of the whole path.
    """

    features: tuple[str, ...]
    m: Vector
    objective: Vector
    bound: Vector
    optimal: Mask
    support: tuple[tuple[int, ...], ...]
    coef: Matrix
    intercept: Vector
    nodes: Vector
    c: Vector
    tolerance: float
    scale: str
    evidence: tuple[Any, ...] = field(repr=False)
    seconds: float
    loss: str = HINGE.name

    @property
    def heading(self) -> dict[str, Any]:
        """The parameters and the seconds; ``c`` is a list where there are several."""
        c = self.weights[0] if len(self.weights) == 1 else self.weights
        return {"c": c, **{name: getattr(self, name) for name in ("loss", "tolerance", "scale", "seconds")}}

    @property
    def weights(self) -> list[float]:
        """The penalty weights C of the entries, each once."""
        return [float(c) for c in np.unique(self.c)]

    @property
    def names(self) -> list[str]:
        """The M of each entry, with its C where there are several."""
        several = len(self.weights) > 1
        return [f"{int(m)}, C = {c}" if several else f"{int(m)}" for m, c in zip(self.m, self.c.tolist(), strict=True)]

    def to_records(self) -> list[dict[str, Any]]:
        """Return one record for each entry: ``m c objective bound gap optimal nodes features``."""
        columns = zip(self.m, self.c, self.objective, self.bound, self.optimal, self.nodes, self.support, strict=True)
        return [
            {
                "m": int(m),
                "c": float(c),
                "objective": float(upper),
                "bound": float(lower),
                "gap": float((upper - lower) / max(1.0, abs(upper))),
                "optimal": bool(optimal),
                "nodes": int(nodes),
                "features": [self.features[j] for j in support],
            }
            for m, c, upper, lower, optimal, nodes, support in columns
        ]

    @property
    def status(self) -> Status:
        """``optimal`` where the gap of every entry is closed, else ``feasible``."""
        return Status.OPTIMAL if self.optimal.all() else Status.FEASIBLE

    def residuals(self, data: Dataset) -> dict[str, float]:
        """Return the residuals of what the path states, from a replay of its evidence, without a search.

        Parameters
        ----------
        data : the data of the path.

        Returns
        -------
        dict
            For each entry: how far the stated bound exceeds the replayed one, how far the objective value is from that
            of the classifier, the features beyond M or without a place in the selection, and the open gap of an
            optimum.
        """
        (work, map_), loss = preprocess(data, self.scale), LOSSES[self.loss]
        found = {"features": float(self.features != data.features)}
        for k, name in enumerate(self.names):
            m, c = int(self.m[k]), float(self.c[k])
            w, b = scaled_hyperplane(self.coef[k], float(self.intercept[k]), map_)
            value = 0.5 * float(w @ w) + c * loss.total(work.X @ w + b, work.y, work.weights)
            upper, lower = float(self.objective[k]), float(self.bound[k])
            beyond = set(np.flatnonzero(w).tolist()) - set(self.support[k])
            replayed = replayed_evidence(at_most(work, c, m, loss), self.evidence[k]).bound
            gap = relative_gap(upper, lower) - gap_allowed(self.tolerance) if self.optimal[k] else 0.0
            entry = {
                f"bound of {name}": max(lower - replayed, 0.0) / max(1.0, abs(lower)),
                f"objective of {name}": relative_gap(value, upper),
                f"selection of {name}": float(len(beyond) + max(len(self.support[k]) - m, 0)),
                f"gap of {name}": max(gap, 0.0),
            }
            found = merged(found, entry)
        return found

    def claims(self, data: Dataset) -> tuple[Claim, ...]:
        """Return for each entry the claim with the exact interval that its evidence proves, without a search.

        Parameters
        ----------
        data : the data of the path.
        """
        work, map_ = preprocess(data, self.scale)
        found = []
        for k, name in enumerate(self.names):
            m, c = int(self.m[k]), float(self.c[k])
            w, b = scaled_hyperplane(self.coef[k], float(self.intercept[k]), map_)
            hyperplane = SelectedHyperplane(np.isin(np.arange(data.p), self.support[k]), w, b)
            problem = at_most(work, c, m, LOSSES[self.loss])
            about = f"at most {m} features" + name.removeprefix(str(m))
            claim = claim_of_search(about, problem, self.evidence[k], hyperplane, self.tolerance)
            found.append(replace(claim, about=cardinality_about(data, m, c, self.loss)))
        return tuple(found)

    def proof(self, data: Dataset) -> dict[str, Any]:
        """Return the proof file of :meth:`claims` for ``fsopt-verify``, in plain data."""
        claims = self.claims(data)
        return proof_file([c.part for c in claims], [c.about for c in claims], self.header(data))

    def header(self, data: Dataset) -> Header:
        """Return the data of the proof."""
        return Header(data, self.scale)

    def plot(self) -> Figure:
        """Return the optimal values and their lower bounds against the number of features, a line for each C."""
        figure = new_figure(1)
        axes = figure.axes[0]
        several = len(self.weights) > 1
        for k, c in enumerate(self.weights):
            at = self.c == c
            m = self.m[at]
            upper, lower = self.objective[at], self.bound[at]
            axes.fill_between(m, lower, upper, color="tab:gray", alpha=0.4, label="" if k else "gap")
            colours = (f"C{k}", f"C{k}") if several else (BLUE, ORANGE)
            axes.plot(m, upper, "o-", color=colours[0], label=f"C = {c:g}" if several else "incumbent")
            axes.plot(m, lower, "_", color=colours[1], label="" if k else "lower bound")
        term = {"hinge": r"e'\xi", "squared-hinge": r"\xi'\xi", "logistic": r"\sum_i \ln(1 + e^{-u_i})"}[self.loss]
        axes.set(xlabel="largest number of features M", ylabel=rf"$\frac{{1}}{{2}}w'w + C {term}$")
        axes.locator_params(axis="x", integer=True)
        if several:
            axes.set_yscale("log")
        axes.legend()
        return figure
