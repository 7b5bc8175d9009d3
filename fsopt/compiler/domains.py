r"""Domains of variables that are no interval and not the whole numbers of one, stated by binaries.

A domain is a union of parts: single values, intervals :math:`[l, u]` (the interval and 0 of a semicontinuous variable),
and progressions :math:`s + d\,\mathbb{Z}_{\ge 0}` with an end. With a binary :math:`b_k` for each part,

.. math::

    x = \sum_k (s_k b_k + d_k t_k) + \sum_k y_k, \quad \sum_k b_k = 1, \quad
    0 \le t_k \le n_k b_k,\ t_k \in \mathbb{Z}, \quad l_k b_k \le y_k \le u_k b_k,

which is the convex hull of the parts where the binaries are relaxed. A domain that is one progression has no binary.
Every number is one of the domain, so that exact arithmetic speaks of the domain as it was stated.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import pyomo.environ as pyo
from pyomo.common.modeling import unique_component_name
from pyomo.core.base.range import NumericRange
from pyomo.core.expr.visitor import identify_variables

from fsopt.errors import ParameterError, said
from fsopt.typing import Mask, Vector

BLOCK = "domains"
"""The block of the binaries, other variables and constraints that state domains; names in files begin with it."""
RUN = 3
"""Values with equal distances from which on they are a progression, not values of their own."""


ROUNDED = 1e-9
"""What a number of steps may lack of a whole one: an end is rounded where its start is no whole number."""
_STATEMENTS: WeakKeyDictionary[Any, Statement] = WeakKeyDictionary()
"""Model -> the statement of its domains: every compilation has the same variables."""


class Progression(NamedTuple):
    """The values ``start, start + step, ...`` up to ``end``; with the step 0 an interval, or a value where it ends."""

    start: float
    end: float
    step: float

    @property
    def whole(self) -> bool:
        """Whether all values are whole numbers."""
        return self.start % 1 == 0 and self.step % 1 == 0 and (self.step != 0 or self.start == self.end)


class Domain(NamedTuple):
    """Whether the values of a domain are whole numbers, and its parts; none for an interval or its whole numbers."""

    whole: bool
    parts: tuple[Progression, ...]


def read_domains(variables: Sequence[pyo.Var]) -> tuple[Mask, dict[int, tuple[Progression, ...]]]:
    """Return a mask (n,) of the integer variables, and the parts of the domains with holes by place of the variable.

    A fixed variable is a constant, whatever its domain.

    Raises
    ------
    ParameterError : a domain is empty, has values that are not finite numbers, a hole of one point, or infinitely many
        values beside others where the variable has no bounds.
    """
    known: dict[int, Domain] = {}
    integer = np.zeros(len(variables), dtype=bool)
    found = {}
    for j, v in enumerate(variables):
        if not v.fixed:
            if id(v.domain) not in known:
                known[id(v.domain)] = _domain(v)
            integer[j], parts = known[id(v.domain)]
            if parts:
                found[j] = _bounded(v, parts)
    return integer, found


def _domain(variable: pyo.Var) -> Domain:
    ranges = list(variable.domain.ranges())
    if not ranges:
        raise _refused(variable, "is empty", "give it values")
    if odd := [r for r in ranges if not (isinstance(r, NumericRange) and (math.isfinite(r.start) or r.start < r.end))]:
        raise _refused(
            variable, f"has '{odd[0]}', which is no finite number", "give it Reals, Integers, Binary or numbers"
        )
    *_, step = variable.domain.get_interval()
    if step == 0:
        return Domain(False, ())
    if step == 1 and all(r.start % 1 == 0 for r in ranges):
        return Domain(True, ())
    _refuse_open(variable, ranges)
    points = sorted({float(r.start) for r in ranges if r.start == r.end})
    parts = [Progression(float(r.start), float(r.end), float(r.step)) for r in ranges if r.start != r.end]
    parts += _runs(points)
    return Domain(all(part.whole for part in parts), tuple(sorted(parts)))


def _runs(points: Sequence[float]) -> Iterator[Progression]:
    """Yield values in increasing order, three and more whole ones of equal distances as one progression."""
    k = 0
    while k < len(points):
        end = k + 1
        while end < len(points) and points[end] - points[end - 1] == points[k + 1] - points[k]:
            end += 1
        if end - k >= RUN and all(value % 1 == 0 for value in points[k:end]):
            yield Progression(points[k], points[end - 1], points[k + 1] - points[k])
            k = end
        else:
            yield Progression(points[k], points[k], 0.0)
            k += 1


def _refuse_open(variable: pyo.Var, ranges: Sequence[NumericRange]) -> None:
    """Raise ParameterError for an open end beside a hole; at the ends of all, it counts as closed, as in solvers."""
    low, high = min(min(r.start, r.end) for r in ranges), max(max(r.start, r.end) for r in ranges)
    for r in ranges:
        for end, closed in zip((r.start, r.end), r.closed, strict=True):
            if not closed and low < end < high and not any(end in other for other in ranges):
                raise _refused(
                    variable,
                    f"ends before {end}, which it does not contain",
                    "close the interval by a bound that it has",
                )


def _bounded(variable: pyo.Var, parts: tuple[Progression, ...]) -> tuple[Progression, ...]:
    """Return the parts, infinite ones up to the bounds of the variable where there are several."""
    if len(parts) == 1:
        return parts
    (low,), (high,) = (bounds.tolist() for bounds in read_bounds([variable]))
    found = []
    for start, end, step in parts:
        first = low if start == -math.inf else start
        last = end if math.isfinite(end) else high if end > 0 else low
        if not (math.isfinite(first) and math.isfinite(last)):
            raise _refused(variable, "has holes and no end", "give it bounds, as its holes are stated by binaries")
        found.append(Progression(first, last, step))
    return tuple(found)


def _refused(variable: pyo.Var, why: str, hint: str) -> ParameterError:
    return ParameterError(f"the domain of the variable '{variable.name}' {why}", hint)


@dataclass(frozen=True)
class Statement:
    """The block that states the domains of some variables.

    Attributes
    ----------
    parts : of each variable with holes in its domain.
    home, block : a Pyomo model, and its block with the binaries, other variables and constraints.
    """

    variables: tuple[pyo.Var, ...]
    parts: tuple[tuple[Progression, ...], ...]
    home: pyo.ConcreteModel
    block: Any

    @property
    def added(self) -> list[pyo.Var]:
        """The variables of the block."""
        return list(self.block.component_data_objects(pyo.Var))

    @property
    def constraints(self) -> list[pyo.Constraint]:
        """The constraints of the block."""
        return list(self.block.component_data_objects(pyo.Constraint))

    def states(self, variables: Sequence[pyo.Var], parts: Sequence[tuple[Progression, ...]]) -> bool:
        """Return whether these are its variables and their parts."""
        same = self.parts == tuple(parts) and len(self.variables) == len(variables)
        return same and all(a is b for a, b in zip(self.variables, variables, strict=True))

    def settle(self) -> None:
        """Give the variables of the block the values that belong to the present ones of the variables it states."""
        for label, variable, parts in zip(_labels(self.variables), self.variables, self.parts, strict=True):
            if variable.value is None or not math.isfinite(variable.value):
                continue
            nearest = [_nearest(part, variable.value) for part in parts]
            distances = [abs(value - variable.value) for value in nearest]
            chosen = distances.index(min(distances))
            for k, part in enumerate(parts):
                key, value = (label, k), nearest[k] if k == chosen else 0.0
                if len(parts) > 1:
                    self.block.takes[key].value = int(k == chosen)
                if part.step:
                    self.block.steps[key].value = round((value - part.start) / part.step) if k == chosen else 0
                elif part.start < part.end:
                    self.block.within[key].value = value


def _labels(variables: Sequence[pyo.Var]) -> list[str]:
    """Return the names of variables; numbered ones where two have the same, as those of the indices 1 and "1"."""
    names = [str(v.name) for v in variables]
    return names if len({*names}) == len(names) else [f"{name} {k}" for k, name in enumerate(names)]


def _nearest(part: Progression, value: float) -> float:
    """Return the value of a part that is closest to another one."""
    if not part.step:
        return min(max(value, part.start), part.end)
    return part.start + part.step * min(max(round((value - part.start) / part.step), 0), _steps(part))


def _steps(part: Progression) -> float:
    """Return the number of steps of a progression to its end, negative where the end is before its start."""
    steps = (part.end - part.start) / part.step
    return float(math.floor(steps + ROUNDED)) if math.isfinite(steps) else steps


def stated_domains(
    model: pyo.ConcreteModel, variables: Sequence[pyo.Var], parts: Mapping[int, tuple[Progression, ...]]
) -> Statement | None:
    """Return the statement of the domains of a model that have holes, the same object until one of them changes.

    Parameters
    ----------
    variables, parts : as of :func:`read_domains`.
    """
    if not parts:
        return None
    stated, listed = tuple(variables[j] for j in parts), tuple(parts.values())
    found = _STATEMENTS.get(model)
    if found is None or not found.states(stated, listed):
        home, block = pyo.ConcreteModel(), pyo.Block(concrete=True)
        home.add_component(unique_component_name(model, BLOCK), block)
        _state(block, stated, listed)
        found = _STATEMENTS[model] = Statement(stated, listed, home, block)
    return found


def with_explicit_domains(model: pyo.ConcreteModel) -> pyo.ConcreteModel:
    """Return a copy of a model in which intervals and integers are the only domains; the model itself if it is so."""
    if not read_domains(_own(model))[1]:
        return model
    copy = model.clone()
    integer, parts = read_domains(variables := _own(copy))
    stated = [variables[j] for j in parts]
    block = pyo.Block(concrete=True)
    copy.add_component(unique_component_name(copy, BLOCK), block)
    _state(block, stated, tuple(parts.values()))
    for j in parts:
        low, high = variables[j].bounds
        variables[j].domain = pyo.Integers if integer[j] else pyo.Reals
        variables[j].bounds = low, high
    return copy


def _own(model: pyo.ConcreteModel) -> list[pyo.Var]:
    return list(model.component_data_objects(pyo.Var, descend_into=True))


def _state(block: Any, variables: Sequence[pyo.Var], parts: Sequence[tuple[Progression, ...]]) -> None:
    """Add the variables and constraints of the parts of the domains of some variables to a block."""
    own = dict(zip(_labels(variables), variables, strict=True))
    listed = dict(zip(own, parts, strict=True))
    part = {(label, k): one for label, several in listed.items() for k, one in enumerate(several)}
    united = {label: len(several) for label, several in listed.items() if len(several) > 1}
    runs = [key for key, one in part.items() if one.step]
    intervals = [key for key, one in part.items() if not one.step and one.start < one.end]
    block.takes = pyo.Var([key for key in part if key[0] in united], domain=pyo.Binary)
    block.steps = pyo.Var(runs, domain=pyo.Integers, bounds=lambda b, *key: _of_steps(part[key]))
    block.within = pyo.Var(intervals, bounds=lambda b, *key: (min(0.0, part[key].start), max(0.0, part[key].end)))
    # x = sum of s_k b_k + d_k t_k, or of y_k, over its parts.
    body: dict[str, Any] = dict.fromkeys(own, 0.0)
    for key, one in part.items():
        chosen = block.takes[key] if key[0] in united else 1.0
        term = block.within[key] if key in block.within else one.start * chosen
        body[key[0]] += term + one.step * block.steps[key] if one.step else term
    block.one = pyo.Constraint(
        [*united], rule=lambda b, label: sum(b.takes[label, k] for k in range(united[label])) == 1
    )
    block.value = pyo.Constraint([*own], rule=lambda b, label: own[label] == body[label])
    ends = [key for key in runs if key[0] in united]
    block.last = pyo.Constraint(ends, rule=lambda b, *key: b.steps[key] <= _steps(part[key]) * b.takes[key])
    block.low = pyo.Constraint(intervals, rule=lambda b, *key: b.within[key] >= part[key].start * b.takes[key])
    block.high = pyo.Constraint(intervals, rule=lambda b, *key: b.within[key] <= part[key].end * b.takes[key])


def _of_steps(part: Progression) -> tuple[float, float | None]:
    """Return the bounds of the number of steps of a progression."""
    steps = _steps(part)
    return 0.0, max(steps, 0.0) if math.isfinite(steps) else None


def variables_of(model: pyo.ConcreteModel, objective: pyo.Objective | None) -> list[pyo.Var]:
    """Return the variables of a model; those of a block, then those around it that are in its expressions."""
    own = list(model.component_data_objects(pyo.Var, descend_into=True))
    if model.parent_block() is None:
        return own
    bodies = [data.body for data in model.component_data_objects(pyo.Constraint, active=True, descend_into=True)]
    bodies += [] if objective is None else [objective.expr]
    used = (variable for body in bodies for variable in identify_variables(body))
    sets = model.component_data_objects(pyo.SOSConstraint, active=True, descend_into=True)
    members = (variable for data in sets for variable in data.get_variables())
    return list({id(variable): variable for variable in (*own, *used, *members)}.values())


def read_bounds(variables: Sequence[pyo.Var]) -> tuple[Vector, Vector]:
    """Return the lower and upper bounds (n,) of variables; both bounds of a fixed variable are its value.

    Raises
    ------
    ParameterError : a bound cannot be read, or a fixed variable has no finite value.
    """
    bounds = []
    for v in variables:
        try:
            bounds.append((_fixed_value(v),) * 2 if v.fixed else v.bounds)
        except (ValueError, TypeError) as error:  # of Pyomo, for bounds that are no numbers
            fault = f"'{v.name}' has no bounds that can be read (Pyomo: {said(error)})"
            raise ParameterError(fault, "correct them") from error
    lb = np.array([-np.inf if b[0] is None else b[0] for b in bounds], dtype=float)
    ub = np.array([np.inf if b[1] is None else b[1] for b in bounds], dtype=float)
    return lb, ub


def _fixed_value(variable: pyo.Var) -> float:
    if variable.value is None or not math.isfinite(variable.value):
        raise ParameterError(
            f"the variable '{variable.name}' is fixed at {variable.value}, which is no number",
            "fix it at a finite number, or unfix it",
        )
    return float(variable.value)


def fixed_values(variables: Sequence[pyo.Var]) -> dict[int, float]:
    """Return id -> value of the fixed variables."""
    return {id(v): float(v.value) for v in variables if v.fixed and v.value is not None}
