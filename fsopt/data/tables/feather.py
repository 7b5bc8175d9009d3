"""Reader of Feather files, by pyarrow."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from fsopt.common.budget import check_size
from fsopt.data.tables.content import NUMBER
from fsopt.data.tables.frames import table_of_frame
from fsopt.data.tables.layout import Layout
from fsopt.data.tables.table import Table
from fsopt.errors import DataError, PackageError, foreign

_HINT = "write it with pandas.DataFrame.to_feather(path)"


def read_feather(path: Path, layout: Layout, *, required: bool = True) -> Table:
    """Read a Feather file of version 2, by pyarrow; a null is a missing value."""
    if find_spec("pyarrow") is None:
        raise PackageError("Feather files need the package pyarrow", "pip install 'fsopt[parquet]'")
    from pyarrow import ipc

    with foreign("pyarrow", "the file is not in Feather format, or damaged", _HINT, DataError):
        one = ipc.IpcReadOptions(included_fields=[0])  # whose rows are counted before all columns are expanded
        with ipc.open_file(path, options=one) as first:
            rows = sum(first.get_batch(k).num_rows for k in range(first.num_record_batches))
        with ipc.open_file(path) as file:
            check_size(NUMBER * rows * len(file.schema), f"the table of {rows} rows and {len(file.schema)} columns")
            table = file.read_all()
        table.validate(full=True)  # offsets beyond the end of a column are read without a look at them, and crash
        return table_of_frame(table.to_pandas(), layout, required=required)
