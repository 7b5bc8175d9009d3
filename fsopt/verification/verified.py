"""What a verification found: numerically, and in rational arithmetic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
class Verification:
    """What the recomputed evidence of an answer supports.

    Attributes
    ----------
    claimed : the status of the answer.
    certificate : the recomputed evidence; its residuals have the difference of each stated number.
    exact : whether rational arithmetic was asked.
    claims : what it shows, each with its exact interval or its reason; empty where it was not asked.
    header : the data of the answer; None for one that belongs to no data set.
    supporting : statuses of claims of which one is needed; None for those of the claimed status in :data:`SUPPORT`.
    """

    claimed: Status
    certificate: Certificate
    exact: bool = False
    claims: tuple[Claim, ...] = ()
    header: Header | None = None
    supporting: frozenset[str] | None = None

    @property
    def verified(self) -> bool:
        """Whether every recomputed number supports the claimed status, and, where it was asked for, exactly."""
        return self.numerically and (self._exactly or not self.exact)

    @property
    def _exactly(self) -> bool:
        support = self.supporting or SUPPORT.get(self.claimed, frozenset())
        return any(c.status in support for c in self.claims) and all(c.holds for c in self.claims)

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
        return VERIFIED if self._exactly else "verified numerically"

    @property
    def recomputed(self) -> Status | None:
        """The status without the word of a solver: ``feasible`` where a search cannot be repeated; None for none."""
        if not self.numerically:
            return None
        return Status.FEASIBLE if self.certificate.bound_source.startswith(WORD) else self.claimed

    @property
    def reason(self) -> str:
        """Why the answer is not verified; empty for one that is."""
        claims = "; ".join(f"{claim.name}: {claim.reason}" for claim in self.claims if not claim.holds)
        return claims if self.numerically else self._refusal()

    def _refusal(self) -> str:
        """Return why the recomputed numbers do not support the claim, in one line; empty where they do."""
        certificate, large = self.certificate, self.certificate.refused()
        if self.numerically:
            return ""
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
        """Return what ``fsopt check --json`` prints: its ``verified`` is :attr:`numerically`, not :attr:`verified`."""
        names = ("claimed", "status_line", "recomputed", "certificate")
        found: dict[str, Any] = {name: getattr(self, name) for name in names}
        found |= {"verified": self.numerically, "reason": self._refusal(), "notes": self.certificate.notes}
        if not self.exact:
            return found
        word = VERIFIED if self.verified else NOT_VERIFIED
        exact = {"word": word, "about": ABOUT, "claims": [claim.plain() for claim in self.claims]}
        statements = [claim["statement"] for claim in self.proof()["claims"]]
        return {**found, **first_statement(statements), "confirmed": self.verified, "exact": exact}

    def proof(self) -> dict[str, Any]:
        """Return statement, program and evidence of the claims with one, for ``fsopt-verify``: docs/exact.md."""
        return proof_file([c.part for c in self.claims], [c.about for c in self.claims], self.header)

    def summary(self) -> str:
        """Return the word, the claimed status, the evidence and the reason as text."""
        lines = [f"{self.word}: {self.status_line}, by a certificate {self.certificate.kind}"]
        lines.append(f"largest residual {self.certificate.worst:.1e}, tolerance {self.certificate.tolerance:g}")
        lines += [f"{claim.name}: {claim.plain()['verified']}" for claim in self.claims]
        return "\n".join(filter(None, [*lines, self.reason, *self.certificate.notes]))

    def __str__(self) -> str:
        return self.summary()
