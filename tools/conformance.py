"""Agreement of the registered solvers on the models of the classes that they claim, as data and as a table.

``python -m tools.conformance FILE`` writes both tables of ``solvers/README.md``: tiny instances, and instances
of realistic size.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pyomo.environ as pyo

from fsopt.answers.results import SolveResult, Status
from fsopt.common.files import write_text
from fsopt.data import load_dataset
from fsopt.errors import SolverError
from fsopt.methods.preprocessing import preprocess
from fsopt.models.draws import build_trial
from fsopt.models.registry import MODELS, build
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


def build_realistic(slug: str) -> pyo.ConcreteModel:
    """Return the instance of a model on the Wisconsin breast cancer data, 569 samples of 30 features, standardised."""
    data, _ = preprocess(load_dataset("wdbc"), "standard")
    plus, minus = (data.y > 0).sum(), (data.y < 0).sum()
    balanced = np.where(data.y > 0, min(minus / plus, 1.0), min(plus / minus, 1.0))
    by_size: dict[str, dict[str, Any]] = {
        "fsp-master": {"cuts": [(0.5 * balanced).tolist(), balanced.tolist()]},
        "rsvm-least-norm": {"e_cap": 0.1 * data.n},
    }
    return build(slug, data, **{**MODELS[slug].trial.params, **by_size.get(slug, {})})


@dataclass(frozen=True)
class Size:
    """Instances of one size: builder of a model's instance by its name, and the time limit of a call in seconds."""

    build: Callable[[str], pyo.ConcreteModel]
    seconds: float | None = None


TRIAL = Size(build_trial)
REALISTIC = Size(build_realistic, 20.0)


@cache
def _answer(slug: str, solver: str, size: Size) -> SolveResult | str:
    """Return the result of a solver, or the reason of its refusal."""
    try:
        return solve(size.build(slug), solver, time_limit=size.seconds)
    except SolverError as error:
        return str(error)


def reference(slug: str, size: Size = TRIAL) -> float | None:
    """Return the certified optimum by the first solver of the model's class that has one, None without one."""
    for spec in preference(MODELS[slug].problem_class):
        found = _answer(slug, spec.name, size) if spec.available else ""
        if isinstance(found, SolveResult) and found.status is Status.OPTIMAL:
            return found.objective
    return None


def pairs() -> list[tuple[str, str]]:
    """Return (model, solver) for every solver and every model of the classes that it takes."""
    return [
        (slug, name)
        for slug, model in MODELS.items()
        for name, entry in SOLVERS.items()
        if model.problem_class in entry.classes
    ]


def agreement(slug: str, solver: str, size: Size = TRIAL) -> Agreement:
    """Solve a model with a solver and compare; the note has the reason of a refusal, for example a missing licence."""
    result = _answer(slug, solver, size)
    if isinstance(result, str):
        return Agreement(slug, solver, "refused", None, None, result)
    difference, optimum = None, reference(slug, size)
    if result.objective is not None and optimum is not None:
        difference = abs(result.objective - optimum) / max(1.0, abs(optimum))
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
    """Write both tables between their marks of a Markdown file."""
    with open(path, encoding="utf-8") as stream:
        text = stream.read()
    for name, size in (("table", TRIAL), ("realistic", REALISTIC)):
        begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
        head, rest = text.split(begin)
        tail = rest.split(end)[1]
        found = [agreement(slug, solver, size) for slug, solver in pairs() if SOLVERS[solver].available]
        text = head + begin + markdown(found) + end + tail
    write_text(path, text)


if __name__ == "__main__":
    main(sys.argv[1])
