"""The equations of components, which docs of components have as text, in LaTeX: ``s_j^2 <= 4 mu_1`` and so on."""

from __future__ import annotations

import re

GREEK = ("alpha", "beta", "gamma", "delta", "theta", "kappa", "lambda", "mu", "xi", "rho", "sigma", "tau")
FUNCTIONS = {"sum": r"\sum", "exp": r"\exp", "step": r"\mathrm{step}", "diag": r"\mathrm{diag}"}
WORDS = {name: f"\\{name}" for name in GREEK} | FUNCTIONS | {"complements": r"\perp", "sqrt": r"\sqrt"}
WORDS |= {product: product for product in ("RW", "Bw", "Aw", "XY")}
SIGNS = {"<=": r"\le", ">=": r"\ge", "||": r"\Vert", "|": r"\vert"}
TAG = re.compile(r"\((?:[A-Z]+(?:-[A-Z]\w*|-lambda)?|\d+)\)(?:,[^:]*:)?(?:, \(\d+\))?(?=\s|$)")
"""The number of an equation, and what it is said of: ``(15)``, ``(FSP-M)``, ``(11), budget:``."""
TOKEN = re.compile(
    r"(?P<half>\b1/2\b)|(?P<bar>[A-Za-z](?:_bar| bar)\b)|(?P<part>(?:[A-Za-z]|(?<=mu))[+-](?=[\s')_^]|$))"
    r"|(?P<index>[_^](?:[+-]|\w\w?\b))|(?P<word>[A-Za-z]+)|(?P<sign><=|>=|\|\||\|)|(?P<other>\d+|[-+=/()\[\]',\s])"
)


def with_mathematics(doc: str) -> str:
    """Return the doc of a component as Markdown: its formulas as mathematics, its words as they are."""
    tag = TAG.match(doc)
    head, rest = (tag[0], doc[tag.end() :].strip()) if tag else ("", doc)
    return f"{head} {'; '.join(', '.join(map(_part, _split(piece))) for piece in rest.split('; '))}".strip()


def latex(formula: str) -> str | None:
    """Return a formula in LaTeX; None for one that has words."""
    found, end = [], 0
    while end < len(formula):
        token = TOKEN.match(formula, end)
        if token is None or (token["word"] and len(token["word"]) > 1 and token["word"] not in WORDS):
            return None
        found.append(_token(token))
        end = token.end()
    text = re.sub(r"\s+", " ", "".join(found)).strip()
    text = re.sub(r"(\\[a-zA-Z]+|\}) (?=[_^'),])", r"\1", text)  # a command ends where no letter follows
    return re.sub(r"\\sqrt *\(([^()]*(?:\([^()]*\)[^()]*)*)\)", r"\\sqrt{\1}", text)


def _token(token: re.Match[str]) -> str:
    """Return one token in LaTeX; a command ends with a space."""
    text = token[0]
    if token["half"]:
        return r"\tfrac12 "
    if token["bar"]:
        return rf"\bar {text[0]} "
    if token["part"]:
        return f"{{{text[:-1]}^{text[-1]}}}"
    if token["index"]:
        return f"{text[0]}{{{text[1:]}}}"
    if token["word"]:
        return f"{WORDS[text]} " if len(text) > 1 else text
    return f"{SIGNS[text]} " if token["sign"] else text


def _split(text: str) -> list[str]:
    """Return the parts between commas that are in no parentheses."""
    parts, depth = [""], 0
    for k, letter in enumerate(text):
        depth += (letter in "([") - (letter in ")]")
        if text[k : k + 2] == ", " and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts]


def _part(text: str) -> str:
    """Return a formula as mathematics, and words, and the number of another equation, as they are."""
    if tag := TAG.match(text):
        return f"{tag[0]} {_part(text[tag.end() :].strip())}"
    found = latex(text)
    return text if not found else f"${found}$"
