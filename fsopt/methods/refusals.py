"""What a method refuses, with the methods that take it instead."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from concurrent.futures import Executor
from typing import Any, TypeAlias

from fsopt.common.memory import NUMBER, require
from fsopt.data import Dataset
from fsopt.data.matrices import refuse_sparse
from fsopt.errors import ParameterError
from fsopt.methods.spec import MethodSpec
from fsopt.models.spec import check_weights

Methods: TypeAlias = Collection[MethodSpec]


def refuse_parameters(entry: MethodSpec, given: Mapping[str, Any], methods: Methods) -> None:
    """Raise ParameterError for a parameter that another method of the paper has, and this one has not."""
    for parameter in [k for k in given if k not in entry.parameters]:
        others = [s.name for s in methods if s.paper == entry.paper and parameter in s.parameters]
        if entry.paper is not None and others:
            raise ParameterError(
                f"method '{entry.name}' has no parameter '{parameter}'", f"methods that have: {', '.join(others)}"
            )


def refuse_data(entry: MethodSpec, data: Dataset, methods: Methods) -> None:
    """Raise for weights, sparse data, or a size that a method does not take: DataError, MemoryLimitError."""
    name = entry.name
    check_weights("method", name, entry.weights, data)
    if not entry.sparse:
        able = ", ".join(spec.name for spec in methods if spec.sparse)
        refuse_sparse(f"method '{name}'", data.X, f"methods that take sparse data: {able}; or ")
    # The preprocessed samples, and a copy of them in the arrays of a solver or a loop.
    stored = data.X.nnz if data.sparse else data.X.size  # type: ignore[attr-defined]
    require(2 * NUMBER * stored, f"the arrays of method '{name}' for {data.n} samples and {data.p} features")


def refuse_executor(executor: Executor | None, params: Mapping[str, Any], methods: Methods) -> None:
    """Raise ParameterError for an executor without subtrees to run."""
    if executor is not None and (params.get("jobs") or 1) == 1:
        able = ", ".join(spec.name for spec in methods if "jobs" in spec.parameters)
        raise ParameterError(
            "an executor runs subtrees, and this fit has no more than one at a time",
            f"give jobs=, the number of them, to one of {able}",
        )


def refuse_solver(entry: MethodSpec, solver: str | None, options: Mapping[str, Any] | None, methods: Methods) -> None:
    """Raise ParameterError for a solver, or its options, of a method that calls none."""
    if not entry.solver and (solver is not None or options):
        able = ", ".join(s.name for s in methods if s.solver and s.paper == entry.paper)
        given = "options" if solver is None else f"solver={solver!r}"
        raise ParameterError(
            f"method '{entry.name}' calls no solver, and is given {given}", f"leave it out, or take {able}"
        )
