"""What verbs print, at any width and in any alphabet, and full or closed streams: never a traceback, nor a command."""

import io
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from support import ROOT, blobs

import fsopt
from fsopt.analysis import selecting
from fsopt.answers.certificate import certificate_line
from fsopt.cli import main, output
from fsopt.cli.app import GROUPS, command
from fsopt.common.texts import CONTROL, counted

PATH = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])


def start(command: str, folder: Path, **keywords) -> subprocess.Popen:
    """Start a command line of a shell in a folder, where $FSOPT is the program."""
    env = os.environ | {"PYTHONPATH": PATH} | keywords.pop("env", {})
    command = command.replace("$FSOPT", f"exec {shlex.quote(sys.executable)} -m fsopt")
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | keywords
    return subprocess.Popen(command, cwd=folder, env=env, text=True, shell=True, **streams)


def started(command: str, folder: Path, **keywords) -> tuple[int, str, str]:
    """Return exit code, stdout and stderr of a command line."""
    process = start(command, folder, **keywords)
    out, err = process.communicate(timeout=120)
    assert "Traceback" not in err + (out or ""), err
    assert "Exception ignored" not in err, err
    return process.returncode, out, err


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    data = blobs(30, 2, seed=1)
    frame = pd.DataFrame(data.X, columns=["größe", "länge"]).assign(label=np.where(data.y > 0, "größer", "kleiner"))
    frame.to_csv(tmp_path / "d.csv", index=False)
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("verb", ["fit svm --data d.csv --positive größer -o fit.json", "models"])
def test_a_full_stdout_is_one_line_of_the_program(folder: Path, verb: str) -> None:
    code, _, err = started(f"$FSOPT {verb} > /dev/full", folder)
    assert code == 2
    assert len([line for line in err.splitlines() if line.startswith("fsopt: cannot write to stdout: No space")]) == 1
    assert (folder / "fit.json").exists() == ("-o" in verb)


@pytest.mark.slow
@pytest.mark.parametrize("verb", ["--help", "fit svm --data d.csv --positive größer -o fit.json"])
def test_a_reader_that_goes_away_is_no_error(folder: Path, verb: str) -> None:
    process = start(f"$FSOPT {verb}", folder)
    process.stdout.close()
    err = process.stderr.read()
    process.stderr.close()
    assert process.wait(60) == 0
    assert [line for line in err.splitlines() if not line.startswith(("d: 30 samples", "warning: +1 is "))] == []
    assert (folder / "fit.json").exists() == ("-o" in verb)


@pytest.mark.slow
def test_an_answer_that_cannot_be_saved_is_printed(folder: Path) -> None:
    code, out, err = started("ulimit -f 0; $FSOPT fit svm --data d.csv --positive größer --json -o fit.json", folder)
    assert code == 2
    assert json.loads(out)["method"] == "svm"
    assert "fsopt: cannot write 'fit.json': File too large" in err
    assert not (folder / "fit.json").exists()


