"""The keywords of models, methods and tables for type checkers: build, fit and load_dataset, and the estimators.

``python -m tools.signatures`` writes ``fsopt/signatures.pyi`` and ``fsopt/estimators/__init__.pyi`` anew. With
them an editor completes the parameters of ``fsopt.fit("gmeb", ...)`` and of ``fsopt.estimators.GMEB(...)``, and a type
checker refuses a misspelt one. Names that are known at run time only, and models and methods of the user's own, fall to
the last overload of :func:`fsopt.build` and :func:`fsopt.fit`, which takes their parameters from a mapping:
``fsopt.fit(name, data, **params)`` with ``params: dict[str, Any]``.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from fsopt.common.files import write_text
from fsopt.data.given import load_dataset
from fsopt.estimators.making import made
from fsopt.methods.registry import METHODS, fit
from fsopt.models.registry import MODELS, build

FUNCTIONS: Mapping[str, Callable[..., Any]] = {"build": build, "fit": fit}
PACKAGE = Path(__file__).parents[1] / "fsopt"
DATA = {"build": ["data: Given"], "fit": ["data: Given | Samples", "y: ArrayLike | None = ..."]}
HEAD = """# load_dataset, and overloads of build and fit, written by ``python -m tools.signatures``.

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Never, overload

import pyomo.environ as pyo
from numpy.typing import ArrayLike

from fsopt.answers.fits import Fit
from fsopt.common.registry import Change
from fsopt.data.dataset import Dataset
from fsopt.data.given import Given
from fsopt.drivers.run import Progress
from fsopt.models.gbd.feature_lists import Feature
from fsopt.typing import Frame, Samples

"""
TEXTS = "str | float | Sequence[str | float]"
"""What a tuple of texts is made of: labels and columns may be numbers."""


ESTIMATORS = """# The estimators of all methods, written by ``python -m tools.signatures``.

from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import ArrayLike

from fsopt.drivers.run import Progress
from fsopt.estimators.base import SelectingClassifier, WeightedClassifier
from fsopt.models.gbd.feature_lists import Feature
"""


def keywords(function: Callable[..., Any]) -> list[str]:
    """Return the keyword-only parameters of a function as they stand in a stub."""
    found = []
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind is parameter.KEYWORD_ONLY:
            default = json.dumps(parameter.default) if isinstance(parameter.default, str) else repr(parameter.default)
            given = "" if parameter.default is parameter.empty else f" = {default}"
            found.append(f"{name}: {parameter.annotation}{given}")
    return found


def overloads(function: str, first: str, result: str, registered: Mapping[str, Callable[..., Any]]) -> list[str]:
    """Return an overload of a function for each registered name, and one for names that are known at run time only.

    The last one takes no keyword but from a mapping of ``Any``: with ``**params: Any`` it would take misspelt ones.

    Parameters
    ----------
    function, first, result : name, first parameter and type of the result of ``fsopt.build`` or ``fsopt.fit``.
    registered : registry name -> function with its parameters.
    """
    common, given = keywords(FUNCTIONS[function]), DATA[function]
    lines: list[str] = []
    for name, own in registered.items():
        named = [*keywords(own), *common]
        parameters = [f'{first}: Literal["{name}"]', *given, *(["*", *named] if named else [])]
        lines += _overload(function, parameters, result)
    others = [f"{first}: str", *given, *(["*", *common] if common else []), "**params: Never"]
    return [*lines, *_overload(function, others, result)]


def _overload(function: str, parameters: Sequence[str], result: str) -> list[str]:
    return ["@overload", f"def {function}(", *(f"    {p}," for p in parameters), f") -> {result}: ..."]


def classes() -> str:
    """Return the text of ``estimators/__init__.pyi``."""
    text = ESTIMATORS
    for cls in map(made, METHODS.values()):
        summary = (inspect.getdoc(cls) or "").partition("\n")[0]
        named = "".join(f"        {keyword},\n" for keyword in keywords(cls.__init__))
        text += f'\nclass {cls.__name__}({cls.__bases__[0].__name__}):\n    """{summary}"""\n'
        text += f"\n    def __init__(\n        self,\n        *,\n{named}    ) -> None: ...\n"
    return text


def stub() -> str:
    """Return the text of ``signatures.pyi``."""
    models = {slug: spec.builder for slug, spec in MODELS.items()}
    methods = {name: spec.fit for name, spec in METHODS.items()}
    lines = overloads("build", "slug", "pyo.ConcreteModel", models) + overloads("fit", "name", "Fit", methods)
    table = ["source: str | os.PathLike[str] | Frame", "*", *keywords(load_dataset)]
    first = ["def load_dataset(", *(f"    {p.replace('tuple[str, ...]', TEXTS)}," for p in table), ") -> Dataset: ..."]
    return HEAD + "\n".join([*first, *lines]) + "\n"


FILES: Mapping[Path, Callable[[], str]] = {
    PACKAGE / "signatures.pyi": stub,
    PACKAGE / "estimators" / "__init__.pyi": classes,
}
"""The written files, and what returns their texts."""


def main() -> None:
    """Write the files."""
    for file, text in FILES.items():
        write_text(file, text())


if __name__ == "__main__":
    main()
