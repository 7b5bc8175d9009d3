"""Stores travel: read where nothing can be written, copied during a run, and read in spite of damaged rows."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reproductions import run
from support import ROOT, blobs

import fsopt
from fsopt.cli import main
from fsopt.cli.studying import _told
from fsopt.errors import FileError, StoreLost
from fsopt.studies import snapshots, store
from fsopt.studies.executors import InProcess
from fsopt.studies.store import PLAIN, copy_store, opened

EDITS = 40 * int(os.environ.get("FSOPT_FUZZ", "1"))
STUDY = {
    "name": "small",
    "data": [blobs(40, 3)],
    "folds": 2,
    "time_limit": 20,
    "methods": [
        {"name": "pearson"},
        {"name": "l1-svm", "grid": {"c": [0.1, 1.0]}, "tune": True, "inner_folds": 2},
        {"name": "l1-mpm", "params": {"delta": 0.999}},
    ],
}
NOBODY = 65534
READ = """
import os, sys
from fsopt.studies.store import opened
def read(place):
    with opened(place) as held:
        return [row["state"] for row in held.rows()]
read(sys.argv[1])  # loads what another user might not
if os.getuid() == 0:
    os.setgid({nobody}); os.setuid({nobody})
for place in sys.argv[2:]:
    print(*sorted(read(place)))
