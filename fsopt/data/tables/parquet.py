"""Reader of Parquet files, by pandas and pyarrow."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

from fsopt.common.budget import check_size
from fsopt.data.tables.content import NUMBER
from fsopt.data.tables.frames import table_of_frame
from fsopt.data.tables.layout import Layout
from fsopt.data.tables.table import Table
from fsopt.errors import DataError, PackageError, foreign

_HINT = "write it with pandas.DataFrame.to_parquet(path, index=False)"


def read_parquet(path: Path, layout: Layout, *, required: bool = True) -> Table:
    """Read a Parquet file, by pyarrow; a null is a missing value."""
    if find_spec("pyarrow") is None:
        raise PackageError("Parquet files need the package pyarrow", "pip install 'fsopt[parquet]'")
    fault = "the file is not in Parquet format, or damaged"
    # Texts are decoded when they are used; an OSError is pyarrow's word for damaged pages.
    with foreign("pyarrow", fault, _HINT, DataError, passed=()):
        return table_of_frame(_frame(path), layout, required=required)


def _frame(path: Path) -> Any:
    """Return the table as pandas reads it."""
    import pandas as pd
    import pyarrow.parquet as pq

    facts = pq.read_metadata(path)
    groups = [facts.row_group(k).total_byte_size for k in range(facts.num_row_groups)]
    size = max(NUMBER * facts.num_rows * facts.num_columns, sum(groups))
    check_size(size, f"the table of {facts.num_rows} rows and {facts.num_columns} columns")
    return pd.read_parquet(path, engine="pyarrow")
