"""Linear programs of large data by column and constraint generation: when, and how a saved answer is verified."""

from __future__ import annotations

from fsopt.arguments import word
from fsopt.certificates.certificate import Certificate
from fsopt.data import Dataset
from fsopt.drivers.column_generation.l1_hinge_program import certify_l1_hinge
from fsopt.drivers.run import Run
from fsopt.methods.spec import SavedFit
from fsopt.methods.verification import saved_vector
from fsopt.solvers.registry import SOLVERS
from fsopt.typing import Vector

LONG = 3_000
"""Number of samples or features from which restricted programs are 3 times as fast, see benchmarks/scale.py."""
LARGE = 150_000
"""Number of entries of the data from which they are, where LONG is reached too."""


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
    if generate != "auto":
        return bool(generate)
    large = max(data.X.shape if features else (data.n,)) >= LONG and data.X.size >= LARGE
    return large and (run.solver is None or (run.solver in SOLVERS and SOLVERS[run.solver].duals))


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
    alpha = saved_vector(saved, "alpha", saved.data.n)
    return certify_l1_hinge(saved.data, sample_costs, feature_costs, saved.w, saved.b, alpha, residuals=saved.residuals)
