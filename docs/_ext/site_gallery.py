"""Pictures of the gallery: the figure of each script, which pyplot does not keep."""

from __future__ import annotations

from typing import Any

from sphinx_gallery.scrapers import figure_rst


def pictures(block: Any, variables: dict[str, Any], conf: dict[str, Any]) -> str:
    """Save the variable ``figure`` of a script; return the text that shows it, with the title of the script."""
    known = variables["example_globals"]
    figure = known.get("figure")
    if figure is None:
        return ""
    path = next(variables["image_path_iterator"])
    figure.savefig(path, dpi=150)
    return str(figure_rst([path], conf["src_dir"], known["__doc__"].strip().partition("\n")[0]))
