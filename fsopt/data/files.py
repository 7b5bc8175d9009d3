"""Files of data as DataFrames of pandas, and those of arrays, in which the label has one fixed place."""

from __future__ import annotations

import csv
import io
import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import partial
from importlib.metadata import distribution
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree
from zipfile import ZipFile

import numpy as np

from fsopt.common.files import brief, check_size, expanded, unpacked
from fsopt.data.encoding import without_groups
from fsopt.data.layout import DEFAULT_TARGET, SUFFIXES, Layout, refuse_repeated
from fsopt.data.matrices import stays_sparse
from fsopt.data.validation import as_matrix
from fsopt.errors import DataError, foreign, needed, shown, similar
from fsopt.typing import Matrix, Vector

if TYPE_CHECKING:
    from pandas import DataFrame

FOLDER_VARIABLE = "FSOPT_DATA"
BUNDLED = "wdbc"
"""Name of the data set that scikit-learn has."""
QUANTITIES = "radius texture perimeter area smoothness compactness concavity concave_points symmetry fractal_dimension"
"""Of the bundled data set, each with its mean, standard error and worst value."""
SPARSE = (".libsvm", ".svm")
"""Suffixes of files of sparse lines, whose columns have no names."""
HEADER = 10_000
"""Signs of a header in which the separator is looked for, and most quotes of a line of an ARFF file."""
BYTES = {"text": 1, "cells": 8, "entries": 16, "objects": 100, "names": 250, "columns": 5000}
"""Bytes of each part of a table: names are those of sparse data, with statistics; of a column the time counts, too."""
XML = 2
"""Bytes for each one of a part of a workbook, and for each time that a sheet refers to it."""
_NPZ_HINT = "save it by numpy.savez_compressed(path, X=X, y=y, features=names), a DataFrame by its to_parquet"
_LIBSVM_HINT = "write one line 'label index:value ...' per sample, with increasing indices"


def data_folder() -> Path | None:
    """Return the folder that FSOPT_DATA names, None if it is not set."""
    value = os.environ.get(FOLDER_VARIABLE)
    return expanded(value, "read") if value else None


def resolve(source: Path) -> Path:
    """Return the path of an existing file with a known suffix, or the bundled name; raises DataError for any other."""
    if source == Path(BUNDLED):
        return source
    path, folder = expanded(source, "read"), data_folder()
    suffix = suffix_of(source)
    bare = not suffix and source.parent == Path()
    places = [path] if suffix else [folder / f"{source}{one}" for one in SUFFIXES] if folder and bare else []
    for place in places:
        if os.path.isfile(place):
            return place
    if not (suffix or bare) or os.path.isfile(path):
        raise DataError(
            f"the type of {path} is not known from its name",
            f"use one of {', '.join(SUFFIXES)}, or read it with pandas and give the DataFrame",
        )
    beside = [one.name for one in {place.parent for place in places if place.parent.is_dir()} for one in one.iterdir()]
    raise DataError(
        f"there is no file {brief(source)}" if suffix else f"there is no data set '{brief(source)}'",
        similar(path.name, [BUNDLED, *(name if suffix else name.partition(".")[0] for name in beside)])
        or f"give a path to a file ({', '.join(SUFFIXES)}), or put one into the folder {FOLDER_VARIABLE}, "
        f"which is {folder or 'not set'}",
    )


def suffix_of(path: Path) -> str:
    """Return the suffix of a path among :data:`SUFFIXES`, in any case, or an empty text."""
    return next((suffix for suffix in SUFFIXES if path.name.lower().endswith(suffix)), "")


class Budget:
    """The memory that a table takes while it is read: every reader charges each part of it before that is made."""

    def __init__(self) -> None:
        self.size = 0.0

    def charge(self, what: str, **parts: float) -> None:
        """Add numbers of parts, by the names of :data:`BYTES`, of ``what``; raises DataError beyond the limit."""
        self.size += sum(BYTES[name] * number for name, number in parts.items())
        check_size(self.size, what)


def read_frame(path: Path, layout: Layout) -> DataFrame:
    """Return the columns of a file with names of columns, labels as they stand; raises DataError, PackageError."""
    suffix = suffix_of(path).removesuffix(".gz")
    readers = {"": lambda *_: _framed(*bundled()), ".parquet": _parquet, ".xlsx": _excel, ".arff": _arff, ".npz": _npz}
    return readers.get(suffix, _separated)(path, layout, Budget())


def _with_keywords(read: Callable[..., DataFrame], layout: Layout) -> DataFrame:
    """Return what pandas reads with its keywords of texts, in CSV files and workbooks."""
    special: Any = object if layout.thousands else {name: str for name in (layout.target, layout.id) if name}
    frame = read(decimal=layout.decimal or ".", dtype=special, na_values=["?", "."])
    return without_groups(frame, layout) if layout.thousands else frame


