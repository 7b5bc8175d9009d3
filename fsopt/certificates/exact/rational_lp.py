r"""The linear program of a proof in rational numbers, for a solver that others wrote.

QSopt_ex solves its text, the LP format with numbers ``p/q``, without any rounding: the optimum that it finds has to be
in the interval of the proof.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from fsopt.certificates.exact.proofs import Part
from fsopt.errors import NotShownError
from fsopt.verifier.grammar import number

CONVEX = ("quadratic", "concave", "cones", "matrices", "integer")
"""The parts of a program that no linear program has."""


def rational_lp(part: Part) -> str:
    """Return the linear program of a claim in the LP format, its numbers the very ones of the proof.

    Variables are ``x0, x1, ...``, and ``one``, which is 1, has the constant of the objective as its cost.

    Parameters
    ----------
    part : a claim with its program, as plain data.

    Raises
    ------
    NotShownError : the program is not linear.
    """
    program = part["program"]
    if "loss" in program or any(program[name] for name in CONVEX):
        raise NotShownError(
            "a proof of another kind than of a linear program has no such form", "give the file a name in .json"
        )
    costs = [_term(v, f"x{j}") for j, v in enumerate(program["c"])] + [_term(program["c0"], "one")]
    lines = ["Problem", " fsopt", "Maximize" if program["sense"] == "max" else "Minimize", " cost:", *costs]
    lines.append("Subject To")
    for i, (columns, values, lo, hi) in enumerate(program["rows"]):
        terms = [_term(v, f"x{j}") for j, v in zip(columns, values, strict=True)] or ["0 one"]
        ends = [("=", lo)] if lo == hi else [(">=", lo), ("<=", hi)]
        for k, (relation, end) in enumerate(ends):
            lines += [] if end is None else [f" r{i}.{k}:", *terms, f" {relation} {_text(end)}"]
    lines += ["Bounds", " one = 1", *_bounds(zip(program["lb"], program["ub"], strict=True)), "End"]
    return "\n".join(lines) + "\n"


def _bounds(pairs: Iterable[tuple[Any, Any]]) -> list[str]:
    ends = [("-infinity" if lo is None else _text(lo), "infinity" if hi is None else _text(hi)) for lo, hi in pairs]
    return [f" {lo} <= x{j} <= {hi}" for j, (lo, hi) in enumerate(ends)]


def _term(value: Any, name: str) -> str:
    return f" + {_text(value)} {name}" if number(value) >= 0 else f" - {_text(value)[1:]} {name}"


def _text(value: Any) -> str:
    return str(Fraction(number(value)))
