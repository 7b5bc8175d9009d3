"""The order of features by their names, which decides where nothing else does: that of the columns is an accident."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from fsopt.typing import Indices

_NUMBER = re.compile(r"([0-9]{1,15})")


def places_by_name(features: Sequence[str]) -> Indices:
    """Return the place (p,) of each feature in the order of the names; numbers in them count as such, x2 before x10."""
    found = np.empty(len(features), dtype=np.int64)
    found[sorted(range(len(features)), key=lambda j: _key(features[j]))] = np.arange(len(features))
    return found


def _key(name: str) -> tuple[list[str | int], str]:
    # Texts are at the even places, so that a text is never compared with a number.
    return [int(part) if k % 2 else part for k, part in enumerate(_NUMBER.split(name))], name
