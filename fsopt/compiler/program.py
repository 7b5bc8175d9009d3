r"""A Pyomo model as arrays: the one form for solvers, problem classes and certificates.

.. math::

    \min_x \ \tfrac12 x'Px + c'x + c_0 \quad \text{s.t.}\quad
    \ell \le Ax \le u,\quad \underline{x} \le x \le \overline{x},\quad
    G_k x + h_k \in K_k,\quad x_j \in \mathbb{Z}\ (j \in \mathcal{I}).

A maximisation is stored as the minimisation of its negative. The cones K_k are second-order, recognised from quadratic
constraints, and semidefinite; ``Program.nonconic`` lists every other constraint with the reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyomo.environ as pyo
import scipy.sparse as sp
from pyomo.common.gc_manager import PauseGC
from pyomo.core.base.block import BlockData
from pyomo.core.base.constraint import ConstraintData
from pyomo.core.base.indexed_component import IndexedComponent
from pyomo.core.expr.numeric_expr import NumericExpression
from pyomo.core.expr.visitor import identify_variables

from fsopt.common import clock
from fsopt.common.arguments import Argument
from fsopt.common.registry import apply_changes
from fsopt.compiler.cones import ConeStack, matrix_cones, stacked
from fsopt.compiler.expressions import (
    ConstraintRow,
    Terms,
    build_rows,
    hessian,
    linear_part,
    read,
    read_row,
    with_constants,
)
from fsopt.compiler.recognition import lacking, recognise
from fsopt.compiler.scaling import Scaling, equilibrate
from fsopt.compiler.values import (
    integers,
    read_bounds,
    reading,
    refuse_infinite,
    unsupported_functions,
    unsupported_kinds,
    variables_of,
)
from fsopt.errors import ParameterError
from fsopt.typing import Mask, Vector

MODEL = Argument(
    "a Pyomo model",
    lambda value: isinstance(value, BlockData) and value.parent_component().is_constructed(),
    "give a ConcreteModel of pyomo.environ (not of pyomo.kernel), for example of fsopt.build",
)

READ = (pyo.Var, pyo.Constraint, pyo.Objective, pyo.Param)
COMPONENT = Argument(
    "a variable, constraint, objective or mutable parameter of the model",
    lambda value: isinstance(value, IndexedComponent) and value.ctype in READ,
    "give a component, such as model.margin",
)
ROW = Argument(
    "a single constraint", lambda value: isinstance(value, ConstraintData), "give one, such as model.margin[0]"
)


@dataclass
class Program:
    """The arrays of a model, and the way back from them to its components.

    Attributes
    ----------
    model, variables, constraints : the Pyomo model, its variables (columns) and linear constraints (rows).
    column, row_of : id of a variable -> its column, id of a linear constraint -> its row.
    objective, sign : the active objective component, None if the model has none; -1 for a maximisation, else +1.
    P, c, c0 : of the minimisation; P is symmetric (n, n).
    A, lo, hi, lb, ub, integer : linear constraints (m, n) with sorted indices, explicit zeros kept; bounds; a mask.
    cones : the second-order and semidefinite cones.
    nonconic : (name, reason) of each constraint that is neither linear nor a cone, and of the objective if it has
        terms that are neither linear nor quadratic.
    general : these constraints, as read. ``objective_terms`` : these terms (scale, node) of the objective, in the
        model's own sense.
    unsupported : kind of components, or function in them, without a place in the arrays -> name of the first one.
    constants : id -> value of the fixed variables whose products are linear terms; empty where they stay products.
    judged : the P of the last test of convexity, and what it lacks, which copies of the program with the same P share.
    measured : the A and x of the last product Ax, and the product; an A is replaced, and its entries never changed.
    """

    model: pyo.ConcreteModel
    variables: list[pyo.Var]
    column: dict[int, int]
    constraints: list[pyo.Constraint]
    objective: pyo.Objective | None
    sign: float
    P: sp.csc_matrix
    c: Vector
    c0: float
    A: sp.csr_matrix
    lo: Vector
    hi: Vector
    lb: Vector
    ub: Vector
    integer: Mask
    cones: ConeStack
    nonconic: list[tuple[str, str]]
    general: list[ConstraintRow] = field(default_factory=list)
    objective_terms: list[tuple[float, NumericExpression]] = field(default_factory=list)
    row_of: dict[int, int] = field(default_factory=dict)
    unsupported: dict[str, str] = field(default_factory=dict)
    constants: dict[int, float] = field(default_factory=dict)
    judged: tuple[sp.csc_matrix, Vector | None] | None = field(default=None, repr=False)
    measured: tuple[sp.csr_matrix, Vector, Any] | None = field(default=None, repr=False)

    @property
    def lacking(self) -> Vector | None:
        """What the diagonal of P lacks to be positive semidefinite: an eigenvalue problem, solved once for each P."""
        if self.judged is None or self.judged[0] is not self.P:
            self.judged = self.P, lacking(self.P)
        return self.judged[1]

    @property
    def convex_objective(self) -> bool:
        """Whether P is positive semidefinite, up to rounding."""
        return self.lacking is not None

    @property
    def discrete(self) -> bool:
        """Whether there are integers."""
        return bool(self.integer.any())

    @property
    def convex(self) -> bool:
        """Whether the program without its integrality is convex."""
        return not self.nonconic and self.convex_objective

    @cached_property
    def scaling(self) -> Scaling:
        """The units of the program at the first use; later updates of its numbers keep them."""
        nodes = [node for _, node in (*self.objective_terms, *(t for row in self.general for t in row.terms.nonlinear))]
        columns = [self.column[id(v)] for node in nodes for v in identify_variables(node, include_fixed=False)]
        low, high = self.lb.copy(), self.ub.copy()
        linear = [j for row in self.general for j in row.terms.affine(self.column)]
        low[linear], high[linear] = -np.inf, np.inf  # what a row says that is not in A is not known, a loose bound is
        low[columns] = high[columns] = 1.0  # exp(-5 x) has its bend near 1, in any units of A
        return equilibrate(self.A, (self.lo, self.hi), (low, high), self.cones, self.P.diagonal(), self.c, self.integer)

    @property
    def n(self) -> int:
        """Number of variables."""
        return len(self.c)

    @property
    def objective_name(self) -> str:
        """Name of the objective, empty if the model has none."""
        return "" if self.objective is None else str(self.objective.name)

    @property
    def unit(self) -> float:
        """What a gap is divided by where the value is smaller: 1, or the objective's number in the suffix ``unit``."""
        declared = self.model.component("unit")
        stated = declared.get(self.objective) if isinstance(declared, pyo.Suffix) else None
        return 1.0 if stated is None else abs(float(stated))

    def append(self, rows: Sequence[ConstraintRow]) -> None:
        """Append linear constraints."""
        added = build_rows(rows, self.column)
        self.A = sp.vstack([self.A, added.A], format="csr")
        self.lo, self.hi = np.concatenate([self.lo, added.lo]), np.concatenate([self.hi, added.hi])
        for row in rows:
            self.row_of[id(row.constraint)] = len(self.constraints)
            self.constraints.append(row.constraint)
        self.__dict__.pop("scaling", None)

    def objective_at(self, x: Vector) -> float:
        """Return the linear and quadratic terms of the objective at x (n,), in the model's own sense."""
        return float(self.sign * (0.5 * x @ (self.P @ x) + self.c @ x + self.c0))

    def values(self) -> Vector:
        """Return the present values (n,) of the model's variables; a variable without value counts as 0."""
        return np.array([0.0 if v.value is None else float(v.value) for v in self.variables])


