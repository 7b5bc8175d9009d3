"""Run the code of pages and write under each block what it prints: ``python docs/outputs.py docs/start.md ...``.

``docs/outputs.toml`` stands for all pages that are made from the registries. An output that is the same up to numbers
stays as it is, with the lines that it leaves out (``...``). Pictures that a page makes and shows go to
``docs/_static``.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests" / "helpers"), str(ROOT / "docs" / "_ext")]
import site_models  # noqa: E402
import snippets  # noqa: E402

FIRST, LAST = 20, 2
"""Lines of a long output that are shown of its beginning and of its end."""


def shortened(text: str) -> str:
    """Return a text without the middle of its lines where they are many."""
    lines = "\n".join(line.rstrip() for line in text.splitlines()).strip("\n").split("\n")
    if len(lines) > FIRST + LAST + 1:
        lines[FIRST:-LAST] = [snippets.LEFT_OUT]
    return "\n".join(lines) + "\n"


def rewritten(page: str, printed: list[str]) -> str:
    """Return a page with the outputs of its blocks."""
    parts, last = [], 0
    for (block, end), shown, real in zip(snippets.parts(page), snippets.outputs(page), printed, strict=True):
        parts.append(page[last : block.end()])
        rest = page[block.end() : end]
        if not snippets.agrees(shown, real):
            rest = snippets.OUTPUT.sub("", rest).replace("\n\n\n\n", "\n\n")
            parts.append(f"\n\n```output\n{shortened(real)}```" if real.strip() else "")
        parts.append(rest)
        last = end
    return "".join([*parts, page[last:]])


def of_made_pages() -> str:
    """Return the outputs of the pages that are made from the registries, as TOML."""
    parts = ["# What the code prints on the pages made from the registries, by `make outputs`"]
    os.environ["COLUMNS"] = snippets.COLUMNS
    for path, text in site_models.pages(ROOT).items():
        kept = rewritten(text, [snippets.called(step) for step in snippets.steps(text)])
        shown = zip(snippets.steps(kept), snippets.outputs(kept), strict=True)
        lines = [f"{step.kind} = '''\n{texts[0]}'''" for step, texts in shown if texts]
        parts.append("\n".join([f'["{path}"]', *lines]))
    return "\n\n".join(parts) + "\n"


def ran(page: str, name: str) -> list[str]:
    """Return what each block of a page prints; keep the pictures that it makes and shows."""
    with tempfile.TemporaryDirectory() as folder:
        done = snippets.run(page, Path(folder))
        if done.returncode:
            sys.exit(f"{name}: {done.stdout[-2000:]}{done.stderr[-4000:]}")
        for picture in {file for made, shown in snippets.pictures(page) for file in made if file in shown}:
            shutil.copyfile(Path(folder) / picture, ROOT / "docs" / "_static" / picture)
    return snippets.printed_by(done)


def main() -> None:
    """Write the outputs of the pages that are named, or of those that are made."""
    for name in sys.argv[1:]:
        path = ROOT / name
        if path.suffix == ".toml":
            path.write_text(of_made_pages(), encoding="utf-8")
            continue
        page = path.read_text(encoding="utf-8")
        path.write_text(rewritten(page, ran(page, name)), encoding="utf-8")


if __name__ == "__main__":
    main()
