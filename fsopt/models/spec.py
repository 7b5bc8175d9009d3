"""The entry of a registered model, and the check of the keywords that a builder or method is given."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from textwrap import indent
from typing import Any

import pyomo.environ as pyo

from fsopt.common.arguments import plain, section
from fsopt.data import Dataset
from fsopt.data.hyperplanes import weights_of_classes
from fsopt.data.layout import Layout
from fsopt.errors import ParameterError, shown, similar
from fsopt.models.display import entries
from fsopt.models.papers import PAPERS

WEIGHTS = ("", "classes", "samples")
"""The kinds of weights that models and methods take."""


@dataclass(frozen=True)
class Instance:
    """A small instance of a model, by the law of :func:`fsopt.models.draws.two_classes`.

    Attributes
    ----------
    n, p : numbers of samples and features.
    gap : half the distance between the means of the classes in the first two features.
    seed : of the generator.
    params : keywords of the builder that differ from its defaults.
    """

    n: int = 16
    p: int = 4
    gap: float = 0.5
    seed: int = 1
    params: Mapping[str, Any] = field(default_factory=dict)


TRIAL = Instance(n=24, p=5, gap=0.7, seed=7)
"""The default instance on which solvers are compared."""


@dataclass(frozen=True)
class ModelSpec:
    """The entry of a model, in ``SPEC`` or ``SPECS``, the last statement of its module.

    Attributes
    ----------
    slug : registry name; the builder, the instance folder and the anchor in the documentation bear it too.
    builder : function of a data set and keywords that returns the ConcreteModel.
    problem_class : of the instance, by :func:`fsopt.classify`.
    equation : its place in the paper, or its source.
    instance : of the instance library.
    trial : instance on which solvers are compared; small enough for branch and bound, not trivial at its parameters.
    weights : ``samples`` where the loss takes weights of samples, ``classes`` where it takes one weight for each class;
        empty where the model has no place for them.
    complete : function of the data, weights w (p,), the intercept b of the classifier sign(w'x + b), and the parameters
        of the builder, that returns component -> value of every variable at this hyperplane; it makes verdicts on fits
        of the model. None for a model whose variables no hyperplane determines.
    """

    slug: str
    builder: Callable[..., pyo.ConcreteModel]
    problem_class: str
    equation: str = ""
    instance: Instance = Instance()
    trial: Instance = TRIAL
    weights: str = ""
    complete: Callable[..., Mapping[str, Any]] | None = None

    def __post_init__(self) -> None:
        if getattr(self.builder, "__module__", "").startswith("fsopt."):
            state_types(self.builder)

    @property
    def paper(self) -> str | None:
        """Key in :data:`fsopt.models.papers.PAPERS`, the folder of its builder; None for a model of no paper."""
        folder = self.builder.__module__.removeprefix("fsopt.models.").partition(".")[0]
        return folder if folder in PAPERS else None

    @property
    def summary(self) -> str:
        """The model in one line: the first of the builder's docstring."""
        first = (inspect.getdoc(self.builder) or "").partition("\n")[0]
        return first.removeprefix("Return ").rstrip(".")

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Name -> default of the parameters; ``inspect.Parameter.empty`` if there is no default."""
        return parameters(self.builder)


def state_types(builder: Callable[..., Any]) -> None:
    """Write the types and defaults of a signature into the docstring, whose code says ``name : meaning`` alone."""
    doc, known = inspect.getdoc(builder) or "", inspect.signature(builder).parameters
    listed, texts = section(doc, "Parameters"), list[str]()
    for names, meaning in entries(listed):
        of = [known[name] for name in names.split(", ")]
        types = " or ".join(dict.fromkeys(str(p.annotation).removesuffix(" | None") for p in of))
        default = {None: ", optional", inspect.Parameter.empty: ""}.get(of[0].default, f", default {of[0].default!r}")
        texts.append(f"{names} : {types}{default}\n{indent(meaning.strip(), '    ')}")
    builder.__doc__ = doc.replace(listed, "\n".join(texts)) + "\n"


def parameters(function: Callable[..., Any]) -> dict[str, Any]:
    """Return name -> default of the keyword-only parameters of a function."""
    return {name: p.default for name, p in inspect.signature(function).parameters.items() if p.kind is p.KEYWORD_ONLY}


def check_parameters(what: str, name: str, given: Mapping[str, Any], known: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters that the model or method (``what``) of a name takes; else ParameterError."""
    for parameter, value in given.items():
        if parameter not in known:
            raise ParameterError(f"{what} '{name}' has no parameter '{parameter}'", _instead(parameter, known))
        if not (plain(value) or isinstance(value, Dataset)):
            raise ParameterError(
                f"parameter '{parameter}' of '{name}' must not be {shown(value)}",
                "give a number, a text, a list or an array",
            )
    missing = [k for k, default in known.items() if default is inspect.Parameter.empty and k not in given]
    if missing:
        raise ParameterError(
            f"{what} '{name}' needs the parameter{'s' * (len(missing) > 1)} {', '.join(missing)}",
            f"for example {missing[0]}=...",
        )
    return dict(given)


def _instead(parameter: str, known: Mapping[str, Any]) -> str:
    """Return what to give in place of an unknown parameter."""
    if parameter in {one.name for one in fields(Layout)}:
        signs = ", and signs of weights to best-subset or gbd" * (parameter == "positive")
        return f"tables are read by fsopt.load_dataset(..., {parameter}=...): give the data set that it returns{signs}"
    return f"{similar(parameter, known)} its parameters: {', '.join(known) or 'none'}".strip()


def check_weights(what: str, name: str, weights: str, data: Dataset) -> None:
    """Raise ParameterError for weights of samples of another kind than a model or method (``what``) takes."""
    if data.weights is None or weights == "samples":
        return
    if not weights:
        raise ParameterError(
            f"{what} '{name}' has no place for weights of samples or classes",
            f"leave them out, or take one of the {what}s that have, such as {'gbd' if what == 'method' else 'svm'}",
        )
    weights_of_classes(data.y, data.weights)
