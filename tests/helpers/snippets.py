"""The code on a page: files are written, Python and commands run in their order, in a folder of their own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

from support import ROOT

KINDS = "python|console|toml|text"
BLOCK = re.compile(rf"(?:^`(?P<file>[\w./-]+)`:\n\n)?^```(?P<kind>{KINDS})\n(?P<text>.*?)^```", re.M | re.S)
SHIMS = {
    "fsopt": 'exec "{python}" -m fsopt "$@"',
    "fsopt-verify": 'exec "{python}" -m fsopt.verifier.verify "$@"',
    "pip": 'exec "{python}" "{here}/snippets.py" "$@"',
}
"""Command -> what it stands for: the tests install nothing."""


@dataclass(frozen=True)
class Step:
    """One block: a file with its name, or code without one."""

    kind: str
    text: str
    file: str = ""


def steps(page: str) -> list[Step]:
    """Return the blocks of a page that a reader runs or writes."""
    found = [Step(m["kind"], m["text"], m["file"] or "") for m in BLOCK.finditer(page)]
    return [step for step in found if step.file or step.kind in ("python", "console")]


def script(page: str) -> str:
    """Return a page as one program; commands run between the blocks of Python, as a reader has them."""
    parts = ["import pathlib, subprocess"]
    for step in steps(page):
        if step.file:
            parts.append(f"pathlib.Path({step.file!r}).parent.mkdir(parents=True, exist_ok=True)")
            parts.append(f"pathlib.Path({step.file!r}).write_text({step.text!r}, encoding='utf-8')")
        elif step.kind == "console":
            parts.append(f"subprocess.run(['bash', '-ec', {step.text!r}], check=True)")
        else:
            parts.append(step.text)
    return "\n".join(parts)


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
    places = (ROOT, folder / "site", ROOT / "tests" / "helpers")
    environment = {
        **os.environ,
        "PATH": os.pathsep.join((str(folder / "bin"), str(Path(sys.executable).parent), os.environ["PATH"])),
        "PYTHONPATH": os.pathsep.join(map(str, places)),
    }
    command = [sys.executable, "page.py"]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


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
