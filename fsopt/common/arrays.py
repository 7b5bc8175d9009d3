"""Arrays of a kind that the user names, by the array API standard; those of numpy need no other package."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from fsopt.common.arguments import word
from fsopt.errors import PackageError, ParameterError
from fsopt.typing import Vector

KINDS = ("numpy", "torch", "cupy", "array_api_strict")
"""Packages of arrays; a device follows after a colon, as in ``torch:cuda``."""


def array_maker(kind: str) -> Any:
    """Return the function that makes arrays of a kind from those of numpy.

    Raises
    ------
    ParameterError : another word, or a device that the package does not know or have.
    PackageError : the package, or array-api-compat, is not installed.
    """
    package, _, device = kind.partition(":")
    word("arrays", package, KINDS)
    if kind == "numpy":
        return np.asarray
    try:
        known = import_module("array_api_compat")
        made = import_module(package).asarray(np.zeros(1), **({"device": device} if device else {}))
    except ImportError as error:
        hint = f"pip install {package.replace('_', '-')} 'fsopt[arrays]'"
        raise PackageError(f"arrays='{kind}' needs {error.name}, which is not installed", hint) from error
    except (TypeError, ValueError, RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        raise ParameterError(f"arrays='{kind}': {reason}", f"give '{package}', or a device of this machine") from error
    namespace, place = known.array_namespace(made), known.device(made)
    return lambda array: namespace.asarray(array, device=place)


def namespace_of(array: Any) -> Any:
    """Return the functions on arrays of the kind of one."""
    return np if isinstance(array, np.ndarray) else import_module("array_api_compat").array_namespace(array)


def to_numpy(array: Any) -> Vector:
    """Return an array of any kind as one of numpy."""
    if isinstance(array, np.ndarray):
        return array
    known = import_module("array_api_compat")
    if known.is_torch_array(array) or known.is_cupy_array(array):
        array = known.to_device(array, "cpu")
    return np.array(np.from_dlpack(array))