def compile_model(model: pyo.ConcreteModel, constants: Mapping[int, float] | None = None) -> Program:
    """Return the arrays of a Pyomo model.

    A fixed variable is a constant, as in Pyomo: it keeps its column, where both bounds are its value, and it is not
    integer. Where the program would not be convex, its products with other variables are linear terms. A block
    may have variables of the model around it. Constraints without a convex form are accepted, see ``Program.nonconic``
    and ``Program.unsupported``.

    Parameters
    ----------
    constants : id of a variable -> its value, for variables that count as fixed.

    Raises
    ------
    ParameterError : the model has several active objectives, a variable has a domain that is neither an interval nor
        the whole numbers of one, or a user's change of the model failed.
    OutOfTimeError : a time limit passed, and there is no point yet.
    """
    apply_changes(model)
    with PauseGC():  # until the terms, lists for each constraint, are gone
        program = _read_model(model, constants or {}, constants or {})
        fixed = {id(v): float(v.value) for v in program.variables if v.fixed}
        if not fixed or program.convex:
            return program
        return replace(_read_model(model, constants or {}, fixed | dict(constants or {})), constants=fixed)


def _read_model(model: pyo.ConcreteModel, bounded: Mapping[int, float], known: Mapping[int, float]) -> Program:
    """Return the arrays of a model in which some values bound their variables, and some are constants in products."""
    objective = _objective(model)
    variables = variables_of(model, objective)
    integer = integers(variables)
    column = {id(v): j for j, v in enumerate(variables)}
    terms = _terms(objective, column, known)
    data = model.component_data_objects(pyo.Constraint, active=True, descend_into=True)
    rows = read_constraints(data, column, known)
    listed = [row for row in rows if row.terms.linear]
    general = [row for row in rows if row.terms.nonlinear]
    quadratic = [row for row in rows if row.terms.quadratic and not row.terms.nonlinear]
    lb, ub = read_bounds(variables)
    places = [column[key] for key in bounded]
    lb[places] = ub[places] = list(bounded.values())
    integer[places] = False
    linear = build_rows(listed, column)
    curved = [(objective, terms), *((row.constraint, row.terms) for row in quadratic + general)]
    plain = [] if np.isfinite(linear.A.data).all() else [(row.constraint, row.terms) for row in listed]
    refuse_infinite(rows, plain + curved)
    cones, refused = recognise(quadratic, column, lb, ub)
    others = [(found.nonlinear, component.name) for component, found in curved if found.nonlinear]
    reasons = [(name, f"the term {str(nodes[0][1])[:60]} is not quadratic") for nodes, name in others]
    reasons += [(row.constraint.name, reason) for row, reason in refused]
    return Program(
        model=model,
        variables=variables,
        column=column,
        constraints=[row.constraint for row in listed],
        **_of_objective(objective, terms, column),
        A=linear.A,
        lo=linear.lo,
        hi=linear.hi,
        lb=lb,
        ub=ub,
        integer=integer,
        cones=stacked(cones + matrix_cones(model, column), len(variables)),
        nonconic=reasons,
        general=general + [row for row, _ in refused],
        row_of={id(row.constraint): i for i, row in enumerate(listed)},
        unsupported=unsupported_kinds(model) | unsupported_functions(curved, column),
    )


