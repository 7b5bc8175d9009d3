"""The code on a page: files are written, Python and commands run in their order, in a folder of their own."""

import contextlib
import io
import os
import re
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

import pytest
from support import ROOT

from fsopt.cli import main

KINDS = "python|console|toml|text"
BLOCK = re.compile(rf"(?:^`(?P<file>[\w./-]+)`:\n\n)?^```(?P<kind>{KINDS})\n(?P<text>.*?)^```", re.M | re.S)
SHIMS = {
    "fsopt": 'exec "{python}" -m fsopt "$@"',
    "fsopt-verify": 'exec "{python}" -m fsopt.verifier "$@"',
    "pip": 'exec "{python}" "{here}/snippets.py" "$@"',
}
"""Command -> what it stands for: the tests install nothing."""
OUTPUT = re.compile(r"^```output\n(?P<text>.*?)^```", re.M | re.S)
MADE = re.compile(r'(?:\.savefig\("|^fsopt show .* --plot )([\w-]+\.\w+)', re.M)
SHOWN = re.compile(r"^!\[.+\]\((?:\.\./)?_static/(?P<file>[\w-]+\.svg)\)$", re.M)
"""A picture that a block writes, and one that a page shows."""
END = "\x1d"
"""What is printed after each block."""
COLUMNS = "94"
"""Width of the terminal: that of a block on a page."""
BANNER = re.compile(r"^Running HiGHS .*\nIncludes third-party .*\n", re.M)
"""What some versions of HiGHS print where they are called without fsopt."""
LEFT_OUT = "..."
"""A line of a shown output that stands for lines of the real one."""


@dataclass(frozen=True)
class Step:
    """One block: a file with its name, or code without one."""

    kind: str
    text: str
    file: str = ""


def blocks(page: str) -> list[re.Match[str]]:
    """Return where the blocks of a page are that a reader runs or writes."""
    return [m for m in BLOCK.finditer(page) if m["file"] or m["kind"] in ("python", "console")]


def steps(page: str) -> list[Step]:
    """Return the blocks of a page that a reader runs or writes."""
    return [Step(m["kind"], m["text"], m["file"] or "") for m in blocks(page)]


def programs(page: str) -> list[str]:
    """Return the solvers and programs that a page calls and the package does not install."""
    return [name for step in steps(page) for name in re.findall(r"\bpyomo:\w+|^(?:glpsol|cbc)\b", step.text, re.M)]


def script(page: str) -> str:
    """Return a page as one program; commands run between the blocks of Python, as a reader has them."""
    lines = ["import pathlib, subprocess"]
    for step in steps(page):
        if step.file:
            lines.append(f"pathlib.Path({step.file!r}).parent.mkdir(parents=True, exist_ok=True)")
            lines.append(f"pathlib.Path({step.file!r}).write_text({step.text!r}, encoding='utf-8')")
        elif step.kind == "console":
            lines.append(f"subprocess.run(['bash', '-eo', 'pipefail', '-c', {step.text!r}], check=True)")
        else:
            lines.append(step.text)
        lines.append(f"__name__ == '__main__' and print({END!r}, flush=True)")  # processes that it starts read it, too
    return "\n".join(lines)


def printed_by(done: subprocess.CompletedProcess[str]) -> list[str]:
    """Return what each block of a page printed."""
    return [BANNER.sub("", part.removeprefix("\n")) for part in done.stdout.split(END)[:-1]]


def parts(page: str) -> list[tuple[re.Match[str], int]]:
    """Return each block of a page, and where what follows it ends: at the next one."""
    found = blocks(page)
    return list(zip(found, [*(m.start() for m in found), len(page)][1:], strict=True))


def outputs(page: str) -> list[list[str]]:
    """Return the outputs that a page shows between each block and the next one."""
    return [[one["text"] for one in OUTPUT.finditer(page, block.end(), end)] for block, end in parts(page)]


def pictures(page: str) -> list[tuple[list[str], list[str]]]:
    """Return the pictures that each block makes, and those that the page shows between it and the next one."""
    return [
        (MADE.findall(block["text"]), [one["file"] for one in SHOWN.finditer(page, block.end(), end)])
        for block, end in parts(page)
    ]


def without_numbers(text: str) -> str:
    """Return a text with a sign for each number, whose digits depend on the machine, and single blanks."""
    return " ".join(re.sub(r"(?:< )?-?\d+(\.\d*)?(e[-+]?\d+)?", "#", text).split())


def agrees(shown: list[str], real: str) -> bool:
    """Tell whether shown outputs are parts of a real one in their order, up to numbers; a real one asks for a shown."""
    whole, at = without_numbers(real), 0
    texts = [part for text in shown for part in re.split(rf"(?m)^ *{re.escape(LEFT_OUT)}\n", text)]
    for part in filter(None, map(without_numbers, texts)):
        at = whole.find(part, at)
        if at < 0:
            return False
        at += len(part)
    return bool(shown) or not whole


def run(page: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the code of a page in a folder, which has the instance library."""
    (folder / "bin").mkdir()
    (folder / "site").mkdir()
    (folder / "models").symlink_to(ROOT / "models")
    for name, body in SHIMS.items():
        path = folder / "bin" / name
        path.write_text("#!/bin/sh\n" + body.format(python=sys.executable, here=Path(__file__).parent) + "\n")
        path.chmod(0o755)
    (folder / "page.py").write_text(script(page), encoding="utf-8")
    (folder / "matplotlibrc").write_text("svg.hashsalt: page\n")  # the same names in a picture on every run
    places = (ROOT, folder / "site", ROOT / "tests" / "helpers")
    environment = {
        **os.environ,
        "COLUMNS": COLUMNS,
        "SOURCE_DATE_EPOCH": "0",  # the date of pictures
        "PATH": os.pathsep.join((str(folder / "bin"), str(Path(sys.executable).parent), os.environ["PATH"])),
        "PYTHONPATH": os.pathsep.join(map(str, places)),
    }
    command = [sys.executable, "page.py"]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def called(step: Step) -> str:
    """Run a block of one command or of Python in this process; return what it prints."""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        if step.kind == "python":
            exec(step.text, {})
        else:
            words = [re.sub("^'|'$", "", word) for word in re.findall(r"'[^']*'|\S+", step.text)]
            with pytest.raises(SystemExit) as stopped:
                main(words[1:])
            assert stopped.value.code == 0, step.text
    return printed.getvalue()


def installed(folder: Path, target: Path) -> None:
    """Put the packages of a folder, and the entry points of its pyproject.toml, where ``pip install`` would."""
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for package in folder.glob("*/__init__.py"):
        (target / package.parent.name).symlink_to(package.parent.resolve())
    info = target / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    groups = project["entry-points"].items()
    lines = [line for name, group in groups for line in (f"[{name}]", *(f"{k} = {v}" for k, v in group.items()))]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    assert sys.argv[1:3] == ["install", "-e"], sys.argv
    installed(Path(sys.argv[3]), Path("site"))
