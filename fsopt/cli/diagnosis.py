"""Verb ``doctor``: what is installed here, and what is missing."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from fsopt import __version__
from fsopt.cli import options
from fsopt.cli.output import EXIT_NOT_SOLVED, EXIT_SOLVED, pairs, print_json, progress_bar, show, table
from fsopt.common.teams import THREADS
from fsopt.common.texts import counted

PACKAGES = ("numpy", "scipy", "pandas", "pyomo", "highspy", "clarabel", "scikit-learn", "matplotlib", "pyarrow")


def doctor(json: options.Json = False) -> int:
    """Say what is installed: versions, solvers, licences, threads.

    Each solver that is installed solves a tiny program, which shows its licence; without one, the classes of programs
    that its interface takes up to the solve are named. Exit code 1: a solver of the core
    install does not work.
    """
    from fsopt.data.files import FOLDER_VARIABLE

    folder = os.environ.get(FOLDER_VARIABLE)
    record: dict[str, Any] = {
        "fsopt": __version__,
        "python": platform.python_version(),
        "system": platform.platform(),
        "packages": {name: _version(name) for name in PACKAGES},
        "processors": os.cpu_count(),
        "threads": {name: os.environ.get(name) for name in THREADS},
        "data_folder": folder,
        "data_sets": sorted(os.listdir(folder)) if folder and os.path.isdir(folder) else [],
        "solvers": _solvers(),
    }
    print_json(record) if json else _print(record, FOLDER_VARIABLE)
    broken = [s for s in record["solvers"] if s["solver"] in ("highs", "clarabel") and s["state"] != "works"]
    return EXIT_NOT_SOLVED if broken else EXIT_SOLVED


def _solvers() -> list[dict[str, str]]:
    from fsopt.solvers.registry import SOLVERS

    found = []
    with progress_bar("doctor", total=len(SOLVERS)) as update:
        for k, (name, spec) in enumerate(SOLVERS.items()):
            update(k, f"doctor: {name}")
            state = _trial(name) if spec.available else "not installed"
            note = spec.pip if state == "not installed" else spec.licence
            package = _version(spec.package) if spec.package else None
            found.append({"solver": name, "state": state, "version": package or "", "licence": note})
    return found


def _trial(name: str) -> str:
    """Return ``works``, or why a solver does not solve a tiny program."""
    import warnings

    import pyomo.environ as pyo

    from fsopt.errors import FsoptError
    from fsopt.solvers.base import solve
    from fsopt.solvers.registry import SOLVERS

    m = pyo.ConcreteModel(name="trial")
    m.x = pyo.Var(bounds=(0, 3))
    m.c = pyo.Constraint(expr=m.x >= 1)
    m.o = pyo.Objective(expr=m.x if "LP" in SOLVERS[name].classes else m.x**2)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = solve(m, name, time_limit=20.0)
    except FsoptError as error:
        loaded = _loaded(name)
        return f"its interface takes programs ({', '.join(loaded)}), and solves none: {error}" if loaded else str(error)
    return "works" if result.status.solved else f"does not solve a tiny program: {result.message or result.stop}"


def _loaded(name: str) -> list[str]:
    """Return the classes of programs that a solver takes up to the solve, which needs a licence, one model of each."""
    from fsopt.errors import FsoptError
    from fsopt.models.draws import build_trial
    from fsopt.models.registry import MODELS
    from fsopt.solvers.base import Session
    from fsopt.solvers.registry import SOLVERS

    found = []
    for kind in SOLVERS[name].ranks:
        first = next((slug for slug, model in MODELS.items() if model.problem_class == kind), None)
        if first is not None:
            try:
                Session(build_trial(first), name)
            except FsoptError:
                continue
            found.append(kind)
    return found


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _print(record: dict[str, Any], variable: str) -> None:
    lines = [(name, record[name]) for name in ("fsopt", "python", "system", "processors")]
    lines += list(record["packages"].items())
    lines += [(name, value or "not set") for name, value in record["threads"].items()]
    sets = f" ({counted(len(record['data_sets']), 'file')})" if record["data_folder"] else ""
    lines.append(("data folder", f"{record['data_folder']}{sets}" if record["data_folder"] else f"set {variable}"))
    show(pairs(lines))
    heads = ("solver", "version", "state", "licence")
    show(table("solvers", heads, [[row[head] for head in heads] for row in record["solvers"]]))
