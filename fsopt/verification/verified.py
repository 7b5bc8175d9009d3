"""What a verification found: numerically, and in rational arithmetic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fsopt.answers.certificate import WORD, Certificate, Kind, status_line
from fsopt.answers.results import EVIDENCE, Status
from fsopt.certificates.exact.claims import NOT_VERIFIED, VERIFIED, Claim
from fsopt.certificates.exact.proofs import Header, proof_file

EXPLAINED: Mapping[str, str] = {
    "digest": "the file was changed after it was saved",
    "infeasibility": "the point violates a constraint",
    "integrality": "an integer variable is no whole number",
    "bounds": "the point violates a bound",
    "objective": "the stated objective value is not that of the point",
    "remainder": "the multipliers prove no bound",
    "gap": "the optimum is bounded elsewhere",
    "stated bound": "the optimum is not bounded by the stated value",
    "farkas": "the multipliers prove no infeasibility",
}
"""Residual -> what it means where it is too large."""
ABOUT = "the statement is about the numbers of the model as stored doubles, after preprocessing"
SUPPORT: Mapping[Status | None, frozenset[str]] = {
    None: frozenset({"bounded", "infeasible"}),
    Status.OPTIMAL: frozenset({"optimal"}),
    Status.STATIONARY: frozenset({"optimal", "stationary"}),
    Status.FEASIBLE: frozenset({"optimal", "stationary", "interval", "feasible"}),
    Status.INFEASIBLE: frozenset({"infeasible"}),
}
"""Claimed status -> statuses of exact claims that support it; None for all selections but the listed ones."""


def first_statement(statements: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the first of the statements of an answer or a proof, and its interval: None where there is none."""
    first = statements[0] if statements else None
    return {"statement": first, **{name: first and first[name] for name in ("sense", "lower", "upper", "gap")}}


@dataclass(frozen=True)
class ExactCheck:
    """What rational arithmetic shows of an answer: its claims, one of which has to support the claimed status.

    The status None is that of all selections but the listed ones; an answer of no data set has no header. It has to be
    verified numerically, too: features, support and preprocessing are compared there.
    """

    claims: tuple[Claim, ...]
    claimed: Status | None
    header: Header | None = None
    numerically: bool = True

    @property
    def verified(self) -> bool:
        """Whether every claim holds exactly and one of them supports the claimed status."""
        shown = any(claim.status in SUPPORT.get(self.claimed, ()) for claim in self.claims)
        return self.numerically and shown and all(claim.holds for claim in self.claims)

    def plain(self) -> dict[str, Any]:
        """Return the check as plain data."""
        word = VERIFIED if self.verified else NOT_VERIFIED
        return {"word": word, "about": ABOUT, "claims": [claim.plain() for claim in self.claims]}

    def proof(self) -> dict[str, Any]:
        """Return statement, program and evidence of the claims with one, for ``fsopt-verify``: docs/exact.md."""
        return proof_file([c.part for c in self.claims], [c.about for c in self.claims], self.header)


@dataclass(frozen=True)
class Verification:
    """What the recomputed evidence of an answer supports.

    Attributes
    ----------
    claimed : the status of the answer.
    certificate : the recomputed evidence, with a residual for each compared number.
    exact : what rational arithmetic shows; None where this was not asked for.
    """

    claimed: Status
    certificate: Certificate
    exact: ExactCheck | None = None

    def with_claims(
        self, claims: Sequence[Claim], claimed: Status | None, header: Header | None = None
    ) -> Verification:
        """Return the same with what rational arithmetic shows."""
        return replace(self, exact=ExactCheck(tuple(claims), claimed, header, self.numerically))

    @property
    def verified(self) -> bool:
        """Whether every recomputed number supports the claimed status, and, where it was asked for, exactly."""
        return self.numerically and (self.exact is None or self.exact.verified)

    @property
    def numerically(self) -> bool:
        """Whether every recomputed number supports the claimed status within the tolerance."""
        return self.certificate.ok and self.certificate.kind in EVIDENCE.get(self.claimed, frozenset())

    @property
    def status_line(self) -> str:
        """The claimed status, and whose word its bound is, or ``numerically``: ``optimal (bound: highs)``."""
        return status_line(self.claimed, self.certificate.bound_source, self.certificate.notes)

    @property
    def word(self) -> str:
        """One of ``verified exactly``, ``verified numerically`` and ``not verified``."""
        if not self.numerically:
            return "not verified"
        return VERIFIED if self.exact is not None and self.exact.verified else "verified numerically"

    @property
    def recomputed(self) -> Status | None:
        """The status without the word of a solver: ``feasible`` where a search cannot be repeated; None for none."""
        if not self.numerically:
            return None
        return Status.FEASIBLE if self.certificate.bound_source.startswith(WORD) else self.claimed

    @property
    def residuals(self) -> Mapping[str, float]:
        """Name -> relative difference of a stated number from the recomputed one, or violation."""
        return self.certificate.residuals

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The claims with their exact intervals; empty where this was not asked for."""
        return () if self.exact is None else self.exact.claims

    @property
    def reason(self) -> str:
        """Why the answer is not verified; empty for one that is."""
        if not self.numerically:
            return self._refusal()
        return "; ".join(f"{claim.name}: {claim.reason}" for claim in self.claims if not claim.holds)

    def _refusal(self) -> str:
        """Return why the recomputed numbers do not support the claim, in one line."""
        certificate, large = self.certificate, self.certificate.refused()
        unbounded = self.claimed is Status.OPTIMAL and certificate.kind in (Kind.FEASIBLE, Kind.KKT)
        if unbounded and set(large) <= {"stated bound"}:
            return "nothing in the answer bounds the optimum"
        shown = ", ".join(f"{name} {value:.1e}" for name, value in large.items())
        name = next((name for name in EXPLAINED if name in large), "")
        if not name:
            return shown or f"nothing in the answer proves the status {self.claimed}"
        ends = [f"{end:.9g}" for end in (certificate.objective, certificate.bound) if end is not None]
        return f"{EXPLAINED[name]} ({shown})" + f": recomputed {', bound '.join(ends)}" * bool(ends)

    def record(self) -> dict[str, Any]:
        """Return what ``fsopt check --json`` prints, before it is made plain data."""
        names = ("claimed", "status_line", "verified", "recomputed", "certificate", "reason")
        found: dict[str, Any] = {name: getattr(self, name) for name in names}
        found |= {
            "notes": self.certificate.notes,
            "verified": self.numerically,
            "reason": "" if self.numerically else self.reason,
        }
        if self.exact is None:
            return found
        statements = [claim["statement"] for claim in self.exact.proof()["claims"]]
        return {**found, **first_statement(statements), "confirmed": self.verified, "exact": self.exact.plain()}

    def summary(self) -> str:
        """Return the word, the claimed status, the evidence and the reason as text."""
        lines = [f"{self.word}: {self.status_line}, by a certificate {self.certificate.kind}"]
        lines.append(f"largest residual {self.certificate.worst:.1e}, tolerance {self.certificate.tolerance:g}")
        lines += [f"{claim.name}: {claim.plain()['verified']}" for claim in self.claims]
        return "\n".join(filter(None, [*lines, self.reason, *self.certificate.notes]))

    def __str__(self) -> str:
        return self.summary()
