"""Commands run in this process, and a small data set for them."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support import blobs

from fsopt.cli import main


class Command:
    """Runs command lines in this process; ``out`` and ``err`` are what the last one wrote."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.capsys, self.out, self.err = capsys, "", ""

    def __call__(self, line: str, *words: object, code: int = 0) -> Any:
        """Run a line, and words that may have spaces behind it; return stdout, as JSON where it was asked for."""
        given = [*line.split(), *map(str, words)]
        self.capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main(given)
        self.out, self.err = self.capsys.readouterr()
        assert ended.value.code == code, self.err
        assert "Traceback" not in self.err
        return json.loads(self.out) if "--json" in given else self.out

    def refusal(self, line: str, *words: object) -> str:
        """Run a command that is refused with exit code 2, and return the one line that says why."""
        self(line, *words, code=2)
        [said] = [line for line in self.err.splitlines() if line.startswith("fsopt: ")]
        return said


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(capsys)


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with ``small.csv``: 24 samples of 3 features with the labels sick and fit."""
    data = blobs(24, 3, seed=1)
    frame = pd.DataFrame(data.X, columns=data.features).assign(label=np.where(data.y > 0, "sick", "fit"))
    frame.to_csv(tmp_path / "small.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path
