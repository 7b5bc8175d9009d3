"""What the TOML file of a study says, and the code that it names, before anything of it is run."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fsopt.common.files import check_readable
from fsopt.errors import FileError, shown


def study_content(path: str | Path) -> dict[str, Any]:
    """Return the entries of the TOML file of a study, as they are; raises FileError."""
    place = check_readable(path, "the study")
    try:
        return tomllib.loads(place.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise FileError(f"the study '{path}' is not TOML: {error}", "write lines such as folds = 3") from error


def code_of(content: Mapping[str, Any]) -> list[str]:
    """Return the functions FILE.py:FUNCTION that the entries of a study name; nothing is run."""
    methods = content.get("methods")
    tables = [m.get("customise") for m in methods if isinstance(m, dict)] if isinstance(methods, list) else []
    return list(dict.fromkeys(shown(given) for table in tables if isinstance(table, dict) for given in table.values()))
