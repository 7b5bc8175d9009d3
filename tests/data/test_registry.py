"""The table of data formats: one line adds a suffix everywhere."""

import inspect
import re
import sys
from pkgutil import resolve_name
from types import ModuleType

import numpy as np
import pytest
from support import written

from fsopt.cli.options import Data
from fsopt.data import load_dataset, load_samples
from fsopt.data.tables import registry
from fsopt.data.tables.registry import READERS, Reader
from fsopt.data.tables.table import Table
from fsopt.errors import DataError, ParameterError


@pytest.mark.parametrize("suffix", READERS)
def test_every_reader_exists_and_takes_a_layout_where_columns_have_names(suffix):
    reader = READERS[suffix]
    function = resolve_name(f"fsopt.data.tables.{reader.function}")
    given = ("layout", "required") if reader.named else ()
    assert tuple(inspect.signature(function).parameters) == ("path", *given)


@pytest.fixture
def with_semicolons(monkeypatch):
    """The table with one more line, for files with semicolons, whose columns have names, and one for .tiny files."""

    def read_semicolons(path, layout, required):
        head, *rows = [line.split(";") for line in path.read_text().splitlines()]
        place = head.index(layout.target)
        X = [[float(v) for j, v in enumerate(row) if j != place] for row in rows]
        return Table(np.array(X), [row[place] for row in rows], [name for name in head if name != layout.target])

    module = ModuleType("fsopt.data.tables.plugin")
    module.read_semicolons, module.read_tiny = read_semicolons, lambda path: Table(np.eye(2), ["0", "1"], None)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    for reader in (
        Reader(".csv.semi", "plugin:read_semicolons"),
        Reader(".tiny", "plugin:read_tiny", named=False),
    ):
        monkeypatch.setitem(READERS.shipped, reader.suffix, reader)


@pytest.mark.usefixtures("with_semicolons")
def test_a_line_of_the_table_is_a_format(tmp_path, monkeypatch):
    path = written(tmp_path, "toy.csv.semi", "a;kind;b\n1;x;2\n3;y;4\n")
    data = load_dataset(path, label="kind")
    assert (data.name, data.features, data.labels) == ("toy", ("a", "b"), ("x", "y"))
    assert load_samples(path, label="kind").labels == ["x", "y"]
    monkeypatch.setenv("FSOPT_DATA", str(tmp_path))
    written(tmp_path, "small.TINY", "")
    assert load_dataset(tmp_path / "small.TINY").X.tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert load_dataset("toy", label="kind").n == 2, "a name is looked up with the new suffix"
    with pytest.raises(ParameterError, match=r"label='kind' cannot be used for a \.tiny file"):
        load_dataset(tmp_path / "small.TINY", label="kind")
    for source in ("nothing", tmp_path / "x.sav"):
        with pytest.raises(DataError, match=r"\.csv\.semi, \.tiny"):
            load_dataset(source)


def test_the_help_of_the_command_line_lists_the_table():
    listed = re.search(r"a file \(([^)]*)\)", Data.__metadata__[0].help)
    assert listed is not None
    assert listed[1].split() == list(READERS)


def test_the_longest_suffix_counts(tmp_path, monkeypatch):
    monkeypatch.setattr(registry, "READERS", {".gz": None, ".csv.gz": None})
    assert registry.suffix_of(tmp_path / "a.CSV.GZ") == ".csv.gz"
    assert registry.suffix_of(tmp_path / "a.txt.gz") == ".gz"
    assert registry.suffix_of(tmp_path / "a.txt") == ""
