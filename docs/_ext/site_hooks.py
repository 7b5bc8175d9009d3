"""What the extensions of Sphinx leave: pages from the registries, docstrings without types, links of the repository."""

from __future__ import annotations

import pkgutil
import re
import shutil
import subprocess
import sys
import textwrap
from itertools import groupby
from pathlib import Path
from typing import Any

import site_models
import typer.cli
from docutils import nodes
from sphinx import addnodes
from sphinx.util.nodes import make_refnode

import fsopt
from fsopt import drivers
from fsopt.cli.app import GROUPS, command
from fsopt.models.display import entries
from fsopt.papers.pages import markdown, read_saved
from fsopt.papers.registry import EXPERIMENTS

FOLDERS = ("internals", "methods", "models", "notebooks")
PUBLIC = ("fsopt.cli", "fsopt.errors", "fsopt.extend", "fsopt.__main__", "fsopt.verifier.__main__")
"""Modules that are described elsewhere."""
ROUTED = "   :exclude-members: set_fit_request, set_predict_request, set_score_request\n"
"""Methods that scikit-learn gives to every estimator, with references to pages of its own."""
LISTS = ("Attributes", "Other Parameters", "Parameters", "Raises", "Warns")
MEASURED = ("exact.py report", "opponents_page.py", "limits_page.py", "performance_page.py")
"""Programs of benchmarks/ that write a page of docs/results from the rows beside it."""
KEPT = re.compile(r"(``.*?``|:[\w:]+:`[^`]*`|`[^`]*`)", flags=re.DOTALL)
"""Literals and roles, in which no character is escaped."""
LINKS = (
    (r"\]\((?:\.\./)+models/README\.md", "](/models/index.md"),
    (r"\]\((?:\.\./)+models/([\w-]+)/README\.md", r"](/models/\1.md"),
    (r"\]\((?:\.\./)+solvers/README\.md", "](/solvers.md"),
    (r"\]\((?:\.\./)+(?:docs|notebooks)/", lambda m: "](/notebooks/" if "notebooks" in m[0] else "](/"),
    (r"\]\((?:\.\./)+(CHANGELOG|CONTRIBUTING)\.md", lambda m: f"](/{m[1].lower()}.md"),
    (r"\]\((?:\.\./)+README\.md", "](/index.md"),
    (r"\]\((?:docs/)?results/?\)", "](/results/index.md)"),
)
"""A link that leaves docs/ -> the page of the site."""


def generate(app: Any, config: Any) -> None:
    """Write the pages of models, methods, modules, commands and results, copy the notebooks, remove what is no more."""
    docs = Path(app.srcdir)
    pages = {**site_models.pages(docs.parent), **internals(), **results(docs.parent), "_verbs.md": commands()}
    files = {docs / name: text.encode() for name, text in pages.items()}
    files |= {docs / "notebooks" / path.name: path.read_bytes() for path in (docs.parent / "notebooks").glob("*.ipynb")}
    for path, content in files.items():
        path.parent.mkdir(exist_ok=True)
        if not path.exists() or path.read_bytes() != content:  # Sphinx reads changed pages again, and no others
            path.write_bytes(content)
    for folder in FOLDERS:
        for path in set((docs / folder).iterdir()) - set(files):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    app.site_slugs = {m: f"methods/{m}" for m in fsopt.METHODS} | {m: f"models/{m}" for m in fsopt.MODELS}


def results(root: Path) -> dict[str, str]:
    """Return path -> text of the pages of the papers' tables, and have those of the benchmarks written."""
    for script in MEASURED:
        subprocess.run([sys.executable, *f"benchmarks/{script}".split()], cwd=root, check=True)
    records = {name: (root / "docs" / "results" / f"{name}.json").read_text("utf-8") for name in EXPERIMENTS}
    return {f"results/{name}.md": markdown(read_saved(text)) for name, text in records.items()}


def internals() -> dict[str, str]:
    """Return path -> text of the pages of the modules behind the public names, one page for each folder."""
    parts: dict[str, list[str]] = {}
    for module in pkgutil.walk_packages(fsopt.__path__, "fsopt."):
        if not module.ispkg and not module.name.startswith(PUBLIC):
            folder = ".".join(module.name.split(".")[:-1][:3])
            section = (
                f"{module.name}\n{'-' * len(module.name)}\n\n.. automodule:: {module.name}\n   :members:\n{ROUTED}"
            )
            public = module.name.removeprefix("fsopt.drivers.") in drivers.__all__  # the name is that of the function
            parts.setdefault(folder, []).append(section + "   :no-index:\n" * public)
    return {f"internals/{k}.rst": "\n".join([k, "=" * len(k), "", *sections]) for k, sections in parts.items()}


def commands() -> str:
    """Return the help of all verbs as typer writes it, group by group."""
    found, texts = command(), []
    context = typer.Context(found, info_name="fsopt")
    for group, verbs in GROUPS.items():
        texts.append(f"## {group}\n")
        for name in (verb.__name__ for verb in verbs):
            given = {"obj": found.commands[name], "ctx": context, "name": name}
            texts.append(typer.cli.get_docs_for_click(**given, indent=2, call_prefix="fsopt"))
    return "\n".join(texts)


