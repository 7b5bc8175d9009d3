"""The five papers: the key of folders, registries and pages -> authors and title; its page is ``docs/<key>.md``."""

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
    """

    authors: str
    title: str


PAPERS: Mapping[str, Paper] = MappingProxyType(
    {
        "gmeb": Paper("Peleg & Meir", "Feature selection by global minimization of a generalization bound"),
        "mpm": Paper("Yang & Ju", "A DC programming approach for feature selection in the minimax probability machine"),
        "sla": Paper("Mangasarian", "Machine learning via polyhedral concave minimization"),
        "gbd": Paper("Aytug", "Feature selection for support vector machines using Generalized Benders Decomposition"),
        "mop": Paper("Bi", "Multi-objective programming in SVMs"),
    }
)
"""Key -> paper, in the order of the registries."""
