"""Files are written whole or not at all, in place of files alone: never of devices, pipes and links."""

from __future__ import annotations

import os
import shutil
import stat
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

from fsopt.common.files import check_readable, check_writable, only_mine, whole_file, write_text
from fsopt.errors import FileError

LONG = "n" * 300


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


@pytest.mark.parametrize("device", ["/dev/null", "/dev/full"])
def test_a_device_is_written_and_not_replaced(device, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(device)
    for path in (Path(device), link):
        if device == "/dev/null":
            write_text(path, "text")
        else:
            with pytest.raises(FileError, match=r"cannot write .*No space left"):
                write_text(path, "text")
    assert stat.S_ISCHR(os.stat(device).st_mode)
    assert link.is_symlink()


def test_a_pipe_is_written_and_not_replaced(tmp_path):
    pipe, got = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: got.append(pipe.read_text()))
    reader.start()
    write_text(pipe, "through")
    reader.join(10)
    assert got == ["through"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


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
        (check_writable, LONG, "File name too long"),
        (check_writable, "a\0b", "null"),
        (check_writable, "~nosuchuser/x.json", "home directory"),
        (check_writable, "folder", "it is a folder"),
        (check_writable, "nowhere/x.json", "there is no folder"),
        (check_writable, "file/x.json", "there is no folder"),
        (check_writable, "loop", "symbolic links"),
        (check_readable, LONG, "File name too long"),
        (check_readable, "a\0b", "null"),
        (check_readable, "~nosuchuser/x", "home directory"),
        (check_readable, "folder", "it is a folder"),
        (check_readable, "nowhere", "No such file"),
        (check_readable, "/dev/zero", "it is a device"),
    ],
)
def test_a_path_that_cannot_be_used_is_refused_with_its_reason(tmp_path, monkeypatch, check, name, message):
    monkeypatch.chdir(tmp_path)
    Path("folder").mkdir()
    Path("file").write_text("")
    Path("loop").symlink_to("loop")
    with pytest.raises(FileError, match=message) as caught:
        check(name)
    assert caught.value.hint
    assert len(str(caught.value)) < 500
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "folder", "loop"]


def test_the_longest_name_is_written(tmp_path):
    path = tmp_path / ("n" * 250 + ".json")
    write_text(path, "x")
    assert path.read_text() == "x"


# ------------------------------------------------ files that are run as code

OPEN = {
    "as it is": (lambda place: None, True),
    "the folder, all write": (lambda place: place.chmod(0o777), False),
    "the folder, all write into it alone": (lambda place: place.chmod(0o1777), False),
    "the folder, a group writes": (lambda place: grouped(place), False),
    "the folder is another user's": (lambda place: os.chown(place, 65534, -1), False),
    "a file, all write": (lambda place: (place / "a.nbi").chmod(0o666), False),
    "a file is another user's": (lambda place: os.chown(place / "a.nbi", 65534, -1), False),
    "a file is a link": (lambda place: (place / "b.nbi").symlink_to("/etc/passwd"), False),
    "another file, all write": (lambda place: (place / "a.txt").chmod(0o666), True),
    "the folder above, all write": (lambda place: place.parent.chmod(0o777), False),
    "the folder above, all write into it alone": (lambda place: place.parent.chmod(0o1777), True),
    "the folder above is another user's": (lambda place: os.chown(place.parent, 65534, -1), False),
    "no such folder": (lambda place: shutil.rmtree(place), True),
    "no such folder in one of all": (lambda place: (shutil.rmtree(place), place.parent.chmod(0o1777)), False),
}
"""What is done to a folder of compiled functions -> whether it is still this user's alone."""


def grouped(place):
    place.chmod(0o775)
    if os.getuid() == 0:
        os.chown(place, -1, 65534)


@pytest.mark.skipif(os.name != "posix", reason="other systems have no modes")
@pytest.mark.parametrize("what", OPEN)
def test_code_is_read_only_where_nobody_else_can_write(what, tmp_path):
    if "another user" in what and os.getuid():
        pytest.skip("only root gives files away")
    change, wanted = OPEN[what]
    place = tmp_path / "above" / "cache"
    place.mkdir(parents=True)
    for name in ("a.nbi", "a.txt"):
        (place / name).touch()
    change(place)
    assert only_mine(place, "*.nb?") is wanted
    (tmp_path / "link").symlink_to(place)
    assert only_mine(tmp_path / "link", "*.nb?") is wanted


@pytest.mark.skipif(os.name != "posix", reason="other systems have no modes")
def test_a_group_of_one_may_write(tmp_path, monkeypatch):
    tmp_path.chmod(0o770)
    group = SimpleNamespace(gr_name="me", gr_mem=[])
    monkeypatch.setattr("grp.getgrgid", lambda number: group)
    monkeypatch.setattr("pwd.getpwuid", lambda number: SimpleNamespace(pw_name="me"))
    assert only_mine(tmp_path, "*")
    group.gr_mem.append("other")
    assert not only_mine(tmp_path, "*")
