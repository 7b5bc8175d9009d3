"""Fixtures shared by all tests; functions and paths are in support.py (``from support import ...``)."""

import os
import signal
from collections.abc import Iterator
from hashlib import sha256
from itertools import groupby
from pathlib import Path

# One thread for each of the processes of a run: more of them wait for each other in loops that take the processors.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import pytest
from hypothesis import HealthCheck, settings
from joblib import parallel_config

from fsopt.data import Dataset, load_dataset

# An assertion of a helper holds with python -O, too; helpers are imported later.
pytest.register_assert_rewrite(*(path.stem for path in Path(__file__).with_name("helpers").glob("*.py")))

# Without a database of examples, which a checkout that cannot be written has no place for, and without a clock.
settings.register_profile("fsopt", database=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("fsopt")

# The peer skglm compiles itself for 12 seconds, for data on which its Python code takes one.
os.environ.setdefault("NUMBA_DISABLE_JIT", "1")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--require-solvers", default="", help="solvers that must be usable, separated by commas")
    parser.addoption("--note-passed", metavar="FILE", help="write the tests that passed into a file, one in a line")
    parser.addoption("--but-passed", metavar="FILE", help="leave out the tests of such a file")
    parser.addoption("--sample", metavar="N", type=int, help="of each slow test take N cases")
    parser.addoption("--drawn-by", metavar="TEXT", default="", help="what the cases of --sample are drawn by")


class Passed:
    """Notes the tests that passed in a file."""

    def __init__(self, file: str) -> None:
        self.file, self.names = file, list[str]()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" and report.outcome == "passed":
            self.names.append(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        Path(self.file).write_text("".join(f"{name!r}\n" for name in self.names), encoding="utf-8")


def pytest_configure(config: pytest.Config) -> None:
    """Note what passes, in the process alone that hears of all tests."""
    if (file := config.getoption("--note-passed")) and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Passed(file))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what passed before and slow cases beyond a sample; slow ones come first, so that none is awaited."""
    out: set[str] = set()
    if file := config.getoption("--but-passed"):
        passed = set(Path(file).read_text(encoding="utf-8").splitlines())
        out = {item.nodeid for item in items if repr(item.nodeid) in passed}
    if most := config.getoption("--sample"):
        slow = [item.nodeid for item in items if item.get_closest_marker("slow") and item.nodeid not in out]
        seed = config.getoption("--drawn-by")
        for _, cases in groupby(sorted(slow), lambda name: name.partition("[")[0]):
            out.update(sorted(cases, key=lambda name: sha256((seed + name).encode()).digest())[most:])
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid in out])
    items[:] = [item for item in items if item.nodeid not in out]
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables are as wide as on no terminal, whatever COLUMNS says here."""
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture
def usual_interruption() -> Iterator[None]:
    """Set the handler of Python for Ctrl-C, which a runner of tests may have replaced."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def in_process() -> Iterator[None]:
    """Units of studies run here: processes of their own load all packages again, and have tests of their own."""
    with parallel_config("sequential"):
        yield


@pytest.fixture(scope="session")
def wdbc() -> Dataset:
    return load_dataset("wdbc")


@pytest.fixture(scope="session")
def wdbc_std() -> Dataset:
    from support import reference

    return reference("wdbc_std")


@pytest.fixture
def shared() -> Path:
    from support import SHARED

    if not SHARED.is_dir():
        pytest.skip(f"the papers' files are not at {SHARED} (set FSOPT_SHARED)")
    return SHARED


@pytest.fixture
def papers_data(monkeypatch: pytest.MonkeyPatch) -> None:
    """Name the folder of the papers' data in FSOPT_DATA."""
    from support import SHARED

    monkeypatch.setenv("FSOPT_DATA", str(SHARED / "data"))
