"""The gallery: each function of ``pictures.py`` is drawn for light and for dark pages, and shown with its code."""

from __future__ import annotations

import hashlib
import inspect
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pictures

INKS = {"light": "#24292f", "dark": "#d0d7de"}
HEAD = """# Gallery

Pictures that one call draws, each with what to see in it, the call, and where it is explained. Colours are those of
Okabe and Ito, which colour-blind readers can tell apart; lines differ in their marks, too.

```python
import fsopt

fsopt.selection_path(fsopt.load_dataset("wdbc"), m=[1, 2, 3]).plot().savefig("path.svg")
```
"""


def drawn() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield name and function of each picture."""
    for name, value in vars(pictures).items():
        if inspect.isfunction(value) and value.__module__ == "pictures":
            yield name, value


def code(function: Callable[[], Any]) -> str:
    """Return the body of a picture's function, with its last line as a value and not as a return."""
    body = inspect.getsource(function).partition('"""')[2].partition('"""')[2]
    return textwrap.dedent(body).strip().replace("\nreturn ", "\nfigure = ")


def page() -> str:
    """Return the page of the gallery."""
    parts = [HEAD]
    for name, function in drawn():
        title, _, caption = (inspect.getdoc(function) or "").partition("\n\n")
        shown = "\n\n".join(
            f":::{{figure}} /gallery/{name}-{theme}.svg\n:figclass: only-{theme}\n:alt: {title}\n\n{caption}\n:::"
            for theme in INKS
        )
        parts.append(f"## {title.rstrip('.')}\n\n{shown}\n\n```python\nimport fsopt\n\n{code(function)}\n```\n")
    return "\n".join(parts)


def inked(figure: Any, ink: str) -> None:
    """Give all lines of axes, ticks and texts of a figure one colour, and its grounds none."""
    import matplotlib.text

    figure.patch.set_alpha(0.0)
    for text in figure.findobj(matplotlib.text.Text):
        text.set_color(ink)
    for axes in figure.axes:
        axes.patch.set_alpha(0.0)
        axes.tick_params(colors=ink, which="both")
        for spine in axes.spines.values():
            spine.set_edgecolor(ink)
        legend = axes.get_legend()
        if legend is not None:
            legend.get_frame().set_alpha(0.0)


def draw(folder: Path) -> None:
    """Draw all pictures for both themes, where their code has changed since they were drawn."""
    import matplotlib

    text = Path(pictures.__file__).read_bytes() + Path(__file__).read_bytes()
    stamp, key = folder / "drawn.txt", hashlib.sha256(text).hexdigest()
    if stamp.exists() and stamp.read_text() == key:
        return
    folder.mkdir(parents=True, exist_ok=True)
    settings = {"svg.hashsalt": "fsopt"}
    for name, function in drawn():
        with matplotlib.rc_context(settings):
            figure = function()
            for theme, ink in INKS.items():
                inked(figure, ink)
                figure.savefig(folder / f"{name}-{theme}.svg", metadata={"Date": None})
    stamp.write_text(key)
