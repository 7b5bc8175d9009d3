"""Memory: what does not fit is refused by an estimate, before any of it is taken."""

from __future__ import annotations

import numpy as np
import pytest
from support import blobs

import fsopt
from fsopt.common import memory
from fsopt.errors import MemoryLimitError

LITTLE = 1000.0
"""Bytes: less than a copy of 40 samples of 4 features."""


def test_every_method_refuses_data_that_do_not_fit(monkeypatch):
    data = blobs(40, 4, seed=1)
    monkeypatch.setattr(memory, "free_bytes", lambda: LITTLE)
    monkeypatch.setattr(np, "zeros", lambda *args, **keywords: pytest.fail("an array was made"))
    for method in fsopt.METHODS:
        with pytest.raises(MemoryLimitError, match=rf"'{method}' for 40 samples and 4 features need about 2.56e-06 GB"):
            fsopt.fit(method, data)


def test_kernel_values_of_terabytes_are_refused_with_their_size():
    with pytest.raises(MemoryLimitError, match=r"400000 samples need about 2.56e\+03 GB") as refused:
        fsopt.fit("svm", blobs(400_000, 1, seed=1), kernel="gaussian")
    assert "leave the kernel out" in refused.value.hint
    assert refused.value.kind == "memory"


@pytest.mark.parametrize("slug", ["svm", "gmeb-cuts"])
def test_a_model_is_refused_before_it_is_built(slug, monkeypatch):
    data = blobs(40, 4, seed=1)
    monkeypatch.setattr(memory, "free_bytes", lambda: 40 * 4 * memory.ENTRY - 1.0)
    with pytest.raises(MemoryLimitError, match="models of 40 samples and 4 features"):
        fsopt.build(slug, data)
    monkeypatch.setattr(memory, "free_bytes", lambda: 40 * 4 * memory.ENTRY + 0.0)
    fsopt.build(slug, data)


def test_the_limit_of_the_process_counts():
    resource = pytest.importorskip("resource")
    before, free = resource.getrlimit(resource.RLIMIT_AS), memory.free_bytes()
    size = 64 << 30
    resource.setrlimit(resource.RLIMIT_AS, (size, before[1]))
    try:
        assert memory.free_bytes() <= min(free * 1.5, size)
        with pytest.raises(MemoryLimitError, match="GB are free"):
            memory.require(size, "the arrays")
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
