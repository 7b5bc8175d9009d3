"""Processes that are killed while they write: every file is the old one, the new one, or not there."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from fuzz.attack import FACTOR, generator
from support import ROOT, blobs

import fsopt
from fsopt.formats.writers import FORMATS

KILLS = 3
PATH = os.pathsep.join([str(ROOT), str(ROOT / "tests" / "helpers"), os.environ.get("PYTHONPATH", "")])
SIZES = (40, 80)
EXPORTS = """
import sys, fsopt
from support import blobs
models = [fsopt.build("svm", blobs(n, 6, seed=n), c=1.0) for n in map(int, sys.argv[2].split())]
print("ready", flush=True)
while True:
    for model in models:
        for suffix in sys.argv[3].split():
            fsopt.export(model, f"{sys.argv[1]}/m{suffix}")
"""


def killed(code: str, arguments: list[str], pause: float) -> None:
    """Run a program and kill it a while after it says that it is ready."""
    program = [sys.executable, "-c", code, *arguments]
    process = subprocess.Popen(program, stdout=subprocess.PIPE, text=True, env=os.environ | {"PYTHONPATH": PATH})
    assert process.stdout.readline() == "ready\n"
    time.sleep(pause)
    assert process.poll() is None
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()


def contents(folder: Path) -> dict[str, bytes]:
    """Return the files of a folder, but for the unfinished ones, whose names begin with a dot."""
    return {p.name: p.read_bytes() for p in folder.iterdir() if not p.name.startswith(".fsopt-")}


@pytest.mark.slow
@pytest.mark.parametrize("k", range(KILLS * FACTOR))
def test_exports_that_are_killed_leave_whole_files(tmp_path, k):
    suffixes = [*FORMATS]
    whole: list[dict[str, bytes]] = []
    for n in SIZES:
        (tmp_path / str(n)).mkdir()
        model = fsopt.build("svm", blobs(n, 6, seed=n), c=1.0)
        for suffix in suffixes:
            fsopt.export(model, tmp_path / str(n) / f"m{suffix}")
        whole.append(contents(tmp_path / str(n)))
    target = tmp_path / "target"
    target.mkdir()
    pause = float(generator(5, k).uniform(0.02, 0.6))
    killed(EXPORTS, [str(target), " ".join(map(str, SIZES)), " ".join(suffixes)], pause)
    for name, content in contents(target).items():
        assert content in [files[name] for files in whole], (name, pause)
