"""Large data: when programs are solved by column generation or by an interior point, and how answers are verified."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fsopt.answers.certificate import Certificate
from fsopt.common.arguments import word
from fsopt.common.customising import changes_in_force
from fsopt.data import Dataset
from fsopt.drivers.column_generation.l1_hinge_program import certify_l1_hinge
from fsopt.drivers.run import Run
from fsopt.errors import ParameterError
from fsopt.methods.spec import SavedFit
from fsopt.methods.verification import saved_alpha
from fsopt.solvers.registry import solver_spec
from fsopt.typing import Vector

LONG = 3_000
"""Number of samples or features from which restricted programs are 3 times as fast, see benchmarks/generation.py."""
LARGE = 150_000
"""Number of entries of the data from which they are, where LONG is reached too."""
INTERIOR = 500_000
"""Entries of the data from which support vector machines are solved without a model of them, see docs/limits.md."""
REPEATED = 5_000
"""The same where a loop solves one machine after another: 1.8 times as fast there, 15 times at 250,000 entries."""
MODELLED = 5_000_000
"""Entries of the data up to which a model is a second route: it takes about a gigabyte."""


def interior_order(interior: bool | None, data: Dataset, run: Run, *, repeated: bool = False) -> tuple[bool, ...]:
    """Return the routes to a support vector machine, true for fsopt's interior point, false for its model.

    The first is tried first, the second where that ends without a certified optimum. There is no second where the user
    names a solver, changes a model, or excludes a route; a model of very large data would not fit into the memory, and
    models of sparse data would be dense.

    Parameters
    ----------
    interior : true: the interior point first; false: never; None: first for large data, where the user names no solver.
    repeated : whether a loop solves one machine after another, where the interior point is first from fewer data on.

    Raises
    ------
    ParameterError : another value, or true with a named solver.
    """
    if interior is not None and not isinstance(interior, bool):
        raise ParameterError(f"interior is {interior!r}", "true or false; leave it out to decide by the size")
    if interior and run.solver is not None:
        raise ParameterError(f"interior is true, and solver '{run.solver}' is named", "leave one of them out")
    if interior is False or run.solver is not None or (interior is None and changes_in_force()):
        return (False,)
    least = min(REPEATED, INTERIOR) if repeated else INTERIOR
    if not (interior or data.sparse or data.X.size >= least):
        return (False, True)
    return (True, False) if data.X.size <= MODELLED and not data.sparse else (True,)


def generation_order(generate: bool | str, data: Dataset, run: Run) -> tuple[bool, ...]:
    """Return the routes to a linear program, true for restricted programs, false for the whole one, in their order.

    The reasons for one route alone are those of :func:`interior_order`; models of sparse data would be dense.

    Raises
    ------
    ParameterError : another word for ``generate``.
    """
    changed = changes_in_force()
    if data.sparse:
        return (uses_generation(generate, data, run),)
    if uses_generation(generate, data, run) and not (changed and generate == "auto"):
        return (True, False) if run.solver is None and not changed and data.X.size <= MODELLED else (True,)
    return (False, True) if run.solver is None and not changed and generate is not False else (False,)


def refuse_bounds(name: str, asked: bool | str | None, bounds: Mapping[str, Any]) -> None:
    """Raise ParameterError where a route without a model is asked for, by true, and weights are to have bounds."""
    if asked is True and any(bounds.values()):
        given = next(what for what, value in bounds.items() if value)
        raise ParameterError(
            f"{name} is true, and '{given}' bounds weights, which only the model takes", "leave one of them out"
        )


def uses_generation(generate: bool | str, data: Dataset, run: Run, *, features: bool = True) -> bool:
    """Return whether a linear program is solved by restricted programs of some samples and features.

    Parameters
    ----------
    generate : true, false, or ``auto``, which looks at the size of the data and at the solver.
    run : names the solver; it has to give multipliers.
    features : whether a large number of features is a reason too: not where weights have no cost, since all features
        are then in every restricted program.

    Raises
    ------
    ParameterError : another word.
    """
    word("generate", generate, ("auto", True, False))
    if generate != "auto" or data.sparse:
        return bool(generate)
    large = max(data.X.shape if features else (data.n,)) >= LONG and data.X.size >= LARGE
    return large and (run.solver is None or solver_spec(run.solver).duals)


def certify_generation(saved: SavedFit, sample_costs: Vector, feature_costs: Vector) -> Certificate:
    """Certify a saved hyperplane as the minimum of a weighted hinge loss and 1-norm, by its saved multipliers.

    Parameters
    ----------
    sample_costs : (n,) weights of the hinge losses.
    feature_costs : (p,) weights of the sizes of w.

    Raises
    ------
    FileError : the saved multipliers are damaged.
    """
    alpha = saved_alpha(saved)
    return certify_l1_hinge(saved.data, sample_costs, feature_costs, saved.w, saved.b, alpha, residuals=saved.residuals)
