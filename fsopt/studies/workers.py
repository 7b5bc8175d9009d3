"""Worker processes: the tasks of a study in processes of their own, which may crash or hang without harm to the others.

A solver that crashes takes its process with it, and one that hangs looks at no clock and hears no signal. Each worker
is a Python process that gets one task after the other through its pipes; where it ends, or is ended at the hard limit,
its task has a :class:`Failure` for a result, and a new worker goes on.
"""

from __future__ import annotations

import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeAlias

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""Variables that a worker gets, unless the user has set them: all workers together use each processor once."""
PROGRAM = "import sys; sys.path[:] = {path!r}; from fsopt.studies.workers import serve; serve()"
PAUSE = 0.2
"""Seconds after which the wait for a result is renewed: on some systems Ctrl-C is heard between two waits only."""

Answer: TypeAlias = tuple[int, Any]


@dataclass(frozen=True)
class Failure:
    """The result of a task whose process crashed, or was ended at the hard limit, after so many seconds."""

    message: str
    seconds: float


def portable(value: Any) -> bool:
    """Return whether another process can be sent a value: no function in it is of the main script or of a function."""
    try:
        return b"__main__" not in pickle.dumps(value)
    except Exception:  # a lambda, a function in a function, or whatever else cannot be pickled
        return False


def run_tasks(
    function: Callable[[Any], Any], tasks: Sequence[Any], *, jobs: int, hard_limit: float | None = None
) -> Iterator[Answer]:
    """Run a function on tasks in worker processes, and yield (place of the task, its result) as they end.

    Parameters
    ----------
    function : pickled once for each worker: a function of a module, or a ``functools.partial`` of one.
    tasks : its arguments, pickled too.
    jobs : number of processes; -1 takes all processors.
    hard_limit : seconds after which the process of a task is killed; None for no limit.

    Yields
    ------
    (int, object)
        A :class:`Failure` instead of the result where the process crashed or was killed. An exception of the function
        is raised here.
    """
    count = min(os.cpu_count() or 1 if jobs < 0 else jobs, len(tasks))
    waiting: queue.SimpleQueue[tuple[int, Any]] = queue.SimpleQueue()
    for item in enumerate(tasks):
        waiting.put(item)
    done: queue.SimpleQueue[Answer] = queue.SimpleQueue()
    workers = [_Worker(function, waiting, done, count, hard_limit) for _ in range(count)]
    try:
        for worker in workers:
            worker.start()
        for _ in tasks:
            place, result = _next(done)
            if isinstance(result, BaseException):
                raise result
            yield place, result
    finally:
        for worker in workers:
            worker.end()


def _next(done: queue.SimpleQueue[Answer]) -> Answer:
    while True:  # until a worker answers, and each answers every task or says why not
        try:
            return done.get(timeout=PAUSE)
        except queue.Empty:
            continue


class _Worker(threading.Thread):
    """A thread that hands tasks to one process, and starts another process where that one ended."""

    def __init__(
        self,
        function: Callable[[Any], Any],
        waiting: queue.SimpleQueue[tuple[int, Any]],
        done: queue.SimpleQueue[Answer],
        count: int,
        hard_limit: float | None,
    ) -> None:
        super().__init__(daemon=True)
        self.function = pickle.dumps(function)
        self.waiting, self.done = waiting, done
        self.count, self.hard_limit = count, hard_limit
        self.process: subprocess.Popen[bytes] | None = None
        self.ended = False

    def run(self) -> None:
        """Hand out tasks until none is left."""
        while not self.ended:
            try:
                place, task = self.waiting.get_nowait()
            except queue.Empty:
                break
            try:
                self.done.put((place, self._ask(task)))
            except BaseException as error:  # whatever it is: the study would wait for this task for ever
                self.done.put((place, error))
        self._close()

    def end(self) -> None:
        """Kill the process, whatever it does, and wait for the thread."""
        self.ended = True
        if self.process is not None:
            self.process.kill()
        if self.ident is not None:
            self.join()

    def _close(self) -> None:
        """Kill the process, and close its pipes."""
        if self.process is None:
            return
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                with suppress(OSError):  # what was not sent yet has no reader
                    pipe.close()

    def _ask(self, task: Any) -> Any:
        """Return the result of a task, the exception that it raised, or a Failure."""
        if self.process is None or self.process.poll() is not None:
            self._close()
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
        timer = threading.Timer(self.hard_limit or 0.0, stop)
        if self.hard_limit is not None:
            timer.start()
        try:
            pickle.dump(task, process.stdin)
            process.stdin.flush()
            return pickle.load(process.stdout)
        except (EOFError, OSError, pickle.UnpicklingError):
            return Failure(self._reason(process, late.is_set()), time.perf_counter() - started)
        finally:
            timer.cancel()

    def _reason(self, process: subprocess.Popen[bytes], late: bool) -> str:
        code = process.wait()
        if late:
            return f"its process was ended after {self.hard_limit:g} seconds: a solver did not return"
        how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        return f"its process crashed ({how}): a solver failed inside, or the memory was used up"

    def _start(self) -> subprocess.Popen[bytes]:
        share = str(max(1, (os.cpu_count() or 1) // self.count))
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM.format(path=sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**dict.fromkeys(THREADS, share), **os.environ},
        )
        assert process.stdin is not None
        process.stdin.write(self.function)
        return process


def serve() -> None:
    """Answer the tasks on standard input until it ends: the main function of a worker process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the study ends its workers itself
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # a solver's prints must not come between the answers
    function = pickle.load(sys.stdin.buffer)
    while True:  # until the study closes the pipe
        try:
            task = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
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
