"""Model files of any software, read as Pyomo models."""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import pyomo.environ as pyo
from pyomo.common.gc_manager import PauseGC

from fsopt.common.arguments import PATH, checked
from fsopt.common.files import brief, check_readable
from fsopt.common.memory import unpacked
from fsopt.errors import FileError
from fsopt.formats.read_arrays import model_of
from fsopt.formats.read_cbf import read_cbf
from fsopt.formats.read_gms import read_gms
from fsopt.formats.read_lp import read_lp
from fsopt.formats.read_mps import read_mps
from fsopt.formats.read_nl import read_nl
from fsopt.formats.read_sdpa import read_sdpa

PACKED = ".gz"
CHARACTER = 5
"""Bytes of memory for a character of a packed file: its text twice, and its lines."""
READERS: Mapping[str, Callable[[str, Path], pyo.ConcreteModel]] = MappingProxyType(
    {
        ".mps": lambda text, path: model_of(read_mps(text)),
        ".lp": lambda text, path: model_of(read_lp(text)),
        ".gms": lambda text, path: read_gms(text),
        ".cbf": lambda text, path: read_cbf(text),
        ".dat-s": lambda text, path: read_sdpa(text),
        ".nl": lambda text, path: read_nl(text, lambda end: _names(path, end)),
    }
)
"""Suffix -> function of the text and the path of a file to its model."""


@checked(path=PATH)
def read_model(path: str | os.PathLike[str]) -> pyo.ConcreteModel:
    """Read a model file of any software.

    ======  ===============================================================================================
    suffix  read
    ======  ===============================================================================================
    .mps    free and fixed; quadratic terms, integers, semicontinuous variables, special ordered sets, indicators
    .lp     as .mps
    .nl     in text form, with the names of the files .col and .row beside it; special ordered sets
    .gms    of scalar form, as GAMS's Convert writes it: no sets, and each equation written out
    .cbf    linear, second-order, rotated and semidefinite cones, integers; names of fsopt's own comments
    .dat-s  diagonal blocks, arrow matrices as second-order cones, other blocks as matrix inequalities
    ======  ===============================================================================================

    Each may be packed, as ``.mps.gz``.

    Parameters
    ----------
    path : str | os.PathLike[str]
        Ends in one of the suffixes above.

    Returns
    -------
    pyo.ConcreteModel
        With variables ``x[name]``, constraints ``row[name]`` and ``objective``, by the names of the file.

    Raises
    ------
    FileError : an unknown suffix, a file that cannot be read, or one with parts that are not read:
        complementarities, other cones, an indicator of a constraint without bounds, in .nl a suffix that may change the
        program, in .lp and .mps general constraints and what readers take in different ways: the error says the line.
        An .nl file of which two parts contradict each other is refused, as a part of it is lost or wrong; so is any
        file without its end, as it may have been cut, but a .dat-s file of other software, which has no mark of it.
        Also one that states sizes, or unpacks to a text, that would take more memory than the environment variable
        FSOPT_DATA_LIMIT allows, in gigabytes, 0.5 without it.
    """
    source = check_readable(path)
    suffix = model_suffix(source)
    if suffix is None:
        raise FileError(
            f"'{brief(source)}' has no suffix of a model file", f"use one of {', '.join(READERS)}, or with {PACKED}"
        )
    with PauseGC():  # a reader makes many objects and drops none in circles
        model = READERS[suffix](text_of(source), source)
    model.name = source.name[: source.name.lower().removesuffix(PACKED).rindex(suffix)]
    model.read_from_file = suffix
    return model


def model_suffix(path: str | os.PathLike[str]) -> str | None:
    """Return the suffix by which a model file is read, None for a path that is none."""
    name = os.fspath(path).lower().removesuffix(PACKED)
    return next((suffix for suffix in READERS if name.endswith(suffix)), None)


def text_of(path: Path) -> str:
    """Return the text of a file, which may be packed by gzip; raises FileError where it cannot be read."""
    try:
        content = check_readable(path).read_bytes()
        if content[:2] == b"\x1f\x8b":
            content = unpacked(content, "the text of the packed file", each=CHARACTER, error=FileError)
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise FileError(f"'{brief(path)}' is not a text file", "give a file in text form") from error
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or error
        raise FileError(f"cannot read '{brief(path)}': {reason}", "check the file") from error


def _names(path: Path, end: str) -> Sequence[str]:
    """Return the names in the companion ``.col`` or ``.row`` of an .nl file, empty where there is none."""
    stem = str(path).removesuffix(PACKED).removesuffix(".nl")
    for place in (Path(f"{stem}.{end}"), Path(f"{stem}.{end}{PACKED}")):
        if place.is_file():
            return [line.strip() for line in text_of(place).splitlines() if line.strip()]
    return ()
