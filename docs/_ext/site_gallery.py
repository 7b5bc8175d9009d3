"""Pictures of the gallery: the figure of each script, which pyplot does not keep."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

from sphinx_gallery.scrapers import figure_rst


def pictures(block: Any, variables: dict[str, Any], conf: dict[str, Any]) -> str:
    """Save the variable ``figure`` of a script; return the text that shows it, with the title of the script."""
    figure = variables["example_globals"].get("figure")
    if figure is None:
        return ""
    path = next(variables["image_path_iterator"])
    figure.savefig(path, dpi=150)
    said = ast.get_docstring(ast.parse(Path(variables["src_file"]).read_text(encoding="utf-8"))) or ""
    return str(figure_rst([path], conf["src_dir"], said.partition("\n")[0]))