"""
"""Reads as a user who cannot write the folder: nothing is read-only for root."""


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """A store at rest."""
    place = tmp_path_factory.mktemp("stores") / "original.sqlite"
    fsopt.run_study(STUDY, executor=InProcess(), store=place)
    return place


def left_by_a_kill(place: Path, *, log: bool) -> None:
    """Change a store to one whose run was killed: rows are in its log, or it lies there without one."""
    with sqlite3.connect(place) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        if log:
            connection.execute("UPDATE units SET seconds = 7.5")
    files = [f"{place}{end}" for end in ("", "-wal", "-shm")] if log else []
    for file in files:
        shutil.copyfile(file, f"{file}.kept")
    connection.close()
    for file in files:
        os.replace(f"{file}.kept", file)


def rows_of(place: Path) -> list[dict[str, Any]]:
    with opened(place) as held:
        return list(held.rows())


def seconds_of(place: Path) -> set[float]:
    return {row["seconds"] for row in rows_of(place)}


def finished(place: Path) -> int:
    return sum(row["state"] != "waiting" for row in rows_of(place))


@pytest.fixture
def place(original, tmp_path):
    """A copy of the store, alone in its folder."""
    return Path(shutil.copyfile(original, tmp_path / "s.sqlite"))


def test_a_store_at_rest_is_one_file_and_reading_leaves_no_other(place):
    left_by_a_kill(place, log=False)
    assert seconds_of(place)
    assert [file.name for file in place.parent.iterdir()] == ["s.sqlite"]


@pytest.mark.parametrize("lost", ["", "-shm"])
def test_the_rows_in_the_log_of_a_killed_run_are_read(place, lost):
    left_by_a_kill(place, log=True)
    if lost:
        Path(f"{place}{lost}").unlink()
    before = sorted(file.name for file in place.parent.iterdir())
    assert seconds_of(place) == {7.5}
    assert sorted(file.name for file in place.parent.iterdir()) == before


def test_half_of_a_transaction_of_a_killed_run_is_taken_back(place, tmp_path_factory):
    wanted = seconds_of(place)
    program = (
        "import os, sqlite3, sys\n"
        "c = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "c.execute('PRAGMA cache_size = 1')\n"
        "c.execute('BEGIN'); c.execute('UPDATE units SET seconds = 9.5, error = hex(zeroblob(9999))')\n"
        "os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", program, str(place)], check=True)
    assert Path(f"{place}-journal").exists()
    assert seconds_of(place) == wanted


@pytest.mark.slow
def test_a_store_in_a_folder_that_cannot_be_written_is_read(original):
    folder = Path(tempfile.mkdtemp())  # where another user gets in, too
    try:
        places = [folder / name for name in ("rest.sqlite", "killed.sqlite", "without.sqlite")]
        for place in places:
            shutil.copyfile(original, place)
        left_by_a_kill(places[1], log=True)
        left_by_a_kill(places[2], log=False)
        for file in folder.iterdir():
            file.chmod(0o444)
        folder.chmod(0o555)
        words = [sys.executable, "-c", READ.format(nobody=NOBODY), original, *places]
        done = subprocess.run(words, cwd=ROOT, env=environment(), capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout == "done done done done failed failed\n" * 3
    finally:
        folder.chmod(0o755)
        shutil.rmtree(folder)


def environment():
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]), "HOME": "/"}


@pytest.mark.slow
def test_during_a_run_the_file_alone_has_the_rows_and_readers_hinder_nobody(tmp_path, monkeypatch):
    place, copied, seen = tmp_path / "s.sqlite", tmp_path / "copied", []
    monkeypatch.setattr(store, "OFTEN", 0.0)

    def look(state):
        subprocess.run(["cp", place, copied], check=True)  # of another process: this one has locks to lose
        seen.append(finished(copied))
        copied.unlink()
        copy_store(place, copied)
        seen.append(finished(copied))
        copied.unlink()

    fsopt.run_study(STUDY, store=place, jobs=1, progress=look)
    assert seen == [k for k in range(1, 7) for _ in range(2)]
    assert [file.name for file in tmp_path.iterdir()] == ["s.sqlite"]


def test_a_folder_of_other_machines_has_a_journal_that_needs_no_memory_in_common(tmp_path, monkeypatch):
    modes = []
    rest = {"store": tmp_path / "s.sqlite", "executor": InProcess()}
    rest["progress"] = lambda state: modes.append((tmp_path / "s.sqlite-wal").exists())
    study = {**STUDY, "methods": STUDY["methods"][:1]}
    fsopt.run_study(study, **rest)
    monkeypatch.setattr(store, "local", lambda folder: False)
    fsopt.run_study({**study, "seeds": [1]}, **rest)
    assert modes == [True] * 2 + [False] * 2


def test_the_kind_of_a_file_system_is_that_of_the_mount_which_holds_the_folder(tmp_path, monkeypatch):
    lines = (
        "22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw",
        "40 22 0:50 / /home rw - nfs4 server:/home rw,vers=4.2",
        r"41 40 0:51 / /home/my\040disk rw shared:7 master:2 - xfs /dev/sdb1 rw",
        "42 22 0:52 / /scratch rw - lustre mgs:/scratch rw",
        "43 22 0:53 / /sshfs rw - fuse.sshfs host:/ rw",
    )
    (tmp_path / "mounts").write_text("\n".join(lines) + "\n")
    monkeypatch.setattr(snapshots, "MOUNTS", tmp_path / "mounts")
    found = {
        place: snapshots.local(Path(place)) for place in ("/tmp", "/home/a", "/home/my disk/b", "/scratch", "/homes")
    }
    assert found == {"/tmp": True, "/home/a": False, "/home/my disk/b": True, "/scratch": False, "/homes": True}
    assert not snapshots.local(Path("/sshfs/x"))
    monkeypatch.setattr(snapshots, "MOUNTS", tmp_path / "none")
    assert not snapshots.local(Path("/tmp")), "a system that does not say"


def test_a_run_waits_while_its_disk_is_full(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "OFTEN", 0.05)
    with opened(tmp_path / "s.sqlite", write=True) as held:
        [size] = held.connection.execute("PRAGMA page_count").fetchone()
        held.connection.execute(
            "INSERT INTO units (key, data, method, params, state) VALUES ('k', 'd', 'm', '{}', 'waiting')"
        )
        held.connection.commit()
        held.connection.execute(f"PRAGMA max_page_count = {size}")
        row = {"state": "done", "error": "x" * 20_000, "seconds": 1.0}
        monkeypatch.setattr(store, "PATIENCE", 0.2)
        with pytest.warns(UserWarning, match="full"), pytest.raises(sqlite3.OperationalError, match="full"):
            held.save("k", row)
        monkeypatch.setattr(store, "PATIENCE", 60.0)
        monkeypatch.setattr(store.time, "sleep", lambda s: held.connection.execute("PRAGMA max_page_count = 100000"))
        with pytest.warns(UserWarning, match="the run waits"):
            held.save("k", row)
        assert held.connection.execute("SELECT state FROM units").fetchone()[0] == "done"


def test_a_copy_is_never_put_over_another_store_or_beside_its_log(place, tmp_path, capsys):
    run(f"study --store {place} -o {tmp_path / 'new.sqlite'}", capsys)
    assert seconds_of(tmp_path / "new.sqlite") == seconds_of(place)
    for there in (place, tmp_path / "new.sqlite"):
        with pytest.raises(FileError, match="there is a store"):
            copy_store(place, there)
    (tmp_path / "other.sqlite-wal").write_bytes(b"log")
    with pytest.raises(FileError, match="log"):
        copy_store(place, tmp_path / "other.sqlite")


BESIDE = {
    "trigger": "CREATE TRIGGER t AFTER UPDATE ON units BEGIN UPDATE units SET accuracy = 1.0; END",
    "view": "CREATE VIEW v AS WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n) SELECT k FROM n",
    "index": "CREATE INDEX i ON units (abs(seconds))",
    "table": "CREATE TABLE sqlite (a)",
    "virtual table": "CREATE VIRTUAL TABLE t USING fts5(a)",
    "endless rows": f"""DROP TABLE units; CREATE VIEW units AS WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k + 1
        FROM n) SELECT '' AS key, {", ".join(f"k AS {name}" for name in PLAIN)} FROM n""",
    "generated column": "ALTER TABLE units ADD COLUMN more AS (seconds)",
    "missing table": "DROP TABLE parts",
    "missing column": "ALTER TABLE units DROP COLUMN trace",
    "other type": f"DROP TABLE units; CREATE TABLE units (key TEXT, {', '.join(PLAIN)})",
    "statement of its own": "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = 'CREATE VIEW v AS SELECT 1'",
}
"""What a schema has beside ours, or in place of it."""


@pytest.mark.parametrize("what", BESIDE)
def test_a_store_with_another_schema_is_refused_before_it_is_read_or_written(what, place, capsys):
    with sqlite3.connect(place) as connection:
        connection.executescript(BESIDE[what])
    connection.close()
    before = place.read_bytes()
    for more in ("", f"-o {place}.csv", f"-o {place}.html", f"-o {place}.db"):
        out, err = run(f"study --store {place} {more}", capsys, code=2)
        assert (out, err.count("\n")) == ("", 1)
        assert "which no run makes" in err or "is missing or another one: give the name of a new file" in err
    with pytest.raises(FileError, match=r"no run makes|another one|damaged"):
        fsopt.run_study({**STUDY, "seeds": [5]}, executor=InProcess(), store=place)
    assert place.read_bytes() == before
    assert [file.name for file in place.parent.iterdir()] == ["s.sqlite"]


def removed(place):
    for file in place.parent.glob("s.sqlite*"):
        file.unlink()


def laid_over(place):
    original = place.with_name("other")
    with opened(original, write=True) as held:
        held.plan("small", [])
    place.write_bytes(original.read_bytes())


CHANGES = {
    "removed": removed,
    "folder removed": lambda place: shutil.rmtree(place.parent),
    "moved": lambda place: place.rename(place.with_name("away")),
    "replaced": lambda place: shutil.copyfile(place, f"{place}.2") and os.replace(f"{place}.2", place),
    "replaced by a folder": lambda place: (removed(place), place.mkdir()),
    "cut off": lambda place: os.truncate(place, 0),
    "laid over": laid_over,
    "a trigger": lambda place: sqlite3.connect(place).execute(BESIDE["trigger"]).connection.close(),
    "a table dropped": lambda place: sqlite3.connect(place).execute("DROP TABLE units").connection.close(),
    "rows removed": lambda place: deleted(place),
}
"""What others do to a store during a run."""


def deleted(place):
    with sqlite3.connect(place) as connection:
        connection.execute("DELETE FROM units")
    connection.close()


@pytest.mark.parametrize("local", [True, False], ids=["log", "journal"])
@pytest.mark.parametrize("when", [1, 2], ids=["within", "at the end"])
@pytest.mark.parametrize("change", CHANGES)
def test_a_run_whose_store_is_taken_away_says_so(change, when, local, tmp_path, monkeypatch):
    monkeypatch.setattr(store, "local", lambda folder: local)
    monkeypatch.setattr(store, "PATIENCE", 0.1)
    (tmp_path / "folder").mkdir()
    place = tmp_path / "folder" / "s.sqlite"
    study = {**STUDY, "methods": STUDY["methods"][:1]}
    if (change, when, local) == ("replaced", 2, False):
        return  # a file system that may number files anew, and a copy with all rows
    with pytest.raises(StoreLost, match=r"s\.sqlite|of 2 rows"):
        fsopt.run_study(
            study,
            executor=InProcess(),
            store=place,
            progress=lambda state: CHANGES[change](place) if state.finished == when else None,
        )


@pytest.mark.usefixtures("in_process")
def test_a_lost_store_is_one_line_and_exit_1(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q.toml").write_text('data = ["wdbc"]\nfolds = 2\n[[methods]]\nname = "pearson"\n')
    monkeypatch.setattr("fsopt.cli.studying._told", lambda state: removed(tmp_path / "s.sqlite") or "")
    out, err = run("study q.toml --store s.sqlite --jobs 1", capsys, code=1)
    assert (out, err.count("\n")) == ("", 1)
    assert "the store 's.sqlite' is gone" in err


VALUES = (None, "", "x", 7, -1, 2.5, 1e308, "1e400", b"\xff\xfe", "\ud800".encode("utf-8", "surrogatepass"), "[" * 5000)
JSONS = (
    "{",
    "[]",
    "{}",
    "null",
    "NaN",
    "[NaN]",
    '{"tuned": []}',
    '{"tuned": [3]}',
    '[[1, "a", 2]]',
    '"text"',
    "[" * 900 + "]" * 900,
)
STATEMENTS = (
    "DROP TABLE units",
    "DROP TABLE plans",
    "DELETE FROM units",
    "DELETE FROM plans",
    "ALTER TABLE units DROP COLUMN state",
    "PRAGMA user_version = 9",
    "PRAGMA application_id = 0",
    "ALTER TABLE units RENAME COLUMN data TO file",
)
WORDS = ("", "--json", "-o {0}/rows.csv", "-o {0}/page.html")


def edited(place: Path, rng: np.random.Generator) -> str:
    """Change a store in one place; return what was done."""
    kind = rng.integers(10)
    if kind < 2:
        content = place.read_bytes()
        at = int(rng.integers(0, len(content)))
        place.write_bytes(content[:at] + (rng.bytes(40) + content[at + 40 :] if kind else b""))
        return f"{'noise' if kind else 'cut off'} at {at}"
    with sqlite3.connect(place, isolation_level=None) as connection:
        if kind == 2:
            statement = STATEMENTS[rng.integers(len(STATEMENTS))]
            connection.execute(statement)
            return statement
        table, columns = ("plans", ("study", "place", "key")) if kind == 3 else ("units", ("key", *PLAIN))
        column = str(rng.choice(columns))
        value = (VALUES + JSONS)[rng.integers(len(VALUES) + len(JSONS))]
        rows = [r for (r,) in connection.execute(f"SELECT rowid FROM {table}")]
        chosen = int(rng.choice(rows))
        held = sqlite3.Binary(value) if isinstance(value, bytes) else value
        if isinstance(value, bytes) and rng.integers(2):
            connection.execute(f"UPDATE {table} SET {column} = CAST(? AS TEXT) WHERE rowid = ?", (held, chosen))
        else:
            connection.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (held, chosen))
    connection.close()
    return f"{table}.{column} of row {chosen} is {value!r:.40}"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_an_edited_store_has_its_damaged_rows_named_and_the_others_read(original, tmp_path, capsys):
    rng = np.random.default_rng(5)
    ends: dict[str, int] = {}
    for case in range(EDITS):
        place = Path(shutil.copyfile(original, tmp_path / "s.sqlite"))
        done = edited(place, rng)
        words = WORDS[case % len(WORDS)].format(tmp_path)
        with pytest.raises(SystemExit) as ended:
            main(f"study --store {place} {words}".split())
        out, err = capsys.readouterr()
        told = f"{done}, study {words}: {out[-300:]} {err[-600:]}"
        assert "inside fsopt" not in err + out, told
        assert ended.value.code in (0, 2), told
        lines = err.splitlines()
        if ended.value.code == 2:
            assert len(lines) == 1, told
        end = "refused" if ended.value.code else "rows named" if any("damaged" in line for line in lines) else "whole"
        ends[end] = ends.get(end, 0) + 1
        if "of row" in done and end == "rows named":
            assert len([line for line in lines if "damaged" in line]) == 1, told
    assert set(ends) >= {"rows named", "whole"}, ends


def pages(place, name):
    """Return the content of a store, and where the first page of a table or an index is in it."""
    with sqlite3.connect(place) as connection:
        [size] = connection.execute("PRAGMA page_size").fetchone()
        [root] = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (name,)).fetchone()
    connection.close()
    return bytearray(place.read_bytes()), slice((root - 1) * size, root * size)


@pytest.mark.parametrize("how", ["noise", "other rows"])
def test_rows_are_found_without_their_index(how, place):
    wanted = rows_of(place)
    content, index = pages(place, "sqlite_autoindex_units_1")
    page, (one, two) = bytes(content[index]), [row["key"].encode() for row in wanted[:2]]
    swapped = page.replace(one, b"-" * 32).replace(two, one).replace(b"-" * 32, two)
    content[index] = b"\xff" * len(page) if how == "noise" else swapped
    place.write_bytes(content)
    assert rows_of(place) == wanted


def test_a_table_whose_pages_come_again_and_again_ends(place, capsys):
    content, root = pages(place, "plans")
    size, leaf = root.stop - root.start, len(content) // (root.stop - root.start) + 1
    head = b"\x05\0\0" + (1).to_bytes(2, "big") + (size - 5).to_bytes(2, "big") + b"\0" + leaf.to_bytes(4, "big")
    node = head + (size - 5).to_bytes(2, "big")  # both of its children are the leaf
    content += content[root]
    content[root] = node.ljust(size - 5, b"\0") + leaf.to_bytes(4, "big") + b"\x06"
    content[28:32] = leaf.to_bytes(4, "big")
    place.write_bytes(content)
    out, err = run(f"study --store {place}", capsys)
    assert "6 units" in out
    assert "the plan cannot be read (rows come twice)" in err


def test_a_plan_of_many_units_says_how_far_it_is(monkeypatch):
    monkeypatch.setattr(store, "STEP", 2)
    seen = []
    fsopt.run_study(STUDY, executor=InProcess(), progress=seen.append)
    assert [(state.finished, state.total, state.last) for state in seen[:3]] == [(k, 6, {}) for k in (2, 4, 6)]
    assert _told(seen[0]) == "2 of 6 units planned"
    assert [state.finished for state in seen[3:]] == [1, 2, 3, 4, 5, 6]
    assert len(fsopt.compare(blobs(20, 2), methods=["pearson"], folds=2, executor=InProcess()).rows) == 1


def test_a_run_computes_a_damaged_row_again(place, capsys):
    wanted = {row["key"]: row for row in rows_of(place)}
    with sqlite3.connect(place) as connection:
        connection.execute("UPDATE units SET trace = '[[' WHERE rowid = 1")
        connection.execute("UPDATE units SET params = 'x', state = NULL WHERE rowid = 3")
        connection.execute("DELETE FROM units WHERE rowid = 4")
    connection.close()
    assert len(rows_of(place)) == len(wanted) - 3
    out, err = run(f"study --store {place} --json", capsys)
    assert len(json.loads(out)["damaged"]) == 3
    assert err.count("damaged") == 3
    fsopt.run_study(STUDY, executor=InProcess(), store=place)
    again = {row["key"]: row for row in rows_of(place)}
    for row in (*again.values(), *wanted.values()):
        for volatile in ("seconds", "cpu_seconds", "trace"):
            del row[volatile]
    assert list(again.values()) == list(wanted.values())


def test_a_damaged_part_of_a_reproduction_is_computed_again(tmp_path):
    for text in ('{"a": 1}', "{", None, b"\xff"):
        with opened(tmp_path / "s.sqlite", write=True) as held:
            assert held.part("table", {"n": 1}, lambda: {"a": 1})[0] == {"a": 1}
            held.connection.execute("UPDATE parts SET value = ?", (text,))
            held.connection.commit()


def test_a_reader_that_stops_in_the_middle_does_not_stop_the_run(place):
    with opened(place) as reader:
        rows = reader.rows()
        next(rows)
        failed = []

        def run():
            try:
                fsopt.run_study({**STUDY, "seeds": [3]}, executor=InProcess(), store=place)
            except FileError as error:
                failed.append(error)

        thread = threading.Thread(target=run)
        thread.start()
        thread.join(60)
        assert not failed
        assert not thread.is_alive()
        assert len(list(rows)) == 5
