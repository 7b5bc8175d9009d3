"""Well-formed texts of each format with the meaning of their numbers, and texts in which one word or line is another.

A template has a fact behind each number that states one, ``1.5{c 0}``; its other numbers are counts and indices. Facts
are ``c0``, ``c j``, ``q j k`` of the objective, ``A i j``, ``Q i j k``, ``b i``, ``lo i``, ``hi i`` of constraints,
``lb j``, ``ub j`` of variables, and others of a solution or a sheet. ``{q 0 0*.5}`` has half the number of the text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

MPS = """NAME m
ROWS
 N  obj
 L  c0
 G  c1
 E  c2
COLUMNS
 x0  obj  1.5{c 0}
 x0  c0  2{A 0 0}
 x0  c1  1{A 1 0}
 M  'MARKER'  'INTORG'
 x1  obj  -1{c 1}
 x1  c0  3{A 0 1}
 x1  c2  1{A 2 1}
 M  'MARKER'  'INTEND'
 x2  obj  2.5{c 2}
 x2  c1  4{A 1 2}
 x2  c2  1{A 2 2}
RHS
 S  c0  12{hi 0}
 S  c1  -5{lo 1}
 S  c2  3{lo 2}
 S  obj  -7{c0*-1}
RANGES
 S  c0  8{span 0}
BOUNDS
 LO S  x0  -2{lb 0}
 UP S  x0  5{ub 0}
 UP S  x1  6{ub 1}
 UP S  x2  7{ub 2}
QUADOBJ
 x0  x0  2{q 0 0*.5}
 x2  x2  4{q 2 2*.5}
"""
QCMATRIX = """QCMATRIX c1
 x0  x0  -1{Q 1 0 0}
 x2  x2  -2{Q 1 2 2}
"""
LP = """Minimize
 obj: 1.5{c 0} x0 - 1{c 1*-1} x1 + 2.5{c 2} x2 + [ 2{q 0 0*.5} x0 ^ 2 + 4{q 2 0*.5} x2 * x0 ] / 2
Subject To
 c0: 2{A 0 0} x0 + 3{A 0 1} x1 <= 12{hi 0}
 c1: 1{A 1 0} x0 + 4{A 1 2} x2 %s >= -30{lo 1}
 c2: 1{A 2 1} x1 + 1{A 2 2} x2 = 3{lo 2}
Bounds
 -2{lb 0} <= x0 <= 5{ub 0}
 0{lb 1} <= x1 <= 6{ub 1}
 x2 <= 7{ub 2}
General
 x1
End
"""
BRACKET = "+ [ - 1{Q 1 0 0*-1} x0 ^ 2 - 2{Q 1 2 2*-1} x2 ^ 2 ]"
NL = """g3 1 1 0
 3 3 1 1 1
 1 1
 0 0
 2 1 1
 0 0 0 1
 0 0 0 1 0
 6 3
 0 0
 0 0 0 0 0