def _separated(path: Path, layout: Layout, budget: Budget) -> DataFrame:
    """Return the columns of a text file; its separator, if not given, is that which pandas finds in its header."""
    import pandas as pd

    content = path.read_bytes()
    with foreign("gzip", "the file is not compressed by gzip, or damaged", "write it again", DataError, passed=()):
        content = unpacked(content, "the unpacked file") if path.suffix.lower() == ".gz" else content
    with _by_pandas("correct the file; sep= names its separator, encoding= its encoding, such as cp1252"):
        file = io.TextIOWrapper(io.BytesIO(content), layout.encoding or "utf-8-sig", newline="")
        header = file.readline()
        sep = layout.sep or ("\t" if ".tsv" in suffix_of(path) else ",")
        if layout.sep is None and sep == ",":
            with suppress(csv.Error):
                sep = csv.Sniffer().sniff(header[:HEADER], ",;\t|").delimiter
        names = next(csv.reader([header], delimiter=sep, skipinitialspace=True), []) if len(sep) == 1 else []
        rows = max(content.count(b"\n"), content.count(b"\r"))
        budget.charge("the table", text=len(content), cells=rows * len(names), columns=len(names))
        refuse_repeated([name for name in names if name])
        fast: dict[str, Any] = {"low_memory": False, "float_precision": "round_trip"}
        engine = fast if len(sep) == 1 else {"engine": "python"}
        warnings.simplefilter("error", pd.errors.ParserWarning)  # a row with more fields than names
        file.seek(0)
        engine |= {"sep": sep, "index_col": False, "skipinitialspace": True}
        return _with_keywords(partial(pd.read_csv, file, **engine), layout)


