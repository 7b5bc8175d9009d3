"""Commands and data that the tests of the papers' tables share."""

import pytest
from support import SHARED

from fsopt.cli import main
from fsopt.papers.mop.table import FILES

DIGITS = SHARED / "data" / "mnist"
needs_digits = pytest.mark.skipif(not all((DIGITS / name).exists() for name in FILES), reason="no shared/data/mnist")
needs_data = pytest.mark.skipif(not (SHARED / "data" / "wbcd.csv.gz").exists(), reason="no shared/data")


@pytest.fixture
def papers_data(monkeypatch):
    """Name the folder of the papers' data in FSOPT_DATA."""
    monkeypatch.setenv("FSOPT_DATA", str(SHARED / "data"))


def run(words, capsys, code=0):
    """Return what a command line prints and its messages; its exit status is checked."""
    with pytest.raises(SystemExit) as ended:
        main(words.split())
    out, err = capsys.readouterr()
    assert ended.value.code == code, err
    assert "Traceback" not in err
    return out, err
