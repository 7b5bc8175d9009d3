"""Constraints and bounds of a model that contradict each other."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from fsopt.answers.questions import Answer
from fsopt.common.figures import bars_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Member:
    """A constraint or bound of a contradiction.

    Attributes
    ----------
    component, index : of the model; ``index`` is None for a component without indices.
    equation : its ``doc``, which begins with the equation of the paper.
    kind : ``constraint``, ``bound`` (of a variable), or ``cone``.
    text : what it asks for.
    """

    component: str
    index: object
    equation: str
    kind: str
    text: str


@dataclass(frozen=True)
class Explanation(Answer):
    """The answer of :func:`fsopt.explain_infeasibility`.

    Attributes
    ----------
    status : ``infeasible``, ``feasible``, or ``unknown`` where no solver settled it in time.
    members : the contradiction; empty for a feasible model.
    irreducible : whether each member is needed: without any of them the others have a point.
    evidence : ``Farkas multipliers`` that hold, or the name of the solver on whose search the statement rests.
    """

    status: str
    members: tuple[Member, ...]
    irreducible: bool
    evidence: str

    @property
    def heading(self) -> dict[str, Any]:
        """Status, irreducibility and evidence."""
        return {"status": self.status, "irreducible": self.irreducible, "evidence": self.evidence}

    def to_records(self) -> list[dict[str, Any]]:
        """Return one record for each member: the attributes of a :class:`Member`."""
        return [asdict(member) for member in self.members]

    def plot(self) -> Figure:
        """Return the number of members of each component."""
        counts = Counter(member.component for member in self.members)
        return bars_figure(list(counts), list(counts.values()), "members of the contradiction")

    def summary(self) -> str:
        """Return the contradiction as text, one line for each member, by component."""
        if self.status != "infeasible":
            return f"the model is {self.status}" if self.status == "feasible" else "not settled in time"
        head = "an irreducible contradiction" if self.irreducible else "a contradiction, not known to be irreducible,"
        lines = [f"the model is infeasible: {head} of {len(self.members)} members ({self.evidence})"]
        for name in dict.fromkeys(m.component for m in self.members):
            group = [m for m in self.members if m.component == name]
            lines.append(f"  {name}: {group[0].equation}" if group[0].equation else f"  {name}")
            lines += [f"    {m.text}" for m in group[:10]]
            lines += [f"    and {len(group) - 10} more"] if len(group) > 10 else []
        return "\n".join(lines)