@contextmanager
def _by_pandas(hint: str) -> Iterator[None]:
    """Turn what pandas and its packages raise into an error, and hold their warnings back."""
    with foreign("pandas", "the file cannot be read", hint, DataError, passed=()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _parquet(path: Path, layout: Layout, budget: Budget) -> DataFrame:
    """Return the columns of a Parquet file; a null is a missing value."""
    needed("pyarrow", "Parquet files", "parquet")
    with _by_pandas("write it with pandas.DataFrame.to_parquet(path, index=False)"):
        import pyarrow.parquet as pq
        from pyarrow import types

        with pq.ParquetFile(path) as file:
            facts, leaves = file.metadata, [file.schema.column(k) for k in range(file.metadata.num_columns)]
            fields = list(file.schema_arrow)
        nested = [field for field in fields if types.is_nested(field.type)]
        if nested:
            fault = f"column '{nested[0].name}' holds {shown(str(nested[0].type))}, neither numbers nor texts"
            raise DataError(fault, "write the file without it")
        n, what = facts.num_rows, f"the table of {facts.num_rows} rows and {len(leaves)} columns"
        packed = sum(facts.row_group(k).total_byte_size for k in range(facts.num_row_groups))
        fixed = [leaf.length for leaf in leaves if leaf.length]  # such as decimals
        parts = {"cells": n * len(leaves), "objects": n * len(fixed), "columns": len(leaves)}
        budget.charge(what, text=packed + n * sum(fixed), **parts)
        texts = [leaf.path for leaf in leaves if leaf.physical_type == "BYTE_ARRAY"]
        # A file may hold each different text once, and so does the frame: its cells are the same objects.
        table = pq.read_table(path, read_dictionary=texts)
        declared = {field.name for field in fields if types.is_dictionary(field.type)}
        return table.to_pandas().astype(dict.fromkeys({*texts} - declared, object))


def _excel(path: Path, layout: Layout, budget: Budget) -> DataFrame:
    """Return the columns of a sheet of a workbook, the first one by default; its first row has their names."""
    needed("openpyxl", "Excel workbooks", "excel")
    with _by_pandas("save it as an Excel workbook (.xlsx), names in the first row, or as CSV; sheet= names the sheet"):
        from openpyxl import load_workbook
        from pandas.io.parsers import TextParser

        with ZipFile(path) as archive:
            budget.charge("the workbook", text=XML * sum(member.file_size for member in archive.infolist()))
            budget.charge("the workbook", text=XML * sum(_referred(archive)))
        with closing(load_workbook(path, read_only=True, data_only=True, keep_links=False)) as book:
            rows = _rows(book[layout.sheet] if layout.sheet else book.worksheets[0], budget)
        refuse_repeated([name for name in rows[0] if name != ""] if rows else [])
        parser = partial(TextParser, rows, header=0, skip_blank_lines=False)
        return _with_keywords(lambda **given: parser(**given).read(), layout)


def _referred(archive: ZipFile) -> Iterator[int]:
    """Yield the size of the part that each relationship in a workbook refers to: two sheets may be one part."""
    sizes = {PurePosixPath(member.filename).name: member.file_size for member in archive.infolist()}
    for name in archive.namelist():
        if name.endswith(".rels"):
            for link in ElementTree.fromstring(archive.read(name)):
                yield sizes.get(PurePosixPath(link.get("Target", "")).name, 0)


def _rows(sheet: Any, budget: Budget) -> list[list[Any]]:
    """Return the rows of a sheet up to the last one with a value, all as wide as the widest; an error is no value."""
    from openpyxl.cell.cell import ERROR_CODES

    none = {None, *ERROR_CODES}
    rows: list[list[Any]] = []
    filled = 0
    sheet.reset_dimensions()
    for values in sheet.iter_rows(values_only=True):
        budget.charge("the sheet", cells=1 + len(values), text=sum(len(v) for v in values if isinstance(v, str)))
        rows.append(["" if value in none else value for value in values])
        while rows[-1] and rows[-1][-1] == "":
            rows[-1].pop()
        filled = len(rows) if rows[-1] else filled
    width = max(map(len, rows), default=0)
    budget.charge("the sheet", cells=filled * width)
    return [row + [""] * (width - len(row)) for row in rows[:filled]]


def _arff(path: Path, layout: Layout, budget: Budget) -> DataFrame:
    """Return the columns of an ARFF file, by SciPy, which holds a nominal value in the bytes of the longest one."""
    import pandas as pd
    from scipy.io import arff

    hint = "give a dense ARFF file of numeric and nominal attributes, or a CSV file"
    content = path.read_bytes()
    with foreign("scipy", "the file is not in ARFF format, or damaged", hint, DataError, passed=()):
        text = content.decode(layout.encoding or "utf-8")
        if any(line.count("'") + line.count('"') > HEADER for line in text.splitlines()):
            raise DataError(f"a line has more than {HEADER} quotes", hint)  # csv.Sniffer is quadratic in their number
        lines = [line for line in text.splitlines() if line.lstrip().lower().startswith("@attribute")]
        longest = [max(map(len, line.split(","))) for line in lines if "{" in line]
        rows = text.count("\n")
        budget.charge("the table", text=len(text) + rows * sum(longest), objects=rows * len(longest))
        budget.charge("the table", cells=rows * len(lines), columns=len(lines))
        held, _ = arff.loadarff(io.StringIO(text))
    frame = pd.DataFrame(held)
    for name in frame.select_dtypes(object):
        texts = frame[name].str.decode("utf-8")
        frame[name] = texts.where(texts != "?").astype("category")
    return frame


def bundled() -> tuple[Matrix, Any, list[str]]:
    """Return samples, labels and features of scikit-learn's file, without the second that its import takes."""
    held = distribution("scikit-learn").locate_file("sklearn/datasets/data/breast_cancer.csv")
    features = [f"{name}_{kind}" for kind in ("mean", "se", "worst") for name in QUANTITIES.split()]
    table = np.loadtxt(str(held), delimiter=",", skiprows=1)
    return table[:, :-1], np.where(table[:, -1] == 0, "malignant", "benign"), features


def _npz(path: Path, layout: Layout, budget: Budget) -> DataFrame:
    """Return the arrays ``X``, ``y`` and ``features``, which are ``x1 .. xp`` by default; nothing is unpickled."""
    shapes = "X (n, p), y (n,) and perhaps features (p,)"
    fault = f"the file is no .npz archive of {shapes}, is damaged, or holds objects, as of a DataFrame"
    with foreign("numpy", fault, _NPZ_HINT, DataError):
        with ZipFile(path) as archive:
            budget.charge("the arrays", text=sum(member.file_size for member in archive.infolist()))
        with np.load(path, allow_pickle=False) as held:
            X, y = as_matrix(held["X"]), held["y"]
            names = held.get("features", np.array([f"x{j}" for j in range(1, X.shape[1] + 1)])).tolist()
        budget.charge("the labels", objects=y.size)
        refuse_repeated([*names, DEFAULT_TARGET])
        return _framed(X, y, names)


def _framed(X: Matrix, y: Any, names: list[str]) -> DataFrame:
    """Return samples and labels as columns."""
    import pandas as pd

    return pd.DataFrame(X, columns=names).assign(**{DEFAULT_TARGET: y})


def read_lines(path: Path) -> tuple[Matrix, Vector, list[str]]:
    """Return lines ``label index:value ...``; features are called by the index in the file, from 0 where it is used."""
    from sklearn.datasets import load_svmlight_file

    with foreign("scikit-learn", "the file is not in libsvm format", _LIBSVM_HINT, DataError):
        X, y = load_svmlight_file(str(path), zero_based=True)
    if X.nnz and X.indices.min() < 0:
        raise DataError("the file has an index below 0, or beyond 2147483647", _LIBSVM_HINT)
    base = 0 if X.nnz and X.indices.min() == 0 else 1
    X = X[:, base:]
    n, p = X.shape
    what = f"the matrix of {n} samples and {p} features (the largest index)"
    Budget().charge(what, names=p, **({"entries": X.nnz} if stays_sparse(X) else {"cells": n * p}))
    return as_matrix(X), y, [f"x{j + base}" for j in range(p)]
