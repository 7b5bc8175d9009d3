"""The formats of data files, suffix -> reader. Importing this module loads neither numpy nor a reader."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from fsopt.common.registry import Registry, check_function
from fsopt.errors import DataError, ParameterError, foreign

if TYPE_CHECKING:
    from fsopt.data.tables.layout import Layout
    from fsopt.data.tables.table import Table


@dataclass(frozen=True)
class Reader:
    """The reader of one format.

    Attributes
    ----------
    suffix : of the files, ``.csv``.
    function : of a path; it returns a pandas DataFrame with a column for each feature and one for the label. Or the
        ``module:function`` of this package, loaded with the first file, that returns a Table, also of a layout and
        whether a label is required where columns are named; it raises DataError for a file that is damaged, too large,
        or has values of other kinds, and PackageError where its package is missing.
    named : whether columns have names, so that a name selects the label; otherwise the label has one fixed place.
    """

    suffix: str
    function: str | Callable[..., Any]
    named: bool = True

    def read(self, path: Path, layout: Layout, *, required: bool = True) -> Table:
        """Return the content of a file; ``layout`` is ignored if the label has a fixed place."""
        if isinstance(self.function, str):
            given: dict[str, Any] = {"layout": layout, "required": required} if self.named else {}
            table: Table = resolve_name(f"fsopt.data.tables.{self.function}")(path, **given)
            return table
        from fsopt.data.tables.frames import table_of_frame

        fault = f"the reader of {self.suffix} files cannot read it"
        with foreign("the reader", fault, "correct the file, or the reader", DataError):
            frame = self.function(path)
        return table_of_frame(frame, layout, required=required)


SPECS = (
    Reader(".csv.gz", "text:read_csv"),
    Reader(".csv", "text:read_csv"),
    Reader(".tsv.gz", "text:read_tsv"),
    Reader(".tsv", "text:read_tsv"),
    Reader(".txt", "text:read_tsv"),
    Reader(".parquet", "frames:read_parquet"),
    Reader(".feather", "frames:read_feather"),
    Reader(".xlsx", "frames:read_excel"),
    Reader(".zip", "readers:read_zip"),
    Reader(".npz", "arrays:read_npz", named=False),
    Reader(".arff", "text:read_arff"),
    Reader(".libsvm", "arrays:read_libsvm", named=False),
)


def _check(reader: Reader) -> None:
    """Raise ParameterError for a reader of the user's own that no file could be read by."""
    check_function(f"the reader of '{reader.suffix}'", reader.function)
    if not reader.suffix.startswith(".") or reader.suffix != reader.suffix.lower():
        raise ParameterError(f"'{reader.suffix}' is no suffix", "give one in small letters, such as .sav")


READERS = Registry(
    Reader,
    "format of files",
    "fsopt.data.tables",
    ("registry",),
    listing="fsopt fit --help",
    key="suffix",
    check=_check,
)
"""Suffix -> reader; a name without a suffix is looked up with these suffixes in this order."""


def register_reader(reader: Reader, *, replace: bool = False) -> Reader:
    """Add a format of data files of your own: wherever a file of data is named, its suffix is known from then on.

    Parameters
    ----------
    reader : Reader
        Its suffix, and the function that reads a file into a pandas DataFrame.
    replace : bool, default False
        Take the place of a reader of your own that has the suffix already, as in a notebook.

    Returns
    -------
    Reader
        The entry.

    Raises
    ------
    ParameterError : the suffix is taken or is none, or the function is none.
    """
    return READERS.register(reader, replace=replace)


def suffix_of(path: Path) -> str:
    """Return the suffix of a path in :data:`READERS`, in any case, or an empty text; the longest one counts."""
    return max((suffix for suffix in READERS if path.name.lower().endswith(suffix)), key=len, default="")
