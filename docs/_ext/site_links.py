"""Links: from the pages of the repository to those of the site, and from names in the text to their pages."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.util.nodes import make_refnode

import fsopt

MOVED = (
    (r"\]\((?:\.\./)+models/README\.md", "](/models/index.md"),
    (r"\]\((?:\.\./)+models/([\w-]+)/README\.md", r"](/models/\1.md"),
    (r"\]\((?:\.\./)+solvers/README\.md", "](/solvers.md"),
    (r"\]\((?:\.\./)+notebooks/", "](/notebooks/"),
    (r"\]\((?:\.\./)+docs/", "](/"),
    (r"\]\((?:\.\./)+CONTRIBUTING\.md", "](/contributing.md"),
    (r"\]\((?:\.\./)+CHANGELOG\.md", "](/changelog.md"),
    (r"\]\((?:\.\./)+README\.md", "](/index.md"),
    (r"\]\((?:docs/)?results/?\)", "](/results/index.md)"),
)
"""A link that leaves docs/ -> the page of the site."""


def rewrite(text: str) -> str:
    """Return Markdown with the links of the repository as links of the site."""
    for old, new in MOVED:
        text = re.sub(old, new, text)
    return text


def further(text: str, docs: Path) -> str:
    """Return tables of contents with their patterns, such as ``howto/*``, as the pages not yet named; maybe none."""

    def pages(pattern: re.Match[str]) -> str:
        found = (path.relative_to(docs).with_suffix("").as_posix() for path in sorted(docs.glob(f"{pattern[0]}.md")))
        return "\n".join(name for name in found if f"\n{name}\n" not in text)

    return re.sub(r"^[\w/]+\*$", pages, text, flags=re.MULTILINE)


def on_read(app: Any, docname: str, source: list[str]) -> None:
    """Rewrite the links of a page, and complete the contents of the site."""
    source[0] = rewrite(source[0])
    if docname == app.config.root_doc:
        source[0] = further(source[0], Path(app.srcdir))


def on_resolved(app: Any, tree: nodes.document, docname: str) -> None:
    """Link literals that name a model, a method, or an object of the package."""
    domain = app.env.domains["py"]
    slugs = app.site_slugs
    for literal in list(tree.findall(nodes.literal)):
        text = literal.astext()
        if isinstance(literal.parent, nodes.reference):
            continue
        if text in slugs:
            target, anchor = slugs[text], ""
        elif text.startswith("fsopt.") and text.removesuffix("()") in domain.objects:
            entry = domain.objects[text.removesuffix("()")]
            target, anchor = entry.docname, entry.node_id
        else:
            continue
        if target == docname and not anchor:
            continue
        uri = app.builder.get_relative_uri(docname, target) + (f"#{anchor}" if anchor else "")
        literal.replace_self(nodes.reference("", "", literal.deepcopy(), internal=True, refuri=uri))


def home(dotted: str) -> str:
    """Return the name under which an object is documented: ``fsopt.solve`` for what ``import fsopt`` gives."""
    module, _, name = dotted.rpartition(".")
    try:
        value = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError):
        return ""
    if name in fsopt.__all__ and getattr(fsopt, name) is value:
        return f"fsopt.{name}"
    return f"{getattr(value, '__module__', module)}.{getattr(value, '__qualname__', name)}"


def on_missing(app: Any, env: Any, node: Any, content: nodes.Element) -> nodes.Element | None:
    """Resolve a reference to an object that is documented under another name, or to an alias of a type."""
    if node.get("refdomain") != "py":
        return None
    target, objects = node["reftarget"], env.domains["py"].objects
    candidates = (target, f"{node.get('py:module')}.{target}", f"fsopt.typing.{target}")
    alike = [name for name in objects if name.endswith(f".{target}") and name.startswith("fsopt.")]
    known = [*candidates, *map(home, candidates), *(alike if len(alike) == 1 else ())]
    known += [f"{home(owner)}.{name}" for owner, _, name in (c.rpartition(".") for c in candidates)]
    known += [name.rpartition(".")[0] for name in candidates if home(name)]  # an attribute without a page: its module
    for name in known:
        if name in objects:
            entry = objects[name]
            return make_refnode(app.builder, node["refdoc"], entry.docname, entry.node_id, content)
    return None


def setup(app: Any) -> dict[str, Any]:
    """Connect all of them."""
    app.connect("source-read", on_read)
    app.connect("env-get-outdated", lambda app, env, added, changed, removed: [app.config.root_doc])
    app.connect("doctree-resolved", on_resolved)
    app.connect("missing-reference", on_missing)
    return {"parallel_read_safe": True}
