"""Which test runs which line, and some tests alone: pytest in processes that are branched off this one."""

from __future__ import annotations

import multiprocessing
import os
import resource
import signal
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from coverage import Coverage

COMMAND = ("-q", "-x", "-p", "no:cacheprovider", "--hypothesis-seed=0", "-m", "not slow")
CACHED = type(cache(len))
Seconds = dict[str, float]
"""Tests, each with its seconds of a processor."""
Lines = dict[str, dict[int, set[str]]]
"""Modules -> lines -> names of the tests that run them."""


def branched(function: Callable[..., Any], *args: object, limit: float | None = None) -> Any:
    """Return what a function returns in a process of its own, None if that ends otherwise or lasts too long."""
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_send, args=(there, function, *args))
    process.start()
    there.close()
    try:
        return here.recv() if here.poll(limit) else None
    except EOFError:
        return None
    finally:
        process.kill()
        process.join()


def _send(there: Any, function: Callable[..., Any], *args: object) -> None:
    """Send what a function returns; what it writes goes into a file, and it gets 12 GiB of memory."""
    resource.setrlimit(resource.RLIMIT_AS, (12 << 30, 12 << 30))
    with Path("output").open("w") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    there.send(function(*args))


def passed(tests: Seconds) -> bool:
    """Return whether some tests pass, in their order, each in a time in proportion to its seconds."""
    signal.setitimer(signal.ITIMER_PROF, 60.0)  # what runs when a module of tests is imported may have no end
    files = dict.fromkeys(name.partition("::")[0] for name in tests)
    code = pytest.main([*COMMAND, *files], plugins=[_Chosen(tests)])
    return code in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)


class _Chosen:
    """Some tests in their order; the process ends with one that takes much longer than when it was recorded."""

    def __init__(self, tests: Seconds) -> None:
        self.tests = tests

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        order = {name: k for k, name in enumerate(self.tests)}
        items[:] = sorted((i for i in items if i.nodeid in order), key=lambda i: order[i.nodeid])

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> None:
        signal.setitimer(signal.ITIMER_PROF, 5.0 + 3.0 * self.tests[item.nodeid])


def record(places: Iterable[str], shelves: list[str]) -> tuple[Seconds, Lines] | None:
    """Return the tests at some places, and the lines of some shelves; None if one fails."""
    coverage = Coverage(data_file=None, config_file=False, source=shelves, messages=False)
    plugin = _Recording(coverage)
    with coverage.collect():
        code = pytest.main([*COMMAND, *places], plugins=[plugin])
    data, users = coverage.get_data(), plugin.users
    files = {os.path.relpath(file): data.contexts_by_lineno(file) for file in data.measured_files()}
    lines = {
        path: {line: {name for c in contexts for name in users.get(c, {c})} for line, contexts in found.items()}
        for path, found in files.items()
    }
    return (plugin.seconds, lines) if code == pytest.ExitCode.OK else None


class _Recording:
    """The context of a line is the test that runs, or the fixture of several tests; tests share no caches."""

    def __init__(self, coverage: Coverage) -> None:
        self.coverage = coverage
        self.seconds: Seconds = {}
        self.users: dict[str, set[str]] = defaultdict(set)
        self.context = ""

    def switch(self, context: str) -> str:
        before, self.context = self.context, context
        self.coverage.switch_context(context)
        return before

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Function) -> Iterator[None]:
        _forget()
        for name in item.fixturenames:
            self.users[f"fixture {name}"].add(item.nodeid)
        self.switch(item.nodeid)
        start = time.process_time()
        try:
            return (yield)
        finally:
            self.seconds[item.nodeid] = time.process_time() - start
            self.switch("")

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any]) -> Iterator[None]:
        before = self.switch(self.context if fixturedef.scope == "function" else f"fixture {fixturedef.argname}")
        try:
            return (yield)
        finally:
            self.switch(before)


def _forget() -> None:
    """Empty the caches of functions of the package and of the tests."""
    here = os.getcwd()
    own = [module for module in list(sys.modules.values()) if str(getattr(module, "__file__", "")).startswith(here)]
    for value in [value for module in own for value in vars(module).values() if type(value) is CACHED]:
        value.cache_clear()
