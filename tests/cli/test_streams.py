"""The streams, signals and disks of the command line: full, closed or in another alphabet; never a traceback."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from support import ROOT, blobs

from fsopt.cli import main
from fsopt.cli.app import command

PATH = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])


def start(command: str, folder: Path, **keywords) -> subprocess.Popen:
    """Start a command line of a shell in a folder, where $FSOPT is the program."""
    env = os.environ | {"PYTHONPATH": PATH} | keywords.pop("env", {})
    command = command.replace("$FSOPT", f"exec {shlex.quote(sys.executable)} -m fsopt")
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | keywords
    return subprocess.Popen(command, cwd=folder, env=env, text=True, shell=True, **streams)


def started(command: str, folder: Path, **keywords) -> tuple[int, str, str]:
    """Return exit code, stdout and stderr of a command line."""
    process = start(command, folder, **keywords)
    out, err = process.communicate(timeout=120)
    assert "Traceback" not in err + (out or ""), err
    assert "Exception ignored" not in err, err
    return process.returncode, out, err


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    data = blobs(30, 2, seed=1)
    rows = [f"{a},{b},{'größer' if y > 0 else 'kleiner'}" for (a, b), y in zip(data.X, data.y, strict=True)]
    (tmp_path / "d.csv").write_text("\n".join(["größe,länge,label", *rows]) + "\n", encoding="utf-8")
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("verb", ["fit svm --data d.csv --positive größer -o fit.json", "models"])
def test_a_full_stdout_is_one_line_of_the_program(folder: Path, verb: str) -> None:
    code, _, err = started(f"$FSOPT {verb} > /dev/full", folder)
    assert code == 2
    assert len([line for line in err.splitlines() if line.startswith("fsopt: cannot write to stdout: No space")]) == 1
    assert (folder / "fit.json").exists() == ("-o" in verb)


@pytest.mark.slow
@pytest.mark.parametrize("verb", ["--help", "fit svm --data d.csv --positive größer -o fit.json"])
def test_a_reader_that_goes_away_is_no_error(folder: Path, verb: str) -> None:
    process = start(f"$FSOPT {verb}", folder)
    process.stdout.close()
    err = process.stderr.read()
    process.stderr.close()
    assert process.wait(60) == 0
    assert [line for line in err.splitlines() if not line.startswith(("d: 30 samples", "warning: +1 is "))] == []
    assert (folder / "fit.json").exists() == ("-o" in verb)


@pytest.mark.slow
def test_closed_streams_take_nothing_and_files_nothing_else(folder: Path) -> None:
    code, _, _ = started("$FSOPT fit svm --data d.csv --positive größer -o fit.json <&- >&- 2>&-", folder)
    assert code == 0
    assert json.loads((folder / "fit.json").read_text())["method"] == "svm"
    code, _, _ = started("$FSOPT fit svm --data nowhere.csv 2> /dev/full", folder)
    assert code == 2


@pytest.mark.slow
def test_names_beyond_the_alphabet_of_the_terminal_are_escaped(folder: Path) -> None:
    ascii_only = {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii:strict"}
    code, _, err = started("$FSOPT fit svm --data d.csv", folder, env=ascii_only)
    assert code == 2
    assert re.search(r"gr\\(xf6|u00f6)\\?", err)
    code, _, err = started("$FSOPT fit svm --data d.csv --target höhe", folder, env=ascii_only)
    assert code == 2
    assert "there is no column" in err


@pytest.mark.slow
def test_an_answer_that_cannot_be_saved_is_printed(folder: Path) -> None:
    (folder / "link").symlink_to("/dev/full")
    code, out, err = started("$FSOPT fit svm --data d.csv --positive größer --json -o link", folder)
    assert code == 2
    assert json.loads(out)["method"] == "svm"
    assert "fsopt: cannot write 'link': No space left on device" in err
    assert (folder / "link").is_symlink()


@pytest.mark.slow
def test_a_disk_that_refuses_the_export_is_one_line(folder: Path) -> None:
    # The limit on the size of files stands for a full disk: ignoring its signal makes writes fail.
    for suffix in (".nl", ".cbf"):
        export = f"$FSOPT export svm --data d.csv --read positive=größer -o m{suffix}"
        code, _, err = started(f"trap '' XFSZ; ulimit -f 1; {export}", folder)
        assert code == 2
        assert "fsopt: cannot" in err
    code, _, err = started(
        "$FSOPT export svm --data d.csv --read positive=größer -o m.nl", folder, env={"TMPDIR": "/proc/nowhere"}
    )
    assert code == 0 or "fsopt: cannot" in err
    assert sorted(p.name for p in folder.iterdir() if p.name.startswith(("m.", ".fsopt"))) in (
        [],
        ["m.col", "m.nl", "m.row"],
    )


def test_a_limit_of_ages_is_none(folder: Path, run: Any) -> None:
    for solver, slug in (("clarabel", "svm"), ("scip", "svm"), ("highs", "onsvm")):
        for limit in ("inf", "1e300", "1e9"):
            own = ("--solver", solver, "--time-limit", limit, "--read", "positive=größer")
            run("solve", slug, "--data", folder / "d.csv", *own)


def test_an_error_inside_is_one_line_too(monkeypatch: pytest.MonkeyPatch, run: Any) -> None:
    inside = "an error inside fsopt, ZeroDivisionError: 0 / 0: run it again with FSOPT_TRACEBACK"
    for error, words in (
        (ZeroDivisionError("0 / 0"), inside),
        (MemoryError("8 GiB"), "there is not enough memory: 8 GiB"),
        (OSError(28, "No space left on device", "/x"), "No space left on device ('/x')"),
    ):

        def fail(*arguments, fault=error, **keywords):
            raise fault

        monkeypatch.setattr(type(command()), "__call__", fail)
        assert words in run.refusal("models")
        assert len(run.err.splitlines()) == 1
    monkeypatch.setenv("FSOPT_TRACEBACK", "1")
    monkeypatch.setattr(type(command()), "__call__", lambda *a, **k: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        main(["models"])


@pytest.mark.slow
@pytest.mark.parametrize("again", [None, 0.0, 0.4])
def test_ctrl_c_ends_with_the_incumbent_and_a_second_one_at_once(folder: Path, again: float | None) -> None:
    search = "$FSOPT fit best-subset --data wdbc --param m=12 --param max_nodes=1000000 --json --checkpoint c.npz"
    process = start(search, folder, preexec_fn=_take_interruptions)
    deadline = time.monotonic() + 60
    while not (folder / "c.npz").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    if again is not None:
        time.sleep(again)
        process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "Traceback" not in err + out
    if again is None:
        assert "its status is feasible" in err
        record = json.loads(out)
        assert record["stop"] == "interrupted"
        assert record["bound"] < record["objective"]


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/shm").exists(), reason="the locks of other processes are seen on Linux only")
def test_ctrl_c_in_worker_processes_is_one_line(folder: Path) -> None:
    command = "$FSOPT reproduce gbd-table2 --quick --jobs 2 > table.txt"
    process = start(command, folder, start_new_session=True, preexec_fn=_take_interruptions)
    deadline = time.monotonic() + 60
    while not _worker_has_a_lock(process.pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does it
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, "interrupted in gbd-table2: 0 were finished\n")


def _worker_has_a_lock(pid: int) -> bool:
    workers = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return any(True for worker in workers for _ in Path("/dev/shm").glob(f"sem.loky-{worker}-*"))


def _take_interruptions() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job of a shell ignores them
