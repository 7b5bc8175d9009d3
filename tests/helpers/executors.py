"""Executors for searches whose subtrees are tasks."""

import pickle
from concurrent.futures import BrokenExecutor, Executor, Future


class Remote(Executor):
    """An executor that runs a task at once, with nothing but what its pickled form carries, as a cluster does."""

    tasks = 0

    def submit(self, function, /, *args, **keywords):
        Remote.tasks += 1
        future = Future()
        function, args = pickle.loads(pickle.dumps((function, args)))
        future.set_result(pickle.loads(pickle.dumps(function(*args, **keywords))))
        return future


class Lost(Executor):
    """An executor whose processes are lost after some tasks; those after it are broken, or cancelled by their owner."""

    def __init__(self, after, cancelled=False):
        self.left, self.cancelled = after, cancelled

    def submit(self, function, /, *args, **keywords):
        future = Future()
        self.left -= 1
        if self.left < 0 and self.cancelled:
            future.cancel()
        elif self.left < 0:
            future.set_exception(BrokenExecutor("a process was killed"))
        else:
            future.set_result(pickle.loads(pickle.dumps(function(*args, **keywords))))
        return future


class Late(Executor):
    """An executor that runs a task when its result is asked for."""

    def submit(self, function, /, *args, **keywords):
        future = Future()
        future.result = lambda: function(*args, **keywords)
        return future
