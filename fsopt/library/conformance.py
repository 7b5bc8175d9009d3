"""Agreement of the registered solvers on the models of the classes that they claim, as data and as a table.

``python -m fsopt.library.conformance FILE`` writes the table of ``solvers/README.md``.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import lru_cache

import pyomo.environ as pyo

from fsopt.errors import SolverError
from fsopt.files import write_text
from fsopt.library.draws import trial_data
from fsopt.models.registry import MODELS, build, model_spec
from fsopt.results import Status
from fsopt.solvers.base import solve
from fsopt.solvers.registry import SOLVERS, preference


@dataclass(frozen=True)
class Agreement:
    """The answer of one solver to one model, beside the reference.

    Attributes
    ----------
    model, solver : names.
    status : of the answer, after its certificate.
    difference : relative difference of the objective values; None without a point.
    certificate : the largest residual; None without a certificate.
    note : the reason of a refusal.
    """

    model: str
    solver: str
    status: str
    difference: float | None
    certificate: float | None
    note: str = ""


def build_trial(slug: str) -> pyo.ConcreteModel:
    """Return the instance of a model on which solvers are compared."""
    return build(slug, trial_data(slug), **model_spec(slug).trial.params)


@lru_cache
def reference(slug: str) -> float:
    """Return the certified optimum by the preferred solver of the model's class; raises SolverError without one."""
    result = solve(build_trial(slug), preference(MODELS[slug].problem_class)[0].name)
    if result.status is not Status.OPTIMAL or result.objective is None:
        raise SolverError(f"the reference of '{slug}' is {result.status}, not optimal", "look at its certificate")
    return result.objective


def pairs() -> list[tuple[str, str]]:
    """Return (model, solver) for every solver and every model of the classes it claims."""
    return [
        (slug, name)
        for slug, model in MODELS.items()
        for name, entry in SOLVERS.items()
        if model.problem_class in entry.classes
    ]


def agreement(slug: str, solver: str) -> Agreement:
    """Solve a model with a solver and compare; the note has the reason of a refusal, for example a missing licence."""
    try:
        result = solve(build_trial(slug), solver)
    except SolverError as error:
        return Agreement(slug, solver, "refused", None, None, str(error))
    difference = None
    if result.objective is not None:
        difference = abs(result.objective - reference(slug)) / max(1.0, abs(reference(slug)))
    worst = None if result.certificate is None else result.certificate.worst
    return Agreement(slug, solver, result.status.value, difference, worst)


def markdown(results: list[Agreement]) -> str:
    """Return the table model x solver of relative differences to the reference, with each status but ``optimal``."""
    solvers = list(SOLVERS)
    found = {(a.model, a.solver): a for a in results}
    lines = ["| model | class | " + " | ".join(solvers) + " |", "| --- " * (2 + len(solvers)) + "|"]
    for slug, model in MODELS.items():
        cells = [_cell(found.get((slug, solver))) for solver in solvers]
        lines.append(f"| `{slug}` | {model.problem_class} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _cell(found: Agreement | None) -> str:
    if found is None:
        return ""
    if found.difference is None:
        return found.status
    size = f"{max(found.difference, 1e-16):.0e}"
    return size if found.status == Status.OPTIMAL else f"{size} ({found.status})"


def main(path: str) -> None:
    """Write the table between the marks of a Markdown file."""
    begin, end = "<!-- table -->\n", "<!-- end of table -->\n"
    with open(path, encoding="utf-8") as stream:
        text = stream.read()
    head, rest = text.split(begin)
    tail = rest.split(end)[1]
    table = markdown([agreement(slug, solver) for slug, solver in pairs() if SOLVERS[solver].available])
    write_text(path, head + begin + table + end + tail)


if __name__ == "__main__":
    main(sys.argv[1])