def test_an_error_inside_is_one_line_too(monkeypatch: pytest.MonkeyPatch, run: Any) -> None:
    inside = "an error inside fsopt, ZeroDivisionError: 0 / 0: run it again with FSOPT_TRACEBACK"
    for error, words in (
        (ZeroDivisionError("0 / 0"), inside),
        (MemoryError("8 GiB"), "there is not enough memory: 8 GiB"),
        (OSError(28, "No space left on device", "/x"), "No space left on device ('/x')"),
    ):

        def fail(*arguments, fault=error, **keywords):
            raise fault

        monkeypatch.setattr(type(command()), "__call__", fail)
        assert words in run.refusal("models")
        assert len(run.err.splitlines()) == 1
    monkeypatch.setenv("FSOPT_TRACEBACK", "1")
    monkeypatch.setattr(type(command()), "__call__", lambda *a, **k: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        main(["models"])


@pytest.mark.slow
@pytest.mark.parametrize("again", [None, 0.0, 0.4])
def test_ctrl_c_ends_with_the_incumbent_and_a_second_one_at_once(folder: Path, again: float | None) -> None:
    search = "$FSOPT fit best-subset --data wdbc --param m=12 --param max_nodes=1000000 --json --checkpoint c.npz"
    process = start(search, folder, preexec_fn=_take_interruptions)
    deadline = time.monotonic() + 60
    while not (folder / "c.npz").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    if again is not None:
        time.sleep(again)
        process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "Traceback" not in err + out
    if again is None:
        assert "its status is feasible" in err
        record = json.loads(out)
        assert record["stop"] == "interrupted"
        assert record["bound"] < record["objective"]


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/shm").exists(), reason="the locks of other processes are seen on Linux only")
def test_ctrl_c_in_worker_processes_is_one_line(folder: Path) -> None:
    command = "$FSOPT reproduce gbd-table2 --quick --jobs 2 > table.txt"
    process = start(command, folder, start_new_session=True, preexec_fn=_take_interruptions)
    deadline = time.monotonic() + 60
    while not _worker_has_a_lock(process.pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does it
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, "interrupted in gbd-table2: 0 were finished\n")


def _worker_has_a_lock(pid: int) -> bool:
    workers = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return any(True for worker in workers for _ in Path("/dev/shm").glob(f"sem.loky-{worker}-*"))


def _take_interruptions() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job of a shell ignores them


@pytest.mark.parametrize("width", [80, 120])
def test_a_table_has_all_its_columns_and_words(width, monkeypatch, run):
    monkeypatch.setenv("COLUMNS", str(width))
    wanted = {"methods": ("method", "paper", "equation", "models", "driver"), "models": ("model", "class", "equation")}
    wanted["solvers"] = ("solver", "classes", "proves", "duals", "tolerance", "available")
    for verb, heads in wanted.items():
        out = run(verb)
        assert max(map(len, out.splitlines())) <= width
        assert set(heads) | set(getattr(fsopt, verb.upper())) <= set(out.split()), "no name is cut"


def test_parts_have_all_columns_once_and_the_names_each_time(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    heads = ("who", *(f">n{k}" for k in range(12)), "why")
    output.show(output.table("T", heads, [["x" * 25, *[f"{k}.{k:05d}" for k in range(12)], "a reason of some words"]]))
    out = capsys.readouterr().out
    assert [out.split().count(f"n{k}") for k in range(12)] == [1] * 12
    assert all(f"{k}.{k:05d}" in out for k in range(12))
    assert out.count("x" * 25) == out.count("who") > 1
    assert " ".join(out.split()).endswith("a reason of some words")


def test_a_table_without_rows_and_numbers_wider_than_the_output(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "30")
    output.show(output.table("", ("a", ">b c"), []), output.table("", (">a",), [["9" * 50]]))
    head, *_, number = capsys.readouterr().out.splitlines()
    assert (head.split(), number) == (["a", "b", "c"], "9" * 50), "no number is cut"
    monkeypatch.setenv("COLUMNS", "40")
    output.show(output.pairs([("name", "a text of more words that goes on below"), ("n", None), ("longer", 1.5)]))
    wrapped = ["name    a text of more words that goes", "  on below", "n       -", "longer  1.5"]
    assert capsys.readouterr().out.splitlines() == wrapped


def test_small_numbers_and_open_gaps_in_words():
    assert [output.seconds(value) for value in (0.0, 0.0049, 0.005, 1.234)] == ["< 0.01", "< 0.01", "0.01", "1.23"]
    assert [counted(n, "feature") for n in (0, 1, 1.5)] == ["0 features", "1 feature", "1.5 features"]
    for ok, bound, words in (
        (True, 2.0, "holds: cover 0"),
        (True, 1.2, "holds: gap 4.0e-01, cover 0"),
        (True, "-inf", "holds: cover 0"),
        (False, 1.2, "does NOT hold: gap 4.0e-01, cover 0"),
    ):
        one = {"kind": "gbd", "ok": ok, "residuals": {"cover": 0.0}, "objective": 2.0, "bound": bound}
        assert certificate_line(one) == f"gbd, {words}"


def test_every_verb_has_an_example_and_the_help_has_them_all_in_four_groups(run):
    verbs = {verb.__name__: example for verbs in GROUPS.values() for verb, example in verbs.items()}
    assert len(verbs) == 13 == len(verbs.keys() & {words.split()[0] for words in COMMANDS})
    text = run("--help")
    listed = [line.split()[0] for line in text.splitlines() if line.startswith("  ") and line.split()]
    assert set(verbs) <= set(listed)
    assert all(f"{group}:" in text for group in GROUPS)
    assert not [line for line in text.splitlines()[1:] if line.endswith("...")]
    for verb, example in verbs.items():
        assert example.startswith(f"fsopt {verb}")
        assert " ".join(example.split()) in " ".join(run(f"{verb} --help").split())


RED, TITLE, LINE = "\x1b[31m\u202e", "\x1b]0;owned\x07", "\ninjected"
FILE = f"d{RED}\x9b7m[bold]x[y].npz"
DATA = f"--data '{FILE}'"
COMMANDS = f"""
models
solvers
methods
reproduce --list
show fit.json
study --store s.sqlite
show svm {DATA}
solve svm {DATA} --scale standard
export svm {DATA} -o 'm{RED}.lp'
fit svm {DATA} -o 'f{RED}.json'
predict fit.json {DATA}
compare {DATA} --methods svm --folds 2
select '{FILE}' --features 1 --folds 2
check fit.json {DATA} --proof 'p{RED}.json'
check 'model{RED}.lp' --solution 'point{RED}.sol'
study study.toml --store again.sqlite
""".strip().split("\n")
FAULTS = f"""
fit svm --data 'no{TITLE}.csv'
fit 'sv{RED}m' {DATA}
fit svm {DATA} -o 'none{RED}/f.json'
predict 'bad{RED}.json' {DATA}
study 'bad{RED}.json' --store s.sqlite
compare {DATA} --methods 'svm,x{RED}'
'fi{RED}t'
""".strip().split("\n")


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    folder = tmp_path_factory.mktemp("names")
    data = blobs(12, 2)
    names = [f"größe{RED}", f"x{TITLE}\r[red]b[/]{LINE}"]
    np.savez(folder / FILE, X=data.X, y=data.y, features=np.array(names))
    fsopt.fit("svm", fsopt.load_dataset(str(folder / FILE))).save(folder / "fit.json")
    (folder / f"bad{RED}.json").write_text("{")
    (folder / f"model{RED}.lp").write_text("Minimize\n obj: x\nSubject To\n row: x >= 1\nEnd\n")
    solution = "solution status: optimal solution found\nobjective value: 1\nx 1 (obj:1)\n"
    (folder / f"point{RED}.sol").write_text(solution)
    toml = f'name = {json.dumps(RED + LINE)}\ndata = [{json.dumps(FILE)}]\nfolds = 2\n[[methods]]\nname = "svm"\n'
    (folder / "study.toml").write_text(toml)
    with parallel_config("sequential"):
        fsopt.run_study(str(folder / "study.toml"), store=folder / "s.sqlite")
    return folder


@pytest.fixture
def here(prepared, in_process, monkeypatch):
    monkeypatch.chdir(prepared)
    monkeypatch.setattr(selecting, "PAIRS", 2)


def code_of(words):
    with pytest.raises(SystemExit) as ended:
        main(shlex.split(words))
    return ended.value.code


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("words", COMMANDS, ids=range(len(COMMANDS)))
def test_a_verb_prints_no_command_for_a_terminal_and_hears_that_its_reader_left(words, capsys, monkeypatch):
    code = code_of(words)
    out, err = capsys.readouterr()
    assert code in (0, 1), err
    assert not CONTROL.search(out + err)
    assert not [line for line in (out + err).splitlines() if line.startswith(LINE[1:])]
    reading, writing = os.pipe()
    os.close(reading)
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(os.fdopen(writing, "wb"), encoding="utf-8"))
    assert code_of(words) == code
    sys.stdout.close()
    assert "stdout" not in capsys.readouterr().err


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("words", FAULTS, ids=range(len(FAULTS)))
def test_an_error_prints_no_command_for_a_terminal(words, capsys):
    assert code_of(words) == 2
    out, err = capsys.readouterr()
    assert not CONTROL.search(out + err)
    assert "\\x1b" in err