def _objective(model: pyo.ConcreteModel) -> pyo.Objective | None:
    objectives = list(model.component_data_objects(pyo.Objective, active=True, descend_into=True))
    if len(objectives) > 1:
        names = ", ".join(o.name for o in objectives)
        raise ParameterError(f"the model has {len(objectives)} active objectives ({names})", "deactivate all but one")
    return objectives[0] if objectives else None


def with_objective(program: Program) -> Program:
    """Return a program with the objective that its model has now."""
    objective = _objective(program.model)
    terms = _terms(objective, program.column, program.constants)
    refuse_infinite([], [(objective, terms)])
    return replace(program, **_of_objective(objective, terms, program.column))


def _terms(objective: Any, column: dict[int, int], constants: Mapping[int, float]) -> Terms:
    """Return the terms of an objective, none of None."""
    if objective is None:
        return Terms()
    with reading(objective, column):
        return with_constants(read(objective.expr, column), constants, column)


def _of_objective(objective: Any, terms: Terms, column: dict[int, int]) -> dict[str, Any]:
    """Return the fields of a program that are those of its objective."""
    sign = -1.0 if objective is not None and objective.sense == pyo.maximize else 1.0
    P, c = sign * hessian(terms, len(column)), sign * linear_part(terms, column)
    names = ("objective", "sign", "P", "c", "c0", "objective_terms")
    return dict(zip(names, (objective, sign, P, c, sign * terms.constant, terms.nonlinear), strict=True))


def read_constraints(
    listed: Iterable[Any], column: dict[int, int], constants: Mapping[int, float] | None = None
) -> list[ConstraintRow]:
    """Read constraints, in which some variables are constants in products."""
    found = []
    for data in listed:
        clock.look()
        with reading(data, column):
            row = read_row(data, column)
            found.append(replace(row, terms=with_constants(row.terms, constants, column)) if constants else row)
    return found
