"""The pages that nobody writes by hand: models, methods, reference, command line, gallery, notebooks, change log."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import site_api
import site_commands
import site_gallery
import site_models
from site_models import toc

import fsopt
from fsopt.library.pages import table

FOLDERS = ("models", "methods", "api", "notebooks", "gallery")


def put(path: Path, text: str) -> None:
    """Write a page if it has changed, so that Sphinx reads only such pages again."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def written(docs: Path) -> dict[str, str]:
    """Return path -> text of the pages made from the registries, the package and the root of the repository."""
    root = docs.parent
    pages = {
        **site_models.pages(root),
        **site_api.pages(),
        "commands.md": site_commands.page(),
        "gallery/index.md": site_gallery.page(),
        "results/index.md": results(docs),
    }
    agreement = (root / "solvers" / "README.md").read_text(encoding="utf-8").partition("# Solvers\n")[2]
    pages["_agreement.md"] = re.sub(r"\]\(([\w-]+\.toml)\)", r"](../solvers/\1)", agreement)
    for name in ("CHANGELOG", "CONTRIBUTING"):
        text = (root / f"{name}.md").read_text(encoding="utf-8")
        pages[f"{name.lower()}.md"] = text.replace("](docs/", "](/").replace("](CONTRIBUTING.md", "](/contributing.md")
    return pages


def results(docs: Path) -> str:
    """Return the list of the pages that commands wrote: tables and figures of the papers, and measurements."""
    pages = [path for path in sorted((docs / "results").glob("*.md")) if path.name != "index.md"]
    titles = [path.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ") for path in pages]
    rows = [(f"[{path.stem}](/results/{path.name})", title) for path, title in zip(pages, titles, strict=True)]
    head = (
        "# Results\n\nMeasured and committed, each page written by the command that it names at its top: nothing is "
        "typed in. A smaller run of the same kind:"
    )
    code = "```console\nfsopt path --data wdbc --m 1,2\n```"
    return "\n\n".join([head, code, table(("page", "what it shows"), rows), toc([path.stem for path in pages])]) + "\n"


def generate(app: Any, config: Any) -> None:
    """Write all generated pages below the folder of the sources, and remove those that are no more."""
    docs = Path(app.srcdir)
    pages = written(docs)
    for name, text in pages.items():
        put(docs / name, text)
    notebooks = sorted((docs.parent / "notebooks").glob("*.ipynb"))
    for path in notebooks:
        target = docs / "notebooks" / path.name
        target.parent.mkdir(exist_ok=True)
        if not target.exists() or target.read_bytes() != path.read_bytes():
            shutil.copyfile(path, target)
    site_gallery.draw(docs / "gallery")
    kept = {docs / name for name in pages} | {docs / "notebooks" / path.name for path in notebooks}
    for folder in FOLDERS:
        for path in (docs / folder).rglob("*"):
            if path.suffix in (".md", ".ipynb", ".rst") and path not in kept:
                path.unlink()
    app.site_slugs = {m: f"methods/{m}" for m in fsopt.METHODS} | {m: f"models/{m}" for m in fsopt.MODELS}


def setup(app: Any) -> dict[str, Any]:
    """Write the pages before Sphinx looks for sources."""
    app.connect("config-inited", generate)
    return {"parallel_read_safe": True}
