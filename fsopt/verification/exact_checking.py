"""Verification without any tolerance: the exact interval of every claim of an answer, or the reason why it has none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from fsopt.answers.certificate import TOLERANCE
from fsopt.answers.records import plain
from fsopt.answers.results import Fit, Point, Status
from fsopt.answers.saved import fit_from, fit_record, point_from, sealed
from fsopt.certificates.exact.claims import (
    NOT_VERIFIED,
    VERIFIED,
    About,
    Claim,
    claim_of_pair,
    claim_of_part,
    not_shown,
    with_statement,
)
from fsopt.certificates.exact.forms import ZERO
from fsopt.certificates.exact.intervals import pair_of, repaired_dual
from fsopt.certificates.exact.program import dual_start, exact_program
from fsopt.certificates.exact.proofs import claim_of, dual_data, program_data
from fsopt.certificates.exact.statements import Header, proof_file
from fsopt.common.arguments import Kind, checked
from fsopt.common.customising import Change, customised
from fsopt.compiler import Program, compile_model
from fsopt.data import Dataset
from fsopt.data.dataset import DATASET
from fsopt.errors import NotShownError, reading
from fsopt.models.registry import MODELS, build
from fsopt.typing import Vector
from fsopt.verification.checking import check_record, exact_claims

ABOUT = "the statement is about the numbers of the model as stored doubles, after preprocessing"
SUPPORT: Mapping[Status, frozenset[str]] = {
    Status.OPTIMAL: frozenset({"optimal"}),
    Status.STATIONARY: frozenset({"optimal", "stationary"}),
    Status.FEASIBLE: frozenset({"optimal", "stationary", "feasible"}),
    Status.INFEASIBLE: frozenset({"infeasible"}),
}
"""Claimed status -> statuses of exact claims that support it."""
MODEL = "the optimum of the model"


@dataclass(frozen=True)
class ExactCheck:
    """What rational arithmetic shows of an answer.

    Attributes
    ----------
    claimed : the status of the answer.
    claims : each with its interval or its reason.
    header : what the statement of a proof says beside the claims.
    numerically : whether the answer was verified numerically, which it has to be too: features, support and
        preprocessing are compared there.
    """

    claimed: Status
    claims: tuple[Claim, ...]
    header: Header
    numerically: bool = True

    @property
    def verified(self) -> bool:
        """Whether every claim holds exactly and one of them supports the claimed status."""
        shown = {c.part["claim"]["status"] for c in self.claims if c.part is not None}
        return (
            self.numerically
            and all(c.holds for c in self.claims)
            and bool(shown & SUPPORT.get(self.claimed, frozenset()))
        )

    @property
    def word(self) -> str:
        """The word for the whole answer."""
        return VERIFIED if self.verified else NOT_VERIFIED

    @property
    def width(self) -> Fraction | None:
        """The relative width of the first interval; None where it has only one end."""
        return self.claims[0].width if self.claims else None

    def plain(self) -> dict[str, Any]:
        """Return the check as plain data."""
        return {"word": self.word, "about": ABOUT, "claims": [claim.plain() for claim in self.claims]}

    def proof(self) -> dict[str, Any]:
        """Return the statement and the evidence of all claims that have one, for ``fsopt-verify``: docs/exact.md."""
        return proof_file(self.header, self.claims)


def exactly(fit: Fit, data: Dataset, *, numerically: bool = True) -> ExactCheck:
    """Return what rational arithmetic shows of a fit, without a numerical verification of it.

    Parameters
    ----------
    data : that it was fitted to.
    numerically : whether it was verified numerically.

    Raises
    ------
    FileError : the evidence is damaged, or the data are others.
    """
    changed = sorted(fit.details.get("customised", {}))
    header = Header("method", fit.method, fit.params, data, str(fit.params.get("scale", "none")), changed)
    return ExactCheck(fit.status, tuple(exact_claims(fit, data)), header, numerically)


FIT = Kind("a Fit", lambda value: isinstance(value, Fit), "give the result of fsopt.fit")


@checked(fit=FIT, data=DATASET)
def check(
    fit: Fit, data: Dataset, *, exact: bool = False, customise: Mapping[str, Change] | None = None
) -> dict[str, Any]:
    """Verify a fit again, without any solver.

    Parameters
    ----------
    fit : Fit
        A result of :func:`fsopt.fit`.
    data : Dataset
        The data that it was fitted to.
    exact : bool, default False
        Also in rational arithmetic, with no tolerance anywhere.
    customise : Mapping[str, Change], optional
        The functions that changed its models, as they were given to :func:`fsopt.fit`.

    Returns
    -------
    dict
        As :func:`fsopt.verification.checking.check_record`; with ``exact`` the entry of this name has ``word``
        (``verified exactly`` where the claimed status follows with the claimed gap), ``about`` and ``claims``, each
        with its interval as fractions.

    Raises
    ------
    FileError : the details of the fit are damaged, or the data are others.
    """
    record = sealed(fit_record(fit, data=data, source=data.name))
    found = check_record(record, data, "the fit", customise=customise)
    if exact:
        with customised(customise):
            found["exact"] = exactly(fit, data, numerically=found["verified"]).plain()
    return found


def exact_word(fit: Fit, data: Dataset, *, customise: Mapping[str, Change] | None = None) -> str:
    """Return the word of an exact check for a row of a table, with the first reason where a claim is not shown."""
    found = check(fit, data, exact=True, customise=customise)["exact"]
    reasons = [f"{claim['claim']}: {claim['reason']}" for claim in found["claims"] if claim["reason"]]
    return str(found["word"]) if found["word"] == VERIFIED or not reasons else f"{found['word']} ({reasons[0]})"


def check_record_exactly(
    record: Mapping[str, Any],
    data: Dataset,
    path: str,
    *,
    customise: Mapping[str, Change] | None = None,
    numerically: bool = True,
    raw: Dataset | None = None,
) -> ExactCheck:
    """Return what rational arithmetic shows of a saved answer.

    Parameters
    ----------
    record, path, data, customise : as in :func:`fsopt.verification.checking.check_record`, which looks at the file
    first. raw : the data before the preprocessing of a saved solve; by default ``data`` had none.
    numerically : whether it was verified numerically.

    Raises
    ------
    FileError : the evidence is damaged.
    """
    with customised(customise):
        if "method" in record:
            return exactly(fit_from(record, path), data, numerically=numerically)
        scale = "none" if raw is None else str(record.get("scale", "none"))
        changed = sorted(record.get("customised", {}))
        header = Header("model", record["model"], record["params"], data if raw is None else raw, scale, changed)
        return ExactCheck(Status(record["status"]), tuple(_solve_claims(record, data)), header, numerically)


def _solve_claims(record: Mapping[str, Any], data: Dataset) -> list[Claim]:
    """Return the claim of a saved solve."""
    about = About(record["model"], plain({**MODELS[record["model"]].parameters, **record["params"]}))
    return [replace(claim, about=about) for claim in _claims_of_solve(record, data)]


def _claims_of_solve(record: Mapping[str, Any], data: Dataset) -> list[Claim]:
    with reading("answer"):
        program = compile_model(build(record["model"], data, **record["params"]))
        point, evidence, ray = (
            None if record.get(name) is None else point_from(record[name], program)
            for name in ("point", "evidence", "ray")
        )
    status = Status(record["status"])
    try:
        if status is Status.INFEASIBLE and ray is not None:
            return [claim_infeasible(program, ray)]
        if point is None:
            return [not_shown(MODEL, "the answer has no point, and no multipliers that prove that there is none")]
        own = point if point.y is not None and point.z is not None else evidence
        return [solve_claim(program, point.x, own, status, (record.get("objective"), record.get("bound")))]
    except NotShownError as error:
        return [not_shown(MODEL, str(error))]


def solve_claim(
    program: Program, x: Vector, own: Point | None, status: Status, stated: tuple[float | None, float | None]
) -> Claim:
    """Return the claim of a solve.

    Parameters
    ----------
    x : (n,) its answer. ``own`` : a point with multipliers of the program; those of fixed integers bound nothing.
    stated : objective and bound, in the model's own sense.

    Raises
    ------
    NotShownError : the program has no form in rational numbers.
    """
    integer = bool(program.integer.any())
    pair = pair_of(program, x, None if integer else own)
    if integer:
        reason = "the bound: it rests on the search of a solver, which is not repeated"
        pair = replace(pair, reasons=(*pair.reasons[:-1], reason))
    claim = claim_of_pair(MODEL, "optimal" if status is Status.OPTIMAL else "feasible", pair, TOLERANCE)
    return with_statement(claim, *stated, TOLERANCE) if status is Status.OPTIMAL else claim


def claim_infeasible(program: Program, ray: Point) -> Claim:
    """Return the claim that a program has no feasible point, from multipliers y and z of either sign of y.

    Raises
    ------
    NotShownError : the program has no form in rational numbers.
    """
    exact = exact_program(program)
    bare = replace(exact, P=(ZERO,) * exact.n, c=(ZERO,) * exact.n, c0=ZERO)
    y, z = ray.multipliers
    reason = "the multipliers prove no infeasibility in rational numbers"
    size = max(float(np.abs(y).max(initial=0.0)), float(np.abs(z).max(initial=0.0)), 1e-300)
    for sign in (1.0, -1.0):
        start = dual_start(program, bare, Point(np.zeros(program.n), sign * y / size, z / size))
        try:
            dual, bound = repaired_dual(bare, start)
        except NotShownError as error:
            reason = error.message
            continue
        if bound > 0:
            part = {
                "kind": "infeasible",
                "program": program_data(exact),
                "ray": {k: v for k, v in dual_data(bare, dual).items() if k != "curve"},
                "claim": claim_of("infeasible", None, None, None),
            }
            return claim_of_part("there is no feasible point", part)
    return not_shown("there is no feasible point", reason)
