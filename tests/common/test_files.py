"""Files are written whole or not at all; checkpoints of the same problem alone; figures, errors and texts of others."""

import os
import pickle
import stat
import sys
import unicodedata
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from IPython.core.formatters import PNGFormatter
from IPython.core.interactiveshell import InteractiveShell

from fsopt.common import files
from fsopt.common.figures import new_figure
from fsopt.common.files import Keeper, check_readable, check_writable, digest, read, whole_file, write_text
from fsopt.common.texts import one_line, printable
from fsopt.errors import FileError, PackageError


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_the_mode_of_a_replaced_file_is_kept_and_a_new_one_follows_the_umask(tmp_path):
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    old.write_text("old")
    for wanted in (0o600, 0o664, 0o755):
        old.chmod(wanted)
        write_text(old, "x")
        assert (old.read_text(), mode(old)) == ("x", wanted)
    before = os.umask(0o027)
    try:
        write_text(new, "y")
    finally:
        os.umask(before)
    assert mode(new) == 0o640
    assert sorted(p.name for p in tmp_path.iterdir()) == ["new.json", "old.json"]


def test_a_link_stays_and_its_file_is_replaced(tmp_path):
    (tmp_path / "there").mkdir()
    real, link, dangling = tmp_path / "there" / "real", tmp_path / "link", tmp_path / "dangling"
    real.write_text("old")
    link.symlink_to(real)
    write_text(link, "new")
    assert link.is_symlink()
    assert real.read_text() == "new"
    dangling.symlink_to(tmp_path / "there" / "later")
    write_text(dangling, "made")
    assert dangling.is_symlink()
    assert (tmp_path / "there" / "later").read_text() == "made"
    assert sorted(p.name for p in (tmp_path / "there").iterdir()) == ["later", "real"]


def test_a_broken_write_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "old.json"
    path.write_text("old")

    def broken():
        with whole_file(path) as temporary:
            temporary.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        broken()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("check", "name", "message"),
    [
        (check_writable, "n" * 300, "File name too long"),
        (check_writable, "a\0b", "null"),
        (check_writable, "~nosuchuser/x.json", "home directory"),
        (check_writable, "folder", "it is a folder, a device or a pipe"),
        (check_writable, "pipe", "it is a folder, a device or a pipe"),
        (check_writable, "nowhere/x.json", "there is no folder"),
        (check_writable, "file/x.json", "there is no folder"),
        (check_writable, "loop", "loop"),
        (check_readable, "folder", "Is a directory"),
        (check_readable, "nowhere", "No such file"),
    ],
)
def test_a_path_that_cannot_be_used_is_refused_with_its_reason(tmp_path, monkeypatch, check, name, message):
    monkeypatch.chdir(tmp_path)
    Path("folder").mkdir()
    Path("file").write_text("")
    Path("loop").symlink_to("loop")
    os.mkfifo("pipe")
    with pytest.raises(FileError, match=message) as caught:
        check(name)
    assert caught.value.hint
    assert len(str(caught.value)) < 500
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "folder", "loop", "pipe"]


def test_other_files_are_refused(tmp_path):
    place = tmp_path / "run.npz"
    with pytest.raises(FileError, match="No such file"):
        read(place, "a test", {})
    for content in (b"", b"nonsense", b"PK\x03\x04broken"):
        place.write_bytes(content)
        with pytest.raises(FileError, match="no checkpoint of a test"):
            read(place, "a test", {})
    np.savez(place, text=np.array(["x"], dtype=object), allow_pickle=True)
    with pytest.raises(FileError, match="no checkpoint of a test"):
        read(place, "a test", {})


def test_writing_takes_a_small_share_of_the_time(monkeypatch):
    """Where writing takes a second, and so does a node, a checkpoint comes after more than twenty nodes."""
    seconds, written = count(), []
    monkeypatch.setattr(files, "time", SimpleNamespace(perf_counter=lambda: float(next(seconds))))
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


def test_a_notebook_shows_a_figure_without_a_backend():
    figure = new_figure(2)
    figure.axes[1].plot([1, 2])
    for one in (figure, pickle.loads(pickle.dumps(figure))):
        assert PNGFormatter()(one).startswith(b"\x89PNG")


def test_a_notebook_shows_an_error_of_the_user_in_one_line(capsys):
    shell = InteractiveShell()
    shell.user_ns["error"] = PackageError("plots need matplotlib, which is not installed", "pip install fsopt[plot]")
    assert not shell.run_cell("def f():\n    raise error\nf()").success
    said = "package: plots need matplotlib, which is not installed: pip install fsopt[plot]"
    assert capsys.readouterr().out.strip() == said


def test_a_name_keeps_its_letters_and_loses_its_commands_alone():
    kept = "größe 面 שלום \u200f é\u0301 [a]"
    assert printable(kept + "\t\n") == kept + "\t\n"
    assert one_line(kept + "\t\n") == kept + "\\x09\\x0a"
    assert printable("a\x1b[2Jb\x00\r.\u202etxt") == "a\\x1b[2Jb\\x00\\x0d.\\u202etxt"


def test_all_controls_of_unicode_and_all_that_turn_the_direction_are_among_them():
    turning = ("LRE", "RLE", "PDF", "LRO", "RLO", "LRI", "RLI", "FSI", "PDI", "B")
    told, others = [], []
    for sign in map(chr, range(sys.maxunicode + 1)):
        tells = unicodedata.category(sign) in ("Cc", "Zl", "Zp") or unicodedata.bidirectional(sign) in turning
        (told if tells else others).append(sign)
    assert one_line("".join(others)) == "".join(others)
    assert all(one_line(sign) != sign for sign in told)
