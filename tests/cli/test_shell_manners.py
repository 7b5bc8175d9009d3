"""Every verb where its reader leaves at once, and where names hold characters that would command a terminal."""

import io
import json
import os
import shlex
import sys
from pathlib import Path

import numpy as np
import pytest
from joblib import parallel_config
from support import blobs

import fsopt
from fsopt.analysis import selecting
from fsopt.cli import main
from fsopt.cli.app import command
from fsopt.common.texts import CONTROL

RED, TITLE, LINE = "\x1b[31m\u202e", "\x1b]0;owned\x07", "\ninjected"
FILE = f"d{RED}\x9b7m[bold]x[y].npz"
DATA = f"--data '{FILE}'"
COMMANDS = {
    "models": "models",
    "solvers": "solvers",
    "methods": "methods",
    "show": f"show svm {DATA}",
    "solve": f"solve svm {DATA} --scale standard",
    "export": f"export svm {DATA} -o 'm{RED}.lp'",
    "solve --explain": f"solve svm {DATA} --explain",
    "fit": f"fit svm {DATA} -o 'f{RED}.json'",
    "predict": f"predict fit.json {DATA}",
    "show FILE": "show fit.json",
    "compare": f"compare {DATA} --methods svm --folds 2",
    "reproduce": "reproduce --list",
    "select": f"select '{FILE}' --features 1 --folds 2",
    "check": f"check fit.json {DATA}",
    "check --solution": f"check 'model{RED}.lp' --solution 'point{RED}.sol'",
    "check --proof": f"check fit.json {DATA} --proof 'p{RED}.json'",
    "select --path": f"select '{FILE}' --path all",
    "study": "study --store s.sqlite",
    "study run": "study study.toml --store again.sqlite",
}
FAULTS = (
    f"fit svm --data 'no{TITLE}.csv'",
    f"fit 'sv{RED}m' {DATA}",
    f"fit svm {DATA} --param 'c{RED}=1'",
    f"fit svm {DATA} --target 'x{RED}'",
    f"fit svm {DATA} -o 'none{RED}/f.json'",
    f"check 'none{RED}.json' {DATA}",
    f"predict 'bad{RED}.json' {DATA}",
    f"study --store 's{RED}.sqlite'",
    f"study 'bad{RED}.json' --store s.sqlite",
    f"compare {DATA} --methods 'svm,x{RED}'",
    f"'fi{RED}t'",
)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("names")
    data = blobs(12, 2)
    names = [f"größe{RED}", f"x{TITLE}\r[red]b[/]{LINE}"]
    np.savez(folder / FILE, X=data.X, y=data.y, features=np.array(names))
    loaded = fsopt.load_dataset(str(folder / FILE))
    fsopt.fit("svm", loaded).save(folder / "fit.json")
    (folder / f"bad{RED}.json").write_text("{")
    (folder / f"model{RED}.lp").write_text("Minimize\n obj: x\nSubject To\n row: x >= 1\nEnd\n")
    (folder / f"point{RED}.sol").write_text(
        "solution status: optimal solution found\nobjective value: 1\nx 1 (obj:1)\n"
    )
    toml = f'name = {json.dumps(RED + LINE)}\ndata = [{json.dumps(FILE)}]\nfolds = 2\n[[methods]]\nname = "svm"\n'
    (folder / "study.toml").write_text(toml)
    with parallel_config("sequential"):
        fsopt.run_study(str(folder / "study.toml"), store=folder / "s.sqlite")
    return folder


@pytest.fixture(autouse=True)
def here(prepared: Path, in_process: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(prepared)
    monkeypatch.setattr(selecting, "PAIRS", 2)


def code_of(words: str) -> object:
    with pytest.raises(SystemExit) as ended:
        main(shlex.split(words))
    return ended.value.code


def test_no_verb_is_missing() -> None:
    assert set(command().commands) == {words.split()[0] for words in COMMANDS.values()}


@pytest.mark.filterwarnings("ignore:Glyph")  # of a control character, which no font has
@pytest.mark.parametrize("name", COMMANDS)
def test_a_verb_prints_no_command_for_a_terminal_and_hears_that_its_reader_left(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    code = code_of(COMMANDS[name])
    out, err = capsys.readouterr()
    assert code in (0, 1), err
    assert not CONTROL.search(out + err)
    assert not [line for line in (out + err).splitlines() if line.startswith(LINE[1:])]
    monkeypatch.setattr(sys, "stdout", unread())
    assert code_of(COMMANDS[name]) == code
    sys.stdout.close()
    assert "stdout" not in capsys.readouterr().err


def unread() -> io.TextIOWrapper:
    """Return a stream into a pipe whose reader has left."""
    reading, writing = os.pipe()
    os.close(reading)
    return io.TextIOWrapper(os.fdopen(writing, "wb"), encoding="utf-8")


@pytest.mark.parametrize("words", FAULTS, ids=range(len(FAULTS)))
def test_an_error_prints_no_command_for_a_terminal(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert code_of(words) == 2
    out, err = capsys.readouterr()
    assert not CONTROL.search(out + err)
    assert "\\x1b" in err
