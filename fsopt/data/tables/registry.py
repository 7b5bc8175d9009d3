"""The formats of data files: one line for each suffix. Importing this module loads neither numpy nor a reader."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fsopt.data.tables.layout import Layout
    from fsopt.data.tables.table import Table


@dataclass(frozen=True)
class Reader:
    """The reader of one format.

    Attributes
    ----------
    module, function : the function that reads a file, in a module of this package. It takes the path and, if
        ``named``, the meaning of the columns; if ``optional``, it also takes ``required``.
    named : whether columns have names, so that a name selects the label; otherwise the label has one fixed place.
    optional : whether ``required=False`` reads samples without a label.
    """

    module: str
    function: str
    named: bool = True
    optional: bool = False

    def read(self, path: Path, layout: Layout, *, required: bool = True) -> Table:
        """Return the content of a file; ``layout`` is ignored if the label has a fixed place."""
        function = getattr(import_module(f"fsopt.data.tables.{self.module}"), self.function)
        arguments = (path, layout) if self.named else (path,)
        table: Table = function(*arguments, required=required) if self.optional else function(*arguments)
        return table


READERS: Mapping[str, Reader] = MappingProxyType(
    {
        ".csv.gz": Reader("text", "read_csv", optional=True),
        ".csv": Reader("text", "read_csv", optional=True),
        ".tsv.gz": Reader("text", "read_tsv", optional=True),
        ".tsv": Reader("text", "read_tsv", optional=True),
        ".parquet": Reader("parquet", "read_parquet", optional=True),
        ".npz": Reader("arrays", "read_npz", named=False),
        ".arff": Reader("text", "read_arff"),
        ".libsvm": Reader("arrays", "read_libsvm", named=False),
    }
)
"""Suffix -> reader; a name without a suffix is looked up with these suffixes in this order."""


def suffix_of(path: Path) -> str:
    """Return the suffix of a path in :data:`READERS`, in any case, or an empty text; the longest one counts."""
    return max((suffix for suffix in READERS if path.name.lower().endswith(suffix)), key=len, default="")
