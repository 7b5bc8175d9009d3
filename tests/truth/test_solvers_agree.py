"""Every model with every solver that claims its class, on data that solvers find hard.

No two optima differ, no optimum is contradicted by the model's own values, no claim of infeasibility or unboundedness
is false, and no bound excludes an attained value. The normal run takes a seeded sample of the instances, ``make truth``
(FSOPT_TRUTH=1) all of them, with 5 seconds for each call.
"""

import os

import pyomo.environ as pyo
import pytest
from truth.instances import Instance, all_instances, sample
from truth.oracle import claimants, contradictions, objective_of, solve

WHOLE = bool(os.environ.get("FSOPT_TRUTH"))
PER_MODEL = 1
SECONDS = 5.0 if WHOLE else 1.0
"""Time limit of a call of a solver."""


@pytest.mark.slow
@pytest.mark.parametrize("instance", list(all_instances()) if WHOLE else sample(PER_MODEL), ids=str)
def test_no_answer_is_contradicted(instance: Instance) -> None:
    if instance.data is None:
        pytest.skip("the papers' files are not here (set FSOPT_SHARED)")
    sign = 1.0 if objective_of(instance.build()).sense == pyo.minimize else -1.0
    answers = [solve(instance.build(), solver, SECONDS) for solver in claimants(instance.slug)]
    found = contradictions(instance.slug, [a for a in answers if a is not None], sign)
    assert not found, "\n".join([f"{instance}: {instance.params}", *found])
