"""Units of the data: samples times 1e6, 1e-6 or in mixed units give the answers of samples of size one."""

from __future__ import annotations

import numpy as np
import pytest
from support import blobs

import fsopt
from fsopt.errors import SolverError
from fsopt.solvers.registry import SOLVERS, preference

UNITS = {"times-1e6": np.full(3, 1e6), "times-1e-6": np.full(3, 1e-6), "mixed": 10.0 ** np.linspace(-4, 4, 3)}
INVARIANT = ("rlp", "mpm", "misclass-milp")
"""Models without a cost of the weights: the optimum is the same in all units of the features."""
PENALISED = ("onsvm", "fsv-step")
"""Models with a cost of the weights: their parameters are scaled along."""
CASES = [
    (slug, spec.name, units)
    for slug in (*INVARIANT, *PENALISED)
    for spec in preference(fsopt.MODELS[slug].problem_class)
    for units in UNITS
    if spec.available and (slug in INVARIANT or units != "mixed")
]


def scaled_along(slug: str, unit: float) -> tuple[dict[str, float], float]:
    """Return parameters, and the factor of the optimum, for samples times a unit."""
    if slug == "onsvm":  # min |w| + C loss: both terms are divided by the unit
        return {"c": 1.0 / unit}, 1.0 / unit
    if slug == "fsv-step":  # min (1 - lam) loss + lam alpha v with v >= |w|
        return {"alpha": 5.0 * unit}, 1.0
    return {}, 1.0


@pytest.mark.slow
@pytest.mark.parametrize(("slug", "solver", "units"), CASES)
def test_the_optimum_does_not_depend_on_the_units_of_the_features(slug: str, solver: str, units: str) -> None:
    data, unit = blobs(16, 3, seed=3), UNITS[units]
    params, factor = scaled_along(slug, float(unit[0]))
    truth = factor * fsopt.solve(fsopt.build(slug, data)).objective
    try:
        result = fsopt.solve(fsopt.build(slug, fsopt.Dataset(data.X * unit, data.y), **params), solver, time_limit=10)
    except SolverError as error:
        if "licence" not in str(error):
            raise
        return  # the licence refuses the size: nothing is claimed
    assert result.status not in ("infeasible", "unbounded")
    if result.status == "optimal":
        # Gaps are certified relative to max(1, |optimum|); the simplex method is exact below that as well.
        unit_of_gap = min(1.0, factor) if SOLVERS[solver].vertex else 1.0
        assert result.objective == pytest.approx(truth, rel=1e-6, abs=1e-6 * unit_of_gap)
    else:
        coarse = solver == "pyomo:glpk" and slug == "misclass-milp"  # its integer tolerance times the big-M is 0.1
        assert coarse or not SOLVERS[solver].vertex, "linear programs in any units are solved by the simplex method"