def on_docstring(app: Any, what: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
    """Write entries such as ``name : meaning`` as napoleon reads them, and escape bars and underscores of formulas."""
    parts = re.split(r"(?m)^(?=\S.*\n-{3,}$)", "\n".join(lines))
    for k, part in enumerate(parts):
        title, _, body = part.partition("\n")
        if title in LISTS:
            named = entries(body.partition("\n")[2])
            listed = "\n".join(f"{names}\n{textwrap.indent(meaning, '    ')}" for names, meaning in named)
            parts[k] = f"{title}\n{'-' * len(title)}\n{listed}\n"
    if what in ("attribute", "data", "property"):
        parts.insert(0, "\\\n")  # an empty word: napoleon reads the text before a colon of the first line as a type
    blocks = re.split(r"(\.\. [\w-]+::[^\n]*(?:\n(?: [^\n]*)?(?=\n|$))*)", "\n".join(parts))
    lines[:] = "".join(block if block.startswith(".. ") else escaped(block) for block in blocks).split("\n")


def escaped(text: str) -> str:
    """Return text with the characters escaped that are marks to docutils: bars, and underscores at the end of words."""
    parts = KEPT.split(text)
    for k in range(0, len(parts), 2):
        parts[k] = re.sub(r"(?<=\w)_(?!\w)", r"\\_", parts[k].replace("|", r"\|"))
    return "".join(parts)


def on_read(app: Any, docname: str, source: list[str]) -> None:
    """Rewrite the links of the repository as links of the site."""
    for old, new in LINKS:
        source[0] = re.sub(old, new, source[0])


def on_resolved(app: Any, tree: nodes.document, docname: str) -> None:
    """Link literals that name a model, a method, or an object of the package; show builders and fits as called."""
    called(app, tree, docname)
    objects = app.env.domains["py"].objects
    for literal in list(tree.findall(nodes.literal)):
        text = literal.astext().removesuffix("()")
        target, anchor = app.site_slugs.get(text, ""), ""
        if text.startswith("fsopt.") and text in objects:
            target, anchor = objects[text].docname, objects[text].node_id
        if target not in ("", docname) and not isinstance(literal.parent, nodes.reference):
            uri = app.builder.get_relative_uri(docname, target) + (f"#{anchor}" if anchor else "")
            literal.replace_self(nodes.reference("", "", literal.deepcopy(), internal=True, refuri=uri))


def called(app: Any, tree: nodes.document, docname: str) -> None:
    """Show the function behind a model or method as a user calls it: fsopt.build("svm", data, ...)."""
    if app.site_slugs.get(docname.partition("/")[2]) != docname:
        return
    folder, _, slug = docname.partition("/")
    for signature in tree.findall(addnodes.desc_signature):
        for part in signature.findall(addnodes.desc_addname):
            part.children = [nodes.Text("fsopt.")]
        for part in signature.findall(addnodes.desc_name):
            part.children = [nodes.Text("fit" if folder == "methods" else "build")]
        for part in signature.findall(addnodes.desc_parameterlist):
            kept = [one for one in part.children if not one.astext().startswith("run: ")]
            part.children = [addnodes.desc_parameter("", f'"{slug}"'), *kept]


def on_missing(app: Any, env: Any, node: Any, content: nodes.Element) -> nodes.Element | None:
    """Resolve a name by its end, such as ``Leaf``; of several objects, that of the shortest name is the public one."""
    objects = env.domains["py"].objects
    end = "." + node["reftarget"].rpartition(".")[2]
    found = [name for name in objects if node.get("refdomain") == "py" and name.endswith(end)]
    if not found:
        return None
    entry = objects[min(found, key=len)]
    return make_refnode(app.builder, node["refdoc"], entry.docname, entry.node_id, content)


def on_finished(app: Any, error: Exception | None) -> None:
    """Write llms.txt, which names every page for programs that read the site: its folder, title and address."""
    if error is None and app.builder.format == "html":
        (said,) = [one.astext() for one in app.env.get_doctree("index").findall(nodes.paragraph)][:1]
        lines = [f"# {app.config.project}", "", f"> {' '.join(said.split())}"]
        names = sorted(app.env.found_docs, key=lambda name: (name.rpartition("/")[0], name))
        for folder, listed in groupby(names, key=lambda name: name.rpartition("/")[0]):
            links = [f"- [{app.env.titles[n].astext()}]({app.config.html_baseurl}{n}.html)" for n in listed]
            lines += ["", f"## {folder or 'guide'}", "", *links]
        (Path(app.outdir) / "llms.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def setup(app: Any) -> dict[str, Any]:
    """Connect all of them; docstrings before napoleon reads them."""
    app.connect("config-inited", generate)
    app.connect("autodoc-process-docstring", on_docstring, priority=400)
    app.connect("source-read", on_read)
    app.connect("doctree-resolved", on_resolved)
    app.connect("missing-reference", on_missing)
    app.connect("build-finished", on_finished)
    return {"parallel_read_safe": True}
