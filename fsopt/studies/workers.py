"""Worker processes: the tasks of a study in processes of their own, which may crash or hang without harm to the others.

A solver that crashes takes its process with it, and one that hangs looks at no clock and hears no signal. Each worker
is a Python process that gets one task after the other through its pipes; where it ends, or is ended at a limit of time,
its task has a :class:`Failure` for a result, and a new process goes on.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, Any

from fsopt.common.teams import THREADS

OUT_OF_TIME = -signal.SIGXCPU if sys.platform != "win32" else None
"""The exit code of a process that the system ended at its limit of CPU seconds."""
PROGRAM = "import sys; sys.path[:] = {path!r}; from fsopt.studies.workers import serve; serve({parent})"


@dataclass(frozen=True)
class Failure:
    """The result of a task whose process crashed, or was ended at a limit of time (``late``), after so many seconds."""

    message: str
    seconds: float
    late: bool = False


def threads() -> int:
    """Return how many threads the numerical libraries of this process may use, as far as variables say."""
    return max(int(text) if (text := os.environ.get(name, "1")).isdigit() else 1 for name in THREADS) or 1


def portable(value: Any) -> bool:
    """Return whether another process can be sent a value: no function in it is of the main script or of a function."""
    try:
        return b"__main__" not in pickle.dumps(value)
    except Exception:  # a lambda, a function in a function, or whatever else cannot be pickled
        return False


class Process:
    """A Python process that answers one task after the other, on one thread; another one is started where it ended.

    Parameters
    ----------
    function : of one task, pickled once for each process.
    """

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        self.function = pickle.dumps(function)
        self.ended = False

    def __del__(self) -> None:
        """End the process with the thread that asked it."""
        self.close()

    def ask(self, task: Any, hard_limit: float | None = None) -> Any:
        """Return the result of a task, the exception that it raised, or a Failure; the limit is one of the clock."""
        if self.process is None or self.process.poll() is not None:
            self.close()
            self.process = self._start()
            if self.ended:
                self.process.kill()
        process, late = self.process, threading.Event()
        assert process.stdin is not None
        assert process.stdout is not None

        def stop() -> None:
            late.set()
            process.kill()

        started = time.perf_counter()
        timer = threading.Timer(hard_limit or 0.0, stop)
        if hard_limit is not None:
            timer.start()
        try:
            pickle.dump(task, process.stdin)
            process.stdin.flush()
            return pickle.load(process.stdout)
        except (EOFError, OSError, pickle.UnpicklingError):
            return self._failure(process.wait(), time.perf_counter() - started, late.is_set())
        finally:
            timer.cancel()

    def end(self) -> None:
        """Kill the process, whatever it does; from another thread than that of a question."""
        self.ended = True
        if self.process is not None:
            self.process.kill()

    def close(self) -> None:
        """Kill the process, and close its pipes."""
        if self.process is None:
            return
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                with suppress(OSError):  # what was not sent yet has no reader
                    pipe.close()

    def _failure(self, code: int, seconds: float, late: bool) -> Failure:
        if late:
            return Failure(f"its process was ended after {seconds:.0f} seconds: a solver did not return", seconds, True)
        if code == OUT_OF_TIME:
            return Failure("its process was ended, its CPU seconds are used up: a solver did not return", seconds, True)
        how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        return Failure(f"its process crashed ({how}): a solver failed inside, or the memory was used up", seconds)

    def _start(self) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM.format(path=sys.path, parent=os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**dict.fromkeys(THREADS, "1"), **os.environ},
            # Ctrl-C reaches the whole group, also a process that is still starting and would print a traceback.
            process_group=0 if os.name == "posix" else None,
        )
        assert process.stdin is not None
        process.stdin.write(self.function)
        return process


def _follow(parent: int) -> None:
    """End this process when its parent ends, also in the middle of a task that nobody waits for any more."""
    while os.getppid() == parent:
        time.sleep(1.0)
    os._exit(1)


def serve(parent: int) -> None:
    """Answer the tasks on standard input until it ends: the main function of a worker process.

    Parameters
    ----------
    parent : number of the process that started this one, and that may have ended since.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the study ends its workers itself
    if sys.platform != "win32":  # where a process keeps the number of a parent that ended
        threading.Thread(target=_follow, args=(parent,), daemon=True).start()
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # a solver's prints must not come between the answers
    try:
        _answer(sys.stdin.buffer, answers)
    except (EOFError, BrokenPipeError):  # the study has closed the pipes, or has died: nobody waits for an answer
        os._exit(0)


def _answer(tasks: IO[bytes], answers: IO[bytes]) -> None:
    """Answer tasks; raises EOFError or BrokenPipeError where there are no more."""
    function = pickle.load(tasks)
    while True:
        task = pickle.load(tasks)
        try:
            result = function(task)
        except Exception as error:
            result = error
        try:
            answer = pickle.dumps(result)
        except Exception as error:
            answer = pickle.dumps(RuntimeError(f"{result!r} cannot be sent to another process: {error}"))
        answers.write(answer)
        answers.flush()
