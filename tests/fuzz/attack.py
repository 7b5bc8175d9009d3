"""What every attack shares: seeded damage, and the count of how cases end; FSOPT_FUZZ multiplies their number."""

import os
import resource
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from fsopt.errors import FsoptError, InternalError

FACTOR = int(os.environ.get("FSOPT_FUZZ", "1"))
MOST_SECONDS, MOST_BYTES = 20.0, 1_000_000_000
TOKENS = (
    *(b'"', b"'", b"\n", b"\r", b"\t", b",", b";", b":", b"\\", b"%", b"#", b"@", b"{", b"}", b"[", b"]", b"=", b"\0"),
    *(b"nan", b"inf", b"-inf", b"?", b"1e999", b"-1e-999", b"9" * 400, b"1_0", b"0x1F", b"True", b"1,5", b"-0", b"1e"),
    *(b"\xef\xbb\xbf", b"\xff\xfe", b"\xe9", b"\xf0\x9f\x98\x80", b"\xed\xa0\x80", "\u2028".encode(), b"\x1a", b"\x7f"),
    *(b"2147483648", b"4294967296", b"9223372036854775808", b"100000000", b"-1", b"null", b"true", b"[" * 3000, b"{}"),
)
"""Texts at which parsers stumble."""


class Nasty:
    """An object whose every conversion fails."""

    def fail(self, *arguments, **keywords):
        raise RuntimeError("no conversion")

    __repr__ = __array__ = __len__ = __iter__ = __float__ = fail


def generator(*seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def damaged(content: bytes, rng: np.random.Generator) -> bytes:
    """Return content with one injury, or a few: a part is lost, doubled, noise, a token, or has another bit."""
    for _ in range(int(rng.choice([1, 1, 1, 2, 4]))):
        i, j = sorted(rng.integers(0, len(content) + 1, 2).tolist())
        part = content[i : min(j, i + int(rng.choice([0, 1, 2, 8, 40, 10**6])))]
        bit = bytes([part[0] ^ 1 << int(rng.integers(8))]) + part[1:] if part else b""
        others = (b"", part * 2, bit, rng.bytes(len(part) + 1), TOKENS[rng.integers(len(TOKENS))])
        content = content[:i] + others[rng.integers(len(others))] + content[i + len(part) :]
    return content


@contextmanager
def bounded() -> Iterator[None]:
    """Allow one gigabyte beyond the present size: a larger request fails, and is a fault."""
    status = Path("/proc/self/status")
    if not status.exists():
        yield
        return
    used = next(int(line.split()[1]) * 1024 for line in status.read_text().splitlines() if line.startswith("VmData"))
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (used + MOST_BYTES, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def attack(cases: Iterable[tuple[str, Callable[[], object]]]) -> dict[str, int]:
    """Run all cases and return how they ended, "answer" or the kind of an error; fail with the list of all faults."""
    ends: dict[str, int] = {}
    faults: list[str] = []
    for name, call in cases:
        started = time.process_time()
        end = "fault"
        try:
            with warnings.catch_warnings(action="ignore"), bounded():
                call()
            end = "answer"
        except FsoptError as error:
            end = error.kind
            if isinstance(error, InternalError) or not error.message or not error.hint:
                faults.append(f"{name}: {error!r} of the kind {error.kind}, with the hint {error.hint!r}")
        except Exception as error:
            faults.append(f"{name}: {type(error).__module__}.{type(error).__name__}: {str(error)[:200]}")
        if time.process_time() - started > MOST_SECONDS:
            faults.append(f"{name}: {time.process_time() - started:.0f} seconds")
        ends[end] = ends.get(end, 0) + 1
    assert not faults, f"{len(faults)} of {sum(ends.values())} cases ({ends}):\n" + "\n".join(faults[:40])
    return ends
