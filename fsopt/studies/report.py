"""Reports: one self-contained HTML page of tables that sort and pictures as inline SVG, with no request to any network.

Every text is escaped by the template: a feature may be called anything. By the Content-Security-Policy of the page a
browser runs no script but the one of the template, which is known by its hash, and fetches nothing.
"""

from __future__ import annotations

import hashlib
import io
import os
import platform
import re
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fsopt.common.files import write_text
from fsopt.common.texts import printable
from fsopt.errors import PackageError
from fsopt.studies.units import versions

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NUMBER = re.compile(r"(-?\d+(?:\.\d+)?)(?: ±.*)?")
INKS = {"#000000": "currentColor", "#ffffff": "var(--back)"}
"""Black and white of pictures, which are those of the page, light or dark."""
HINT = "pip install fsopt[report]"


@dataclass(frozen=True)
class ReportTable:
    """A table: headings, and rows of texts, numbers and None."""

    heads: tuple[str, ...]
    rows: Sequence[Sequence[Any]]
    caption: str = ""

    @property
    def numeric(self) -> tuple[bool, ...]:
        """Whether each column has numbers alone, which stand to the right."""
        return tuple(all(sort_key(row[k]) or not shown(row[k]) for row in self.rows) for k in range(len(self.heads)))


@dataclass(frozen=True)
class ReportSection:
    """A part of a report, in the order: notes, tables, figures (caption -> figure); ``folded`` is shown by a click."""

    title: str
    notes: tuple[str, ...] = ()
    tables: tuple[ReportTable, ...] = ()
    figures: dict[str, Figure] = field(default_factory=dict)
    folded: bool = False


def write_report(path: str | Path, title: str, sections: Sequence[ReportSection]) -> None:
    """Write a report to a file, whole or not at all.

    Raises
    ------
    PackageError : jinja2 or matplotlib is not installed.
    FileError : the file cannot be written.
    """
    write_text(path, page(title, sections))


def page(title: str, sections: Sequence[ReportSection]) -> str:
    """Return the text of a report."""
    try:
        from jinja2 import Environment
        from markupsafe import Markup
    except ImportError as error:
        raise PackageError("reports need jinja2, which is not installed", HINT) from error
    source = resources.files("fsopt.studies").joinpath("report.html").read_text(encoding="utf-8")
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters["shown"] = shown
    environment.filters["sort_key"] = sort_key
    drawn = [
        (
            section,
            [
                (caption, Markup(svg(figure, f"f{k}-{j}")))
                for j, (caption, figure) in enumerate(section.figures.items())
            ],
        )
        for k, section in enumerate([*sections, machine()])
    ]
    script = hashlib.sha256(source.partition("<script>")[2].partition("</script>")[0].encode()).digest()
    text = environment.from_string(source).render(title=title, sections=drawn, script=b64encode(script).decode())
    return printable(text)


def shown(value: Any) -> str:
    """Return a value as the text of a cell: three significant digits, and all those before the point."""
    if value is None:
        return ""
    if not isinstance(value, float):
        return str(value)
    return f"{value:.0f}" if 99.95 <= abs(value) < 1e6 else f"{value:#.3g}" if value else "0"


def sort_key(value: Any) -> str:
    """Return what a column is sorted by: a number at full length, that before a ± or alone in a text; else nothing."""
    if isinstance(value, str) and (found := NUMBER.fullmatch(value)):
        return found[1]
    return repr(float(value)) if isinstance(value, int | float) and not isinstance(value, bool) else ""


def svg(figure: Figure, prefix: str) -> str:
    """Return a figure as an SVG element whose ids begin with a prefix, since a page has one space of ids."""
    from matplotlib import rc_context

    drawn = io.StringIO()
    with rc_context({"svg.fonttype": "path", "svg.hashsalt": prefix}):
        figure.savefig(drawn, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    text = drawn.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r'\bid="([^"]+)"', rf'id="{prefix}-\1"', text)
    text = re.sub(r'href="#([^"]+)"', rf'href="#{prefix}-\1"', text)
    # Comments hold the drawn texts, which nothing escapes there.
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    text = re.sub(r"url\(#([^)]+)\)", rf"url(#{prefix}-\1)", text)
    return re.sub("|".join(INKS), lambda found: INKS[found[0]], text)


def machine() -> ReportSection:
    """Return the section on versions and machine."""
    rows = [*versions().items(), ("processor", platform.machine()), ("processors", os.cpu_count())]
    rows += [("system", f"{platform.system()} {platform.release()}")]
    return ReportSection("Versions and machine", tables=(ReportTable(("name", "value"), rows),))