C0
o2
n2{Q 0 0 1}
o2
v0
v1
C1
n0{b 1}
C2
n0{b 2}
O0 0
o2
n3{q 0 0}
o2
v0
v0
r
0 4{lo 0} 12{hi 0}
2 1{lo 1}
4 3{lo 2}
b
0 -2{lb 0} 5{ub 0}
0 0{lb 1} 6{ub 1}
0 0{lb 2} 7{ub 2}
k2
2
4
J0 2
0 2{A 0 0}
1 3{A 0 1}
J1 2
0 1{A 1 0}
2 4{A 1 2}
J2 2
1 1{A 2 1}
2 1{A 2 2}
G0 3
0 1.5{c 0}
1 -1{c 1}
2 2.5{c 2}
"""
CBF = """VER
3
OBJSENSE
MIN
VAR
3 2
F 2
L+ 1
INT
1
1
CON
5 2
L- 2
Q 3
OBJACOORD
3
0 1.5{c 0}
1 -1{c 1}
2 2.5{c 2}
OBJBCOORD
7{c0}
ACOORD
6
0 0 2{A 0 0}
0 1 3{A 0 1}
1 2 1{A 1 2}
2 0 4{A 2 0}
3 1 2{A 3 1}
4 2 3{A 4 2}
BCOORD
5
0 -12{b 0}
1 -7{b 1}
2 20{b 2}
3 1{b 3}
4 2{b 4}
"""
GMS = """* Convert
Variables  x0,x1,x2,obj;
Integer Variables  x1;
Equations  c0,c1,c2,cost;
c0.. 2{A 0 0}*x0 + 3{A 0 1}*x1 + 2{Q 0 0 1}*x0*x1 =L= 12{hi 0};
c1.. 1{A 1 0}*x0 + x2*4{A 1 2} =G= 1{lo 1};
c2.. 3{lo 2} =E= 1{A 2 1}*x1 + 1{A 2 2}*x2;
cost.. - obj + 1.5{c 0}*x0 + (-1{c 1})*x1 + 2.5{c 2}*x2 + 3{q 0 0}*sqr(x0) =E= -7{c0*-1};
x0.lo = -2{lb 0}; x0.up = 5{ub 0};
x1.lo = 0{lb 1}; x1.up = 6{ub 1};
x2.lo = 0{lb 2}; x2.up = 7{ub 2};
Model m / all /;
Solve m using minlp minimizing obj;
"""
LABEL = re.compile(r"(\S*?([-\d.]+))\{([^}*]*)\*?([^}]*)\}")
WORD = re.compile(r"(?<![\w.])[A-Za-z][\w]*|(?<![\w.])-?\d+(?:\.\d+)?|(?<=[A-Za-z])\d+(?![\w.])")
WRONG = ("0", "1", "2", "3", "-1", "7.5", "nan", "1e400", "2x", "1000000000", "1.5.2", "1_0", "-inf")
DIFFERENT = {"nan", "1e400", "2x", "1.5.2", "1_0", "-inf"}
"""Words that are no finite number."""
Facts = dict[str, float]


@dataclass(frozen=True)
class Damaged:
    """A text in which something is another.

    Attributes
    ----------
    text, what : the text, and what happened to it.
    facts : its facts; None where they are not known, and the text has to be refused where it is read strictly.
    place : the word that is another one.
    """

    text: str
    what: str
    facts: Facts | None
    place: int = 0

    def idle(self, lines: set[int]) -> bool:
        """Return whether the place is in one of some lines."""
        return self.text.count("\n", 0, self.place) in lines


def plain(template: str) -> tuple[str, Facts]:
    """Return the text of a template and its facts."""
    facts = {key: float(number) * float(factor or 1) for _, number, key, factor in LABEL.findall(template)}
    return LABEL.sub(r"\1", template), facts


def damaged(template: str, rng: np.random.Generator) -> Damaged:
    """Return the text of a template with one number, word, line or section exchanged, lost, doubled or moved."""
    text, facts = plain(template)
    kind = int(rng.integers(8))
    if kind < 3:
        found = list(LABEL.finditer(template))
        one = found[int(rng.integers(len(found)))]
        word = str(rng.choice([*WRONG, f"{float(one[2]) + 1:g}", f"{-float(one[2]):g}", "0.5"]))
        start = one.start(2)
        new = plain(template[:start] + "0" + template[one.end(2) :])[0]
        at = len(plain(template[:start])[0])
        changed = new[:at] + word + new[at + 1 :]
        known = None if word in DIFFERENT else facts | {one[3]: float(word) * float(one[4] or 1)}
        return Damaged(changed, f"{one[3]}: {one[2]} is {word}", known)
    if kind < 5:
        one, other = (list(WORD.finditer(text))[k] for k in rng.integers(len(WORD.findall(text)), size=2))
        word = other[0] if rng.integers(2) else str(rng.choice(WRONG))
        same = facts if word == one[0] else None
        changed = text[: one.start()] + word + text[one.end() :]
        return Damaged(changed, f"'{one[0]}' at {one.start()} is '{word}'", same, one.start())
    lines = text.splitlines(True)
    heads = [k for k, line in enumerate(lines) if line[0].isalpha() or k == 0]
    k = int(rng.integers(len(heads))) if rng.integers(2) else -1
    first, last = (heads[k], [*heads, len(lines)][k + 1]) if k >= 0 else (n := int(rng.integers(len(lines))), n + 1)
    what = f"lines {first + 1} to {last}"
    part, rest = lines[first:last], lines[:first] + lines[last:]
    if kind == 5:
        return Damaged("".join(lines[:last] + part + lines[last:]), f"{what} come twice", None)
    if kind == 6:
        return Damaged("".join(rest), f"{what} are lost", None)
    return Damaged("".join(lines[:first]), f"it ends before line {first + 1}", None)
