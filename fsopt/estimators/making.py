"""The class of a method in :mod:`fsopt.estimators`, made from its entry in the registry."""

from __future__ import annotations

import inspect
import re
from functools import cache
from typing import Any, cast

from fsopt.common.arguments import bound, section
from fsopt.estimators.base import SelectingClassifier, WeightedClassifier
from fsopt.methods.registry import METHODS
from fsopt.methods.spec import MethodSpec


def names() -> list[str]:
    """Return the names of the classes of all methods, those of other packages too."""
    return sorted(spec.estimator for spec in METHODS.values())


def estimator(name: str) -> type[SelectingClassifier]:
    """Return a class by its name; raises AttributeError."""
    for spec in METHODS.values():
        if spec.estimator == name:
            return made(spec)
    raise AttributeError(
        f"module 'fsopt.estimators' has no attribute '{name}': no registered method has this estimator"
    )


@cache
def made(spec: MethodSpec) -> type[SelectingClassifier]:
    """Return the class of a method: the keywords of its fit, and those that all methods share."""
    signature = signature_of(spec)

    def __init__(self: SelectingClassifier, **keywords: Any) -> None:
        given = bound(spec.estimator, signature, (self,), keywords)
        given.apply_defaults()
        for name, value in given.arguments.items():
            if name != "self":
                setattr(self, name, value)

    __init__.__signature__ = signature  # type: ignore[attr-defined]
    base = WeightedClassifier if spec.weights == "samples" else SelectingClassifier
    content = {"__init__": __init__, "__doc__": described(spec), "__module__": "fsopt.estimators", "method": spec.name}
    return cast("type[SelectingClassifier]", type(spec.estimator, (base,), content))


def signature_of(spec: MethodSpec) -> inspect.Signature:
    """Return the signature of the constructor of a method's class."""
    first, *shared = inspect.signature(SelectingClassifier.__init__).parameters.values()
    own = [p for p in inspect.signature(spec.fit).parameters.values() if p.kind is p.KEYWORD_ONLY]
    return inspect.Signature([first, *own, *(p for p in shared if p.name not in without(spec))])


def without(spec: MethodSpec) -> set[str]:
    """Return the shared keywords that a method does not have."""
    has = {"class_weight": bool(spec.weights), "solver": spec.solver}
    return {name for name, present in has.items() if not present}


def described(spec: MethodSpec) -> str:
    """Return the docstring of a method's class: the parameters of its fit, and what stands in that of all classes."""
    shared = inspect.getdoc(SelectingClassifier) or ""
    common, rest = section(shared, "Parameters"), shared[shared.index("\nAttributes\n") :]
    for name in without(spec):
        common = re.sub(rf"{name} : .*(\n    .*)*\n", "", common)
    own = section(inspect.getdoc(spec.fit) or "", "Parameters")
    summary = spec.summary or f"method ``{spec.name}``"
    head = f"{summary[0].upper()}{summary[1:]}.\n\nMethod ``{spec.name}`` as an estimator of scikit-learn.\n\n"
    head += "Parameters\n----------\n"
    return head + "\n".join(text for text in (own, common) if text) + f"\n{rest}\n"
