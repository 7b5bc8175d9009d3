"""The solvers, as data: name -> interface, classes, abilities and licence; and the choice among them."""

from __future__ import annotations

from fsopt.common.arguments import word
from fsopt.common.registry import Registry
from fsopt.compiler.classes import CLASSES
from fsopt.errors import ParameterError, SolverError
from fsopt.solvers import MODULES
from fsopt.solvers.pyomo_call import PREFIX, spec_of
from fsopt.solvers.spec import SolverSpec


def _check(spec: SolverSpec) -> None:
    """Raise ParameterError for a solver of the user's own that cannot be called."""
    if spec.name.startswith(PREFIX):
        raise ParameterError(f"the solver '{spec.name}' would be one that Pyomo calls", "give another name")
    for problem_class in spec.ranks:
        word(f"a class of '{spec.name}'", problem_class, CLASSES)


SOLVERS = Registry(
    SolverSpec,
    "solver",
    "fsopt.solvers",
    MODULES,
    listing="fsopt solvers",
    function="connect",
    check=_check,
    words={name: f"{PREFIX}{name}" for name in ("cplex", "cbc", "glpk", "baron", "knitro", "gams", "copt", "couenne")},
)
"""Name -> entry of every solver; those of the user's own follow, see :func:`register_solver`. No module of a solver
imports its package."""


def register_solver(spec: SolverSpec, *, replace: bool = False) -> SolverSpec:
    """Add a solver of your own to the registry: every verb and function takes it by its name from then on.

    Parameters
    ----------
    spec : SolverSpec
        Its entry, as at the end of the modules of this package; ``connect`` makes its interface.
    replace : bool, default False
        Take the place of a solver of your own that has the name already, as in a notebook.

    Returns
    -------
    SolverSpec
        The entry.

    Raises
    ------
    ParameterError : the name is taken, or a class is unknown.
    """
    return SOLVERS.register(spec, replace=replace)


def solver_spec(name: str) -> SolverSpec:
    """Return a solver's entry, also of one that Pyomo calls (``pyomo:NAME``); raises UnknownNameError."""
    if name.startswith(PREFIX) and name not in SOLVERS:
        return spec_of(name.removeprefix(PREFIX))
    return SOLVERS[name]


def preference(problem_class: str) -> tuple[SolverSpec, ...]:
    """Return the solvers of a class, installed or not, in the order in which they are taken where none is named."""
    ranked = [(rank, spec) for spec in SOLVERS.values() if (rank := spec.ranks.get(problem_class)) is not None]
    return tuple(spec for _, spec in sorted(ranked, key=lambda pair: pair[0]))


def choose(name: str | None, problem_class: str, model: str, *, convex: bool = False) -> SolverSpec:
    """Return the solver to call for a class, by its name or the preferred one: for a convex NLP no global search.

    Raises UnknownNameError for no such solver, SolverError for one that is not installed or does not solve the class.
    """
    if name is None:
        ranked = [spec for spec in preference(problem_class) if not convex or spec.proves == "local"]
        installed = next((spec for spec in ranked if spec.available), None)
        if installed is None:
            said = f"no installed solver takes '{model}', a {'convex ' * convex}{problem_class}"
            raise SolverError(said, alternatives(problem_class))
        return installed
    spec = solver_spec(name)
    if problem_class not in spec.classes:
        can = ", ".join(sorted(spec.classes))
        if problem_class in spec.declined:
            can += f"; {spec.declined[problem_class]}"
        said = f"solver '{name}' does not solve '{model}', a {problem_class} (it solves {can})"
        raise SolverError(said, alternatives(problem_class))
    if not spec.available:
        raise SolverError(f"solver '{name}' is not installed", f"{spec.pip}; {alternatives(problem_class)}")
    return spec


def alternatives(problem_class: str, *, duals: bool = False) -> str:
    """Return the installed solvers of a class, or those with multipliers, and the pip lines of others, as a phrase."""
    able = [s for s in SOLVERS.values() if problem_class in s.classes and (s.duals or not duals)]
    installed = [s.name for s in able if s.available]
    missing = [f"{s.name} ({s.pip})" for s in able if not s.available]
    phrases = [f"installed for {problem_class}: {', '.join(installed)}"] * bool(installed)
    phrases += [f"not installed: {', '.join(missing)}"] * bool(missing)
    return "; ".join(phrases) or f"no registered solver takes a {problem_class}; 'fsopt solvers' lists the classes"


def no_multipliers(solver: str, problem_class: str) -> SolverError:
    """Return the error for the answer of a solver without multipliers (dual variables) where a class needs them."""
    return SolverError(
        f"solver '{solver}' gives no multipliers (dual variables), which are needed here",
        f"take one that gives them: {alternatives(problem_class, duals=True)}",
    )
