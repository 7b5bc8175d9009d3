"""Checkpoints of searches: what was written is read, of the same problem alone, and writing takes little time."""

from itertools import count
from types import SimpleNamespace

import numpy as np
import pytest

from fsopt.common import checkpoints
from fsopt.common.checkpoints import Keeper, digest, read, write
from fsopt.errors import FileError

PROBLEM = {"format": "test 1", "data": "a" * 64, "c": "1.0"}


def test_what_was_written_is_read(tmp_path):
    place, numbers = tmp_path / "run.npz", np.arange(3.0)
    write(place, PROBLEM, {"nodes": 7}, {"numbers": numbers})
    words, arrays = read(place, "a test", PROBLEM)
    assert words["nodes"] == 7
    assert arrays["numbers"].tolist() == numbers.tolist()


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"c": "2.0"}, r"differs in c \(1.0, not 2.0\)"),
        ({"data": "b" * 64}, "differs in data:"),
        ({"weights": "b" * 64}, "differs in weights:"),
    ],
)
def test_another_problem_is_refused_by_the_name_of_what_differs(changed, words, tmp_path):
    place = tmp_path / "run.npz"
    write(place, PROBLEM, {}, {})
    with pytest.raises(FileError, match=words):
        read(place, "a test", PROBLEM | changed)


def test_other_files_are_refused(tmp_path):
    place = tmp_path / "run.npz"
    with pytest.raises(FileError, match="No such file"):
        read(place, "a test", PROBLEM)
    for content in (b"", b"nonsense", b"PK\x03\x04broken"):
        place.write_bytes(content)
        with pytest.raises(FileError, match="no checkpoint of a test"):
            read(place, "a test", PROBLEM)
    np.savez(place, text=np.array(["x"], dtype=object), allow_pickle=True)
    with pytest.raises(FileError, match="no checkpoint of a test"):
        read(place, "a test", PROBLEM)


def test_writing_takes_a_small_share_of_the_time(monkeypatch):
    """Where writing takes a second, and so does a node, a checkpoint comes after more than twenty nodes."""
    seconds, written = count(), []
    monkeypatch.setattr(checkpoints, "time", SimpleNamespace(perf_counter=lambda: float(next(seconds))))
    keeper = Keeper("run.npz", lambda path, nodes: written.append(nodes))
    for nodes in range(100):
        if keeper.due():
            keeper.write(nodes)
    assert written == [0, 21, 42, 63, 84]
    nowhere = Keeper(None, lambda path: pytest.fail("there is no place"))
    nowhere.write()
    assert not nowhere.due()


def test_a_digest_tells_shapes_and_parts_apart():
    assert digest([1.0, 2.0]) != digest([[1.0], [2.0]])
    assert digest([1.0], [2.0]) != digest([1.0, 2.0])
    assert digest(np.ones((2, 3))[:, ::2]) == digest(np.ones((2, 2)))
