"""A study under fire: its coordinator, workers and scheduler are killed at random, and its disk is full for a while.

Linux only: processes are found by a mark in their environment, and a limit on the size of files stands for a full disk.
"""

import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from support import ROOT

from fsopt.errors import FileError
from fsopt.studies.store import copy_store, opened

MARK = "FSOPT_SOAK_MARK"
STUDY = """
data = ["wdbc"]
folds = {folds}
seeds = {seeds}
time_limit = 60
[[methods]]
name = "pearson"
[[methods]]
name = "fisher"
[[methods]]
name = "l1-svm"
grid = {{ c = [0.01, 0.1, 1.0] }}
"""
METHODS = 5
"""Methods of the study, of l1-svm each point of the grid."""
GROWN = 6.0
"""Seconds of the processor after which a process has loaded all that it needs, however busy the machine is."""
Tally = Counter[str]
"""What was done to the runs of a study, and what came of it: figures by their names."""


def processes(mark: str) -> dict[int, str]:
    """Return number -> command of the processes whose environment has a mark."""
    found = {}
    for place in Path("/proc").glob("[0-9]*"):
        try:
            if f"{MARK}={mark}".encode() in (place / "environ").read_bytes().split(b"\0"):
                found[int(place.name)] = (place / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:  # it has ended
            continue
    return {pid: words for pid, words in found.items() if words}  # those without words wait for their parent only


def kind(words: str) -> str:
    """Return what a process is for."""
    names = {"fsopt.studies.workers": "worker", "dask_scheduler": "scheduler", "fsopt study": "coordinator"}
    return next((name for part, name in names.items() if part in words), "worker of Dask")


def megabytes(pid: int) -> float | None:
    """Return the memory of a process."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) / 1000 for line in lines if line.startswith("VmRSS")), None)


def processor_seconds(pid: int) -> float:
    """Return the seconds that a process has used of the processor, 0 of one that has ended."""
    try:
        numbers = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(numbers[11]) + int(numbers[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def cluster(mark: str, address: str) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Start a scheduler and two workers, in a folder of their own."""
    host = address.removeprefix("tcp://").partition(":")
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "env": {**os.environ, MARK: mark}}
    scheduler = ["distributed.cli.dask_scheduler", "--host", host[0], "--port", host[2], "--no-dashboard"]
    worker = ["distributed.cli.dask_worker", address, "--nthreads", "1", "--nworkers", "2", "--no-dashboard"]
    started = [subprocess.Popen([sys.executable, "-m", *words], **quiet) for words in (scheduler, worker)]
    try:
        yield started
    finally:
        for process in started:
            process.terminate()
        for process in started:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def free_address() -> str:
    """Return an address at which nobody listens."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return f"tcp://127.0.0.1:{held.getsockname()[1]}"


def finished(store: Path) -> dict[str, float]:
    """Return key -> seconds of the units with a result, which a second computation would change."""
    with opened(store) as held:
        rows = list(held.rows())
        assert not held.damaged, held.damaged
    return {row["key"]: row["seconds"] for row in rows if row["state"] == "done"}


def lasting(store: Path) -> list[dict[str, Any]]:
    """Return the rows of a store without what the clock decides."""
    with opened(store) as held:
        rows = list(held.rows())
    return [{k: v for k, v in row.items() if k != "trace" and "seconds" not in k} for row in rows]


class Soak:
    """A study in a folder, and the runs that compute it.

    Parameters
    ----------
    folder : of the study and its stores.
    seeds, folds : of the study, :data:`METHODS` units for each fold of a seed.
    pace : mean seconds between two disturbances.
    most : disturbances of one study; a machine that is slow would be killed before its first row for ever.
    """

    def __init__(self, folder: Path, seeds: int, folds: int, pace: float, most: int, seed: int = 0) -> None:
        self.folder, self.pace, self.most = folder, pace, most
        self.units = METHODS * seeds * folds
        self.rng, self.first = np.random.default_rng(seed), dict[int, float]()
        # A shell starts programs in the background deaf to SIGINT, and what they start, too.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        self.mark = f"run-{os.getpid()}-{folder.name}"
        (folder / "study.toml").write_text(STUDY.format(seeds=list(range(seeds)), folds=folds), encoding="utf-8")

    def start(self, store: Path, address: str | None) -> subprocess.Popen[bytes]:
        """Start a run."""
        where = ["--jobs", "2"] if address is None else ["--scheduler", address]
        words = [sys.executable, "-m", "fsopt", "study", "study.toml", "--store", str(store), *where]
        path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
        with (self.folder / f"{store.stem}.log").open("ab") as log:
            environment = {**os.environ, MARK: self.mark, "PYTHONPATH": path}
            return subprocess.Popen(words, cwd=self.folder, env=environment, stdout=log, stderr=log)

    def undisturbed(self) -> tuple[Path, Tally]:
        """Run the study in peace; return its store."""
        store, tally = self.folder / "whole.sqlite", Tally(starts=1)
        began = time.monotonic()
        process = self.start(store, None)
        while process.poll() is None:
            self._weigh(tally)
        assert process.returncode == 0
        tally["seconds"] = time.monotonic() - began
        return store, tally

    def _weigh(self, tally: Tally) -> None:
        """Note by how much each process has grown since it had loaded everything, and wait a little."""
        for pid, words in (processes(self.mark) | processes(f"{self.mark}-cluster")).items():
            used = megabytes(pid)
            if used is not None and processor_seconds(pid) >= GROWN:
                name = f"growth of a {kind(words)}, MB"
                tally[name] = max(tally[name], used - self.first.setdefault(pid, used))
        time.sleep(min(1.0, self.pace / 4))

    def disturbed(self, store: Path, kinds: tuple[str, ...], address: str | None = None) -> Tally:
        """Run the study until it is complete, whatever is done to its processes in between."""
        tally = Tally()
        began, seen, done = time.monotonic(), {}, False
        while not done:
            if address is None:
                done = self._life(store, kinds, None, tally)
            else:
                cluster_mark = f"{self.mark}-cluster"
                with cluster(cluster_mark, address) as started:
                    alive = True
                    while alive and not done:
                        done = self._life(store, kinds, address, tally, started[0])
                        alive = started[0].poll() is None
                self._gone(cluster_mark, tally)
            before, seen = seen, finished(store) if store.exists() else {}
            assert before.items() <= seen.items(), "a finished unit was lost or computed again"
        tally["seconds"] = time.monotonic() - began
        return tally

    def _life(
        self,
        store: Path,
        kinds: tuple[str, ...],
        address: str | None,
        tally: Tally,
        scheduler: subprocess.Popen[bytes] | None = None,
    ) -> bool:
        """Start a run and disturb it until it ends; return whether the study is complete."""
        process = self.start(store, address)
        tally["starts"] += 1
        while process.poll() is None:
            until = time.monotonic() + self.pace * self.rng.uniform(0.1, 1.9)
            while process.poll() is None and time.monotonic() < until:
                self._weigh(tally)
            if process.poll() is None and tally["harms"] < self.most:
                self._look_at(store, tally)
                self._disturb(kinds[tally["harms"] % len(kinds)], process, tally, scheduler)
                tally["harms"] += 1
        self._gone(self.mark, tally)
        return process.returncode == 0

    def _disturb(
        self, what: str, process: subprocess.Popen[bytes], tally: Tally, scheduler: subprocess.Popen[bytes] | None
    ) -> None:
        """Do one harm."""
        tally[what] += 1
        if what == "kill":
            process.kill()
            process.wait()
        elif what == "interrupt":
            process.send_signal(signal.SIGINT)
            process.wait(60)
        elif what == "worker":
            every = (processes(self.mark) | processes(f"{self.mark}-cluster")).items()
            found = [pid for pid, words in every if "worker" in kind(words) and "dask_worker" not in words]
            if found:
                os.kill(int(self.rng.choice(found)), signal.SIGKILL)
        elif what == "scheduler" and scheduler is not None:
            scheduler.kill()
            scheduler.wait()
            process.wait(120)
        elif what == "full":
            _, hard = resource.prlimit(process.pid, resource.RLIMIT_FSIZE)
            resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (4096, hard))
            time.sleep(self.pace * self.rng.uniform(0.2, 1.0))
            if process.poll() is None:
                resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (hard, hard))

    def _look_at(self, store: Path, tally: Tally) -> None:
        """Copy the store of a run in both ways, and read the copies."""
        if not store.exists() or not store.stat().st_size:
            return
        there = self.folder / "copied.sqlite"
        shutil.copyfile(store, there)
        try:
            with opened(there) as held:
                list(held.rows())
                tally["rows left out of plain copies"] += len(held.damaged)
        except FileError:
            tally["plain copies unreadable"] += 1
        there.unlink()
        copy_store(store, there)
        finished(there)
        there.unlink()
        tally["copies"] += 1

    def _gone(self, mark: str, tally: Tally) -> None:
        """Wait until no process of a mark is left, and note for how long."""
        ended = time.monotonic()
        while left := processes(mark):
            assert time.monotonic() - ended < 20.0, left
            time.sleep(0.05)
        tally["longest afterlife"] = max(tally["longest afterlife"], time.monotonic() - ended)
