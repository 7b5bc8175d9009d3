"""Keywords that several functions have in common: their defaults and texts stand with the function that reads them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Collection
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


def section(doc: str, title: str) -> str:
    """Return the text of a section of a docstring; empty where it has none."""
    found = re.search(rf"^{title}\n-+\n(.*?)(?:\n\n|\Z)", doc, flags=re.DOTALL | re.MULTILINE)
    return found[1] if found else ""


def with_keywords_of(*sources: Callable[..., Any], without: Collection[str] = ()) -> Callable[[F], F]:
    """Return a decorator that puts the keywords of other functions in the place of ``**keywords``.

    The signature and the docstring of the decorated function have its own keywords first, then those of the sources
    with their defaults and texts. The function itself hands them on, and what takes them refuses unknown names. Where
    it says nothing of what it returns, that and what it raises are those of the last source.

    Parameters
    ----------
    sources : functions with keyword-only parameters, each with a text of its own under Parameters.
    without : names that are left out.
    """

    def named(function: F) -> F:
        signature = inspect.signature(function)
        parameters = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
        texts: list[str] = []
        for source in sources:
            listed = re.split(r"\n(?=\S)", section(inspect.getdoc(source) or "", "Parameters"))
            text_of = {text.partition(" : ")[0]: text for text in listed}
            for p in inspect.signature(source).parameters.values():
                if p.kind is p.KEYWORD_ONLY and p.name not in without:
                    parameters.append(p)
                    texts.append(text_of.get(p.name, ""))
        function.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        doc = inspect.getdoc(function) or ""
        if not section(doc, "Returns"):
            of_source = inspect.getdoc(sources[-1]) or ""
            head, notes, rest = doc.partition("\nNotes\n")
            for title in ("Returns", "Raises"):
                head += f"\n{title}\n{'-' * len(title)}\n{section(of_source, title)}\n"
            doc = head + notes + rest
        head, returns, rest = doc.partition("\nReturns\n-------\n")
        if not section(head, "Parameters"):
            head = head.rstrip("\n") + "\n\nParameters\n----------\n"
        function.__doc__ = head + "\n".join(texts) + (f"\n{returns}{rest}\n" if returns else "\n")
        return function

    return named
