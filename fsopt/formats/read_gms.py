"""GAMS files of scalar form, as GAMS's Convert and Pyomo write them: no sets, and each equation written out.

The objective is the variable after ``minimizing``. Where it has no bounds, and is alone in one equation, with the
coefficient 1 or -1, the rest of this equation is the objective, and neither of both is in the model.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyomo.environ as pyo
import scipy.sparse as sp

from fsopt.errors import FileError
from fsopt.formats.gms_terms import FUNCTIONS, Word, value_of, words_of, wrong
from fsopt.formats.read_arrays import ReadProgram, Terms, countable, model_of

INF = float("inf")
KINDS = {
    "free": (-INF, INF),
    "positive": (0.0, INF),
    "nonnegative": (0.0, INF),
    "negative": (-INF, 0.0),
    "binary": (0.0, 1.0),
    "integer": (0.0, INF),
    "semicont": (0.0, INF),
    "semiint": (0.0, INF),
}
"""Kind of variables -> its bounds."""
WHOLE = ("binary", "integer", "semiint")
SEMI = ("semicont", "semiint")
RELATIONS = {"=e=": (0.0, 0.0), "=l=": (-INF, 0.0), "=g=": (0.0, INF), "=n=": (-INF, INF)}
"""Relation -> lower and upper bound of the left-hand minus the right-hand side."""
CLASSES = {"lp": False, "qcp": False, "nlp": False, "dnlp": False, "mip": True, "miqcp": True, "minlp": True}
"""Class of a model in ``solve`` -> whether it may have integers."""
BOUNDS = {"lo": ("lo",), "up": ("up",), "fx": ("lo", "up")}
IDLE = ("l", "m", "prior")
"""Attributes of a variable or an equation that are a start or guide a solver."""
OPTIONS = re.compile(
    "limrow|limcol|solprint|solvelink|sysout|optcr|optca|optfile|reslim|iterlim|nodlim|workspace|tolproj|threads"
)
"""Attributes of a model, and options, that are a solver's or a listing's."""
SENSES = {"minimizing": False, "minimising": False, "maximizing": True, "maximising": True}


@dataclass
class _Gams:
    """What the statements of a file say; names are keys in small letters."""

    macros: Mapping[str, str]
    spelling: dict[str, str] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)
    equations: list[str] = field(default_factory=list)
    bounds: dict[str, dict[str, float]] = field(default_factory=dict)
    bodies: dict[str, tuple[list[Word], Word, list[Word]]] = field(default_factory=dict)
    model: str = ""
    objective: str = ""
    maximise: bool = False
    problem: str = ""

    def names(self, words: Sequence[Word]) -> set[str]:
        """Return the variables among words."""
        return {word.key for word in words if word.kind == "name" and word.key in self.kinds}


def read_gms(text: str) -> pyo.ConcreteModel:
    """Return the model of a GAMS file; raises FileError for one that has other statements, is damaged or cut."""
    words, macros = words_of(text)
    gams = _Gams(macros)
    statements = list(_statements(words))
    for number, statement in enumerate(statements):
        _read(statement, gams)
        if gams.objective:
            _refuse_later(statements[number + 1 :])
            break
    if not gams.objective:
        raise FileError("the .gms file has no solve statement, so it may be cut", "get the whole file")
    _check(gams)
    return model_of(_program(gams))


def _statements(words: Sequence[Word]) -> Iterator[list[Word]]:
    """Yield the statements with their semicolons; the last one may lack it."""
    statement: list[Word] = []
    for word in words:
        statement.append(word)
        if word.text == ";":
            if len(statement) > 1:
                yield statement
            statement = []
    if statement:
        yield statement


def _read(statement: list[Word], gams: _Gams) -> None:
    """Read one statement."""
    first, *rest = statement
    if statement[-1].text != ";":
        raise wrong(first, "this statement has no semicolon", "get the whole file")
    rest = rest[:-1]
    texts = [word.key for word in rest]
    kind = first.key if first.key in KINDS and texts[:1] in (["variable"], ["variables"]) else ""
    if kind or first.key in ("variable", "variables"):
        _declare(rest[1:] if kind else rest, gams, lambda name: gams.kinds.setdefault(name, kind or "free"), kind)
    elif first.key in ("equation", "equations"):
        _declare(rest, gams, gams.equations.append)
    elif texts[:1] == [".."]:
        _define(first, rest[1:], gams)
    elif texts[:1] == ["."] and len(rest) > 3 and texts[2] == "=":
        _assign(first, rest[1], rest[3:], gams)
    elif first.key == "model" and texts[1:] == ["/", "all", "/"] and not gams.model:
        gams.model = _new(rest[0], gams)
    elif (
        first.key == "option"
        and len(rest) == 3
        and texts[1] == "="
        and (OPTIONS.fullmatch(texts[0]) or texts[0] in CLASSES)
    ):
        pass
    elif first.key == "solve" and len(rest) == 5 and texts[1] == "using" and texts[3] in SENSES:
        _solve(rest, gams)
    else:
        raise wrong(first, "this statement is not read", "let GAMS's Convert write the model in scalar form")


def _new(word: Word, gams: _Gams) -> str:
    """Return the key of a name that is declared; raises FileError for one that is there already, or reserved."""
    if word.kind != "name" or word.key in FUNCTIONS or word.key == "inf":
        raise wrong(word, "this is no name")
    if word.key in gams.spelling:
        raise wrong(word, "this name is declared twice")
    gams.spelling[word.key] = word.text
    return word.key


def _declare(words: list[Word], gams: _Gams, add: Callable[[str], Any], kind: str = "") -> None:
    """Read names of variables or equations, each perhaps with a text; a kind may be that of free variables."""
    after: Word | None = None
    for word in words:
        if word.text == ",":
            after = None
        elif word.kind == "text" and after is not None:
            continue
        elif after is not None and after.line == word.line:
            raise wrong(word, "there is no comma before this", "leave explaining texts out")
        elif kind not in ("", "free") and gams.kinds.get(word.key) == "free":
            gams.kinds[word.key] = kind
            after = word
        else:
            add(_new(word, gams))
            after = word
    countable(len(gams.spelling))


def _define(name: Word, words: list[Word], gams: _Gams) -> None:
    """Read the definition of an equation."""
    if name.key not in gams.equations or name.key in gams.bodies:
        raise wrong(name, "this equation is not declared, or defined twice")
    relations = [k for k, word in enumerate(words) if word.text.startswith("=")]
    if len(relations) != 1 or words[relations[0]].key not in RELATIONS:
        raise wrong(name, f"an equation has one relation of {', '.join(RELATIONS)}")
    [at] = relations
    gams.bodies[name.key] = words[:at], words[at], words[at + 1 :]


def _assign(name: Word, attribute: Word, words: list[Word], gams: _Gams) -> None:
    """Read a bound of a variable, or an attribute that changes nothing in the program."""
    if name.key == gams.model:
        if not OPTIONS.fullmatch(attribute.key):
            raise wrong(attribute, "this attribute of a model is not read")
        return
    if name.key not in gams.kinds and not (name.key in gams.equations and attribute.key in IDLE):
        raise wrong(name, "this is no variable of the file")
    if attribute.key not in (*BOUNDS, *IDLE):
        raise wrong(attribute, "this attribute of a variable is not read")
    value = _number(words)
    for end in BOUNDS.get(attribute.key, ()):
        if end in gams.bounds.setdefault(name.key, {}):
            raise wrong(name, "a bound of this variable is stated twice")
        gams.bounds[name.key][end] = value


def _number(words: list[Word]) -> float:
    """Return the number of a bound, which may be infinite."""
    sign = {"+": 1.0, "-": -1.0}.get(words[0].text, 0.0)
    if [word.key for word in words[bool(sign) :]] == ["inf"]:
        return INF * (sign or 1.0)
    return float(value_of(words, {}))


def _solve(rest: list[Word], gams: _Gams) -> None:
    """Read the statement ``solve MODEL using CLASS minimizing VARIABLE``."""
    model, _, problem, sense, objective = rest
    if not gams.model or model.key != gams.model:
        raise wrong(model, "this is no model of the file")
    gams.problem = gams.macros.get(problem.key.strip("%"), "") if problem.kind == "macro" else problem.key
    if gams.problem not in CLASSES:
        raise wrong(problem, "a model of this class is not read", f"write one of {', '.join(CLASSES)}")
    if objective.key not in gams.kinds:
        raise wrong(objective, "this is no variable of the file")
    gams.objective, gams.maximise = objective.key, SENSES[sense.key]


def _refuse_later(statements: Sequence[list[Word]]) -> None:
    """Raise FileError for statements after ``solve`` that are no report of its result."""
    for statement in statements:
        rest = statement
        while rest and rest[0].key not in ("scalar", "scalars", "display", ";"):
            if len(rest) < 5 or (rest[1].text, rest[3].text) != ("=", "."):
                raise wrong(rest[0], "this statement after solve is not read", "end the file with solve")
            rest = rest[5:]
        if again := [word for word in rest if word.key == "solve"]:
            raise wrong(again[0], "there is another solve statement", "leave one")


def _check(gams: _Gams) -> None:
    """Raise FileError for parts that are missing, and may have been lost, and for kinds that the class has not."""
    if lost := [name for name in gams.equations if name not in gams.bodies]:
        raise FileError(
            f"the equation '{gams.spelling[lost[0]]}' of the .gms file is not defined", "get the whole file"
        )
    used = {name for left, _, right in gams.bodies.values() for name in gams.names([*left, *right])}
    if idle := [name for name in gams.kinds if name not in used]:
        raise FileError(f"the variable '{gams.spelling[idle[0]]}' of the .gms file is in no equation", "leave it out")
    for name, kind in gams.kinds.items():
        if kind in (*WHOLE, *SEMI) and not CLASSES[gams.problem]:
            raise FileError(
                f"the variable '{gams.spelling[name]}' of the .gms file is {kind}, and its class {gams.problem}",
                "correct the class of the solve statement",
            )
        own = gams.bounds.get(name, {})
        low, high = own.get("lo", 0.0), own.get("up", 1.0 if kind == "binary" else None)
        if kind in ("integer", *SEMI) and high is None:
            raise FileError(
                f"the {kind} variable '{gams.spelling[name]}' of the .gms file has no upper bound: GAMS takes 100 or "
                "none, by its version",
                f"state it, {gams.spelling[name]}.up = 100",
            )
        if (kind == "binary" and (low < 0 or (high or 0.0) > 1)) or (kind in SEMI and low < 0):
            raise FileError(
                f"the {kind} variable '{gams.spelling[name]}' of the .gms file has other bounds", "correct them"
            )


def _program(gams: _Gams) -> ReadProgram:
    found = _objective(gams)
    rows = [name for name in gams.equations if found is None or name != found[0]]
    columns = [name for name in gams.kinds if found is None or name != gams.objective]
    place = {name: j for j, name in enumerate(columns)}
    forms = [_form(gams, name, place) for name in rows]
    ends = [(gams.bounds.get(name, {}), KINDS[gams.kinds[name]]) for name in columns]
    cost = None if found is None else _difference(gams, *found[1:], place)
    return ReadProgram(
        name="gams",
        columns=[gams.spelling[name] for name in columns],
        rows=[gams.spelling[name] for name in rows],
        maximise=gams.maximise,
        c=np.array([float(found is None and name == gams.objective) for name in columns]),
        c0=cost if isinstance(cost, float) else 0.0,
        A=sp.csr_matrix((len(rows), len(columns))),
        lo=np.array([low for low, _, _ in forms]),
        hi=np.array([high for _, high, _ in forms]),
        lb=np.array([own.get("lo", kind[0]) for own, kind in ends]),
        ub=np.array([own.get("up", kind[1]) for own, kind in ends]),
        integer=np.array([gams.kinds[name] in WHOLE for name in columns], dtype=bool),
        semi=np.array([gams.kinds[name] in SEMI for name in columns], dtype=bool),
        objective=None if isinstance(cost, float) else cost,
        terms={i: terms for i, (_, _, terms) in enumerate(forms)},
    )


def _objective(gams: _Gams) -> tuple[str, list[Word], list[Word]] | None:
    """Return the equation of the objective variable, and the words of which it is the difference, if it is one."""
    name = gams.objective
    [first, *others] = [key for key, (a, _, b) in gams.bodies.items() if name in gams.names([*a, *b])]
    left, relation, right = gams.bodies[first]
    if others or relation.key != "=e=" or gams.kinds[name] != "free" or name in gams.bounds:
        return None
    side, other = (left, right) if name in gams.names(left) else (right, left)
    at = [k for k, word in enumerate(side) if word.key == name]
    texts = ["", *(word.text for word in side), ""]
    before, after = texts[at[0]], texts[at[0] + 2]
    inside = texts[: at[0] + 1].count("(") > texts[: at[0] + 1].count(")")
    if len(at) > 1 or name in gams.names(other) or inside or {before, after} - {"", "+", "-"}:
        return None
    rest = side[: at[0] - bool(before)] + side[at[0] + 1 :]
    return (first, rest, other) if before == "-" else (first, other, rest)


def _form(gams: _Gams, name: str, place: Mapping[str, int]) -> tuple[float, float, Terms]:
    """Return lower and upper bound and left-hand side of an equation, its constants alone on the right."""
    left, relation, right = gams.bodies[name]
    low, high = RELATIONS[relation.key]
    if not gams.names(left):
        left, right = right, left
        low, high = -high, -low
    constant = 0.0 if gams.names(right) else value_of(right, {})
    found = _difference(gams, left, right if gams.names(right) else [], place)
    if isinstance(found, float):
        raise wrong(relation, f"the equation '{gams.spelling[name]}' has no variables", "leave it out")
    return low + constant, high + constant, found


def _difference(gams: _Gams, plus: list[Word], minus: list[Word], place: Mapping[str, int]) -> float | Terms:
    """Return the terms of some words minus those of others, no words being 0; a number where there is no variable."""
    names = gams.names([*plus, *minus])

    def terms(x: Sequence[Any]) -> Any:
        own = {name: x[place[name]] for name in names}
        found = value_of(plus, own) if plus else 0.0
        return found - value_of(minus, own) if minus else found

    return terms if names else float(terms(()))
