"""The five papers: the key of folders, registries and pages -> authors, title and page of the documentation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True)
class Paper:
    """One paper.

    Attributes
    ----------
    authors : family names, as prose cites the paper.
    title : in full.
    page : of the documentation, from the root of the repository.
    """

    authors: str
    title: str
    page: str


PAPERS: Mapping[str, Paper] = MappingProxyType(
    {
        "gmeb": Paper(
            "Peleg & Meir", "Feature selection by global minimization of a generalization bound", "docs/gmeb.md"
        ),
        "mpm": Paper(
            "Yang & Ju",
            "A DC programming approach for feature selection in the minimax probability machine",
            "docs/mpm.md",
        ),
        "sla": Paper("Mangasarian", "Machine learning via polyhedral concave minimization", "docs/sla.md"),
        "gbd": Paper(
            "Aytug",
            "Feature selection for support vector machines using Generalized Benders Decomposition",
            "docs/gbd.md",
        ),
        "mop": Paper("Bi", "Multi-objective programming in SVMs", "docs/mop.md"),
    }
)
"""Key -> paper, in the order of the registries."""
