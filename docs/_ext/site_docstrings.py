"""Docstrings for Sphinx: sections as fields; entries as name and meaning, as the signature has the type."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from typing import Any

from fsopt import errors
from fsopt.models.display import entries

LISTS = ("Parameters", "Attributes", "Raises", "Warns")
KEPT = re.compile(r"(``.*?``|:[\w:]+:`[^`]*`|`[^`]*`)", flags=re.DOTALL)
"""Literals and roles, in which no character is escaped."""


def sections(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield title and lines of each section; the title of the first one is empty."""
    title, body = "", []
    for k, line in enumerate(lines):
        after = lines[k + 1] if k + 1 < len(lines) else ""
        if line and not line.startswith(" ") and len(after) > 2 and set(after) == {"-"}:
            yield title, body
            title, body = line, []
        elif not (title and not body and set(line) == {"-"}):
            body.append(line)
    yield title, body


def escaped(text: str) -> str:
    """Return text with the characters escaped that are marks to docutils: bars, and underscores at the end of words."""
    parts = KEPT.split(text)
    for k in range(0, len(parts), 2):
        parts[k] = re.sub(r"(?<=\w)_(?!\w)", r"\\_", parts[k].replace("|", r"\|"))
    return "".join(parts)


def escaped_lines(lines: list[str]) -> list[str]:
    """Return lines escaped, but for displayed mathematics and code."""
    out: list[str] = []
    for block in re.split(r"(\.\. [\w-]+::[^\n]*(?:\n(?: [^\n]*)?(?=\n|$))*)", "\n".join(lines)):
        out.append(block if block.startswith(".. ") else escaped(block))
    return "".join(out).split("\n")


def listed(title: str, body: list[str]) -> list[str]:
    """Return a section of entries as a field."""
    out = [f":{title}:"]
    for names, meaning in entries("\n".join(body)):
        shown = f":exc:`~fsopt.errors.{names}`" if hasattr(errors, names) else f"**{escaped(names)}**"
        text = "\n".join(escaped_lines(meaning.strip().splitlines()))
        out += textwrap.indent(f"* {shown}" + (f" -- {text}" if text else ""), "    ").splitlines()[:1]
        out += textwrap.indent("\n".join(text.splitlines()[1:]), "      ").splitlines()
    return [*out, ""]


def converted(lines: list[str]) -> list[str]:
    """Return a numpydoc docstring as reStructuredText."""
    out: list[str] = []
    for title, body in sections(lines):
        if not title:
            out += escaped_lines(body)
        elif title in LISTS:
            out += ["", *listed(title, body)]
        elif title in ("Returns", "Yields") and sum(bool(re.match(r"\S", line)) for line in body) > 1:
            out += ["", *listed(title, [re.sub(r" : .*", "", line) for line in body])]
        elif title in ("Returns", "Yields"):
            kind, text = body[0] if body else "", textwrap.dedent("\n".join(body[1:])).strip()
            head = [f"    *{escaped(kind)}*", ""] if text else [f"    {escaped(kind)}", ""]
            below = textwrap.indent("\n".join(escaped_lines(text.split("\n"))), "    ")
            out += ["", f":{title}:", *head, *below.split("\n"), ""]
        else:
            out += ["", f".. rubric:: {title}", "", *escaped_lines(body), ""]
    return out


def process(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Convert the docstring of an object in place."""
    lines[:] = converted(lines)


def skip(app: Any, what: str, name: str, obj: Any, skipped: bool, options: Any) -> bool | None:
    """Leave out the methods that scikit-learn gives to every estimator for the routing of metadata."""
    return True if re.fullmatch(r"set_\w+_request", name) else None


def setup(app: Any) -> dict[str, Any]:
    """Convert every docstring that autodoc reads."""
    app.connect("autodoc-process-docstring", process)
    app.connect("autodoc-skip-member", skip)
    return {"parallel_read_safe": True}
