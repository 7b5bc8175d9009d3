"""Locks of files: a second process is refused, and a killed one leaves no lock behind."""

import errno
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support import ROOT, blobs

import fsopt
from fsopt.common import locks
from fsopt.common.locks import alone
from fsopt.errors import FileError

HOLD = "import sys, time, pathlib; from fsopt.common.locks import alone\nwith alone(pathlib.Path(sys.argv[1])): {}"
WAIT = "print('locked', flush=True); time.sleep(600)"


@pytest.fixture
def holder(tmp_path):
    """A process that holds the lock of a file."""
    path = tmp_path / "run.npz"
    words = [sys.executable, "-c", HOLD.format(WAIT), str(path)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, cwd=ROOT) as process:
        assert process.stdout.readline() == b"locked\n"
        yield path, process
        process.kill()


def test_a_second_process_on_one_checkpoint_is_refused(holder):
    path, process = holder
    with pytest.raises(FileError, match="another process"):
        fsopt.fit("gbd", blobs(20, 4), m=2, checkpoint=path)
    process.send_signal(signal.SIGKILL)
    process.wait()
    fsopt.fit("gbd", blobs(20, 4), m=2, checkpoint=path)
    assert [file.name for file in path.parent.iterdir()] == ["run.npz"]


def test_the_lock_is_gone_after_the_block_and_after_an_error(tmp_path):
    path = tmp_path / "run.npz"
    with alone(path), pytest.raises(FileError, match="another process"), alone(tmp_path / "." / "run.npz"):
        pass
    with pytest.raises(ZeroDivisionError), alone(path):
        raise ZeroDivisionError
    with alone(path):
        pass
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_no_two_processes_hold_it_at_once_while_others_come_and_go(tmp_path):
    turn = "p = pathlib.Path(sys.argv[1]); assert not p.exists(); p.touch(); time.sleep(.01); p.unlink()"
    loop = f"""
import pathlib, sys, time
from fsopt.errors import FileError
from fsopt.common.locks import alone
for _ in range(30):
    try:
        with alone(pathlib.Path(sys.argv[1] + ".npz")): {turn}
    except FileError:
        time.sleep(.003)
"""
    words = [sys.executable, "-c", loop, str(tmp_path / "inside")]
    started = [subprocess.Popen(words, cwd=ROOT) for _ in range(3)]
    assert [process.wait(timeout=60) for process in started] == [0, 0, 0]


def test_a_folder_that_does_not_exist_is_an_error_of_the_package(tmp_path):
    with pytest.raises(FileError, match="cannot write"), alone(tmp_path / "none" / "run.npz"):
        pass


def test_a_lock_that_is_a_link_is_refused_and_nothing_is_made_where_it_leads(tmp_path, monkeypatch):
    victim = tmp_path / "victim"
    (tmp_path / ".run.npz.lock").symlink_to(victim)
    with pytest.raises(FileError, match="symbolic link"), alone(tmp_path / "run.npz"):
        pass
    assert not victim.exists()
    # The link is laid between the look and the opening.
    monkeypatch.setattr(Path, "is_symlink", lambda self: False)
    with pytest.raises(FileError, match="cannot write"), alone(tmp_path / "run.npz"):
        pass
    assert not victim.exists()


def test_a_file_system_without_locks_is_not_taken_for_another_process(tmp_path, monkeypatch):
    def refuse(handle):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(locks, "_try_lock", refuse)
    with pytest.raises(FileError, match="no locks"), alone(tmp_path / "run.npz"):
        pass
