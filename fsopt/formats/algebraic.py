"""The formats that Pyomo writes, .lp, .mps, .nl and .gms, with changes for readers other than Pyomo's own."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping
from io import StringIO
from pathlib import Path

import pyomo.environ as pyo
from pyomo.common.log import LoggingIntercept
from pyomo.mpec import Complementarity
from pyomo.mpec.plugins.mpec4 import MPEC4_Transformation

from fsopt.compiler import Program, compile_model
from fsopt.compiler.cones import blocks
from fsopt.errors import FileError, foreign
from fsopt.formats.kinds import refuse_kinds
from fsopt.formats.names import io_options, name_of
from fsopt.formats.read_arrays import INFINITE
from fsopt.formats.read_nl import changing

COMPANIONS: Mapping[str, tuple[str, ...]] = {".nl": (".row", ".col")}
"""Further files of a format: an .nl file has no names, they are in files beside it."""
QUADRATIC = (".lp", ".mps")
"""Formats with linear and quadratic terms only."""
STATED = (pyo.SOSConstraint.__name__, "floor", "ceil", "Expr_ifExpression")
"""Parts without a place in the arrays that these formats state."""
STATED_BY = {".gms": ("floor", "ceil"), ".nl": (*STATED, Complementarity.__name__)}
"""Format -> what it states, where it is another one."""
COMMENT = re.compile(rb"[ \t]*#[^\n]*")
"""A comment in an .nl file, which has no other use of this sign: names are in the files beside it."""
SOLVED = re.compile(rb"(?<=\n)SOLVE [^;\n]*;\n")
"""The last statement of a .gms file that is the program; Pyomo's reports of the result come after it."""
POWER = re.compile(r" \*\* (\d+(?![\w.])|\(-\d+\))")
"""A power with a whole number as its exponent, in .gms."""
WORDS = {"LI": "MI", "UI": "PL"}
"""Word of an integer bound -> the word of an infinite one."""
BOUND = re.compile(r"[ \t]+(LI|UI)[ \t]+(\S+)[ \t]+(\S+)[ \t]+([-+]?\d++\.?\d*+(?:[eE][-+]?\d++)?)[ \t]*")
"""The digits are taken once (++): a long number would be tried at each length."""


def algebraic(model: pyo.ConcreteModel, suffix: str) -> dict[str, bytes]:
    """Return suffix -> content of the files of a model, ``suffix`` first.

    Names are those of the file that the model was read from, where the format can hold them. A .gms file ends
    where its model is solved. Six parts of Pyomo's text are changed because some readers refuse them: in an .lp file
    ``x ^ 2`` becomes ``x^2`` (SCIP), in an .mps file a column that occurs in quadratic terms only gets a line, all
    special ordered sets are in one section (Gurobi) and infinite bounds of integers are words (HiGHS), and an .nl file
    loses its comments (CasADi) and states the weights of special ordered sets as numbers with fractions, if they are.

    Raises
    ------
    FileError : the format cannot hold the model; none of these formats can hold a linear matrix inequality.
    """
    _refuse_matrices(model, suffix)
    program = compile_model(model)
    refuse_kinds(program, suffix, STATED_BY.get(suffix, STATED))
    _refuse_empty(program, suffix)
    if suffix in QUADRATIC:
        _refuse_nonlinear(program, suffix)
    if suffix == ".nl":
        _refuse_suffixes(model)
        _refuse_sets(model)
    # Some formats contain the stem of the file's name: a fixed stem gives the same bytes for every target.
    failed = f"cannot export '{model.name}' to {suffix}"
    try:
        with (
            foreign("Pyomo", failed, "use another format, .nl holds the most", FileError),
            tempfile.TemporaryDirectory() as folder,
            LoggingIntercept(StringIO(), "pyomo.core"),  # remarks on integers without bounds in .gms, of no use here
        ):
            source = Path(folder) / f"model{suffix}"
            stated = _with_pairs(model)
            stated.write(str(source), io_options=io_options(stated, suffix))
            contents = {s: source.with_suffix(s).read_bytes() for s in (suffix, *COMPANIONS.get(suffix, ()))}
    except OSError as error:
        raise FileError(
            f"{failed}: {error.strerror or error}",
            "free space in the folder of temporary files, or set TMPDIR to another one",
        ) from error
    if suffix == ".lp":
        contents[suffix] = contents[suffix].replace(b" ^ 2", b"^2")
    if suffix == ".nl":
        contents[suffix] = _with_all_sets(model, COMMENT.sub(b"", contents[suffix]))
        if getattr(model, "read_from_file", False):
            contents |= {end: _renamed(stated, contents[end]) for end in COMPANIONS[suffix]}
    if suffix == ".gms":
        [end] = SOLVED.finditer(contents[suffix])
        lines = contents[suffix][: end.end()].decode().split("\n")
        contents[suffix] = "\n".join(map(_with_powers, lines)).encode()
    if suffix == ".mps":
        contents[suffix] = with_words(_one_section(_every_column(contents[suffix].decode()))).encode()
    return contents


def _with_pairs(model: pyo.ConcreteModel) -> pyo.ConcreteModel:
    """Return the model, or where it has complementarities a copy in which each is of two new variables, for .nl."""
    if next(model.component_data_objects(Complementarity, active=True, descend_into=True), None) is None:
        return model
    copy = model.clone()
    failed = f"cannot export '{model.name}' to .nl, which has complementarities of two inequalities"
    for component in [*copy.component_objects(Complementarity, active=True, descend_into=True)]:
        for one in component.values():
            if one.active:
                # Without free variables: a variable with bounds of its own would be complementary at these instead.
                with foreign("Pyomo", f"{failed}: '{one.name}'", "state it as complements(a >= 0, b >= 0)", FileError):
                    MPEC4_Transformation().to_common_form(one, {})
                    if getattr(one.c, "_complementarity", 1) == 0:
                        raise ValueError("its first side has two bounds")
        component.parent_block().reclassify_component_type(component, pyo.Block)
    return copy


def _renamed(model: pyo.ConcreteModel, names: bytes) -> bytes:
    """Return the text of a file of names, .row or .col, with those of the file that the model was read from."""
    parts = model.component_data_objects((pyo.Var, pyo.Constraint), descend_into=True)
    own = {part.name: name_of(model, part) for part in parts}
    return "\n".join(own.get(line, line) for line in names.decode().split("\n")).encode()


def _with_powers(line: str) -> str:
    """Return a line of a .gms file with ``power(x, 2)`` for ``x ** 2``, an error in GAMS where x is negative."""
    # Pyomo writes the first for numbers, and the second for parameters.
    while found := POWER.search(line):
        start, depth = found.start(), 0
        while start == found.start() or depth or line[start - 1].isalnum() or line[start - 1] == "_":
            start -= 1
            depth += {")": 1, "(": -1}.get(line[start], 0)
        base = line[start : found.start()]
        line = f"{line[:start]}power({base}, {found[1].strip('()')}){line[found.end() :]}"
    return line


def _every_column(text: str) -> str:
    """Return the text of an .mps file with a zero cost for each column that has bounds and no entry."""
    lines = text.splitlines()
    start = {word: lines.index(word) for word in ("ROWS", "COLUMNS", "RHS", "BOUNDS")}
    objective = next(line.split()[1] for line in lines[start["ROWS"] : start["COLUMNS"]] if line.startswith(" N "))
    present = {line.split()[0] for line in lines[start["COLUMNS"] + 1 : start["RHS"]]}
    bounded = dict.fromkeys(line.split()[2] for line in lines[start["BOUNDS"] + 1 :] if " BOUND " in line)
    added = [f"     {name} {objective} 0" for name in bounded if name not in present]
    return "\n".join([*lines[: start["RHS"]], *added, *lines[start["RHS"] :]]) + "\n"


def _one_section(text: str) -> str:
    """Return the text of an .mps file with one section for all special ordered sets."""
    first, *others = text.split("\nSOS\n")
    return "\nSOS\n".join([first, "\n".join(others)]) if others else text


def _refuse_matrices(model: pyo.ConcreteModel, suffix: str) -> None:
    """Raise FileError for a linear matrix inequality, which Pyomo would write without its cone."""
    names = [block.name for block in blocks(model)]
    if names:
        more = f" (and {len(names) - 1} more)" if len(names) > 1 else ""
        raise FileError(
            f"cannot export '{model.name}' to {suffix}, which has no linear matrix inequalities: "
            f"'{names[0]}'{more} is one",
            "use .cbf or .dat-s",
        )


def _refuse_empty(program: Program, suffix: str) -> None:
    """Raise FileError for a model without variables, or for one without the objective that a format needs."""
    failed = f"cannot export '{program.model.name}' to {suffix}"
    if not program.n:
        raise FileError(f"{failed}: it has no variables", "give it one")
    if suffix in QUADRATIC and program.objective is None:
        raise FileError(f"{failed}: it has no objective", "give it one, Objective(expr=0.0) for any feasible point")


def _refuse_suffixes(model: pyo.ConcreteModel) -> None:
    """Raise FileError for a suffix that the file would have, and by which a reader may take it for another program."""
    for suffix in model.component_data_objects(pyo.Suffix, active=True, descend_into=True):
        if suffix.export_enabled() and len(suffix) and changing(suffix.local_name):
            raise FileError(
                f"cannot export '{model.name}' to .nl: its suffix '{suffix.name}' may change the program for a reader",
                "deactivate it, or make it a LOCAL one",
            )


def _refuse_sets(model: pyo.ConcreteModel) -> None:
    """Raise FileError for a special ordered set that Pyomo would write to .nl without some of its variables."""
    # The format states the sets by one number for each variable, so that the last of two sets would win.
    seen: set[int] = set()
    for one in model.component_data_objects(pyo.SOSConstraint, active=True, descend_into=True):
        twice = next((v.name for v in one.get_variables() if id(v) in seen), None)
        fixed = next((v.name for v in one.get_variables() if v.fixed), None)
        if twice or fixed:
            reason = f"another one has '{twice}' too" if twice else f"'{fixed}' is fixed"
            raise FileError(
                f"cannot export '{model.name}' to .nl, which has one set and one weight for each variable: "
                f"in the special ordered set '{one.name}' {reason}",
                "use .lp or .mps",
            )
        seen.update(map(id, one.get_variables()))


def _with_all_sets(model: pyo.ConcreteModel, text: bytes) -> bytes:
    """Return the text of an .nl file with weights of sets as numbers with fractions, where Pyomo says whole numbers."""
    sets = [*model.component_data_objects(pyo.SOSConstraint, active=True, descend_into=True)]
    stated = re.search(rb"^S[04] (\d+) sosno$", text, re.MULTILINE)
    if sum(len(one.variables) for one in sets) != (int(stated[1]) if stated else 0):
        raise FileError(
            f"cannot export '{model.name}' to .nl: a special ordered set has variables that are in no constraint and "
            "not in the objective",
            "put the variables in a constraint, or use .lp or .mps",
        )
    whole = all(pyo.value(weight) % 1 == 0 for one in sets for _, weight in one.get_items())
    return text if whole else re.sub(rb"^S0 (\d+) ref$", rb"S4 \1 ref", text, flags=re.MULTILINE)


def _refuse_nonlinear(program: Program, suffix: str) -> None:
    """Raise FileError for a term that is neither linear nor quadratic, with the name of its constraint."""
    reasons = dict(program.nonconic)
    names = [program.objective_name] if program.objective_terms else []
    names += [row.constraint.name for row in program.general if row.terms.nonlinear]
    if names:
        more = f" (and {len(names) - 1} more)" if len(names) > 1 else ""
        raise FileError(
            f"cannot export '{program.model.name}' to {suffix}, which holds quadratic terms at most: "
            f"in '{names[0]}'{more} {reasons[names[0]]}",
            "use .nl or .gms",
        )


def with_words(text: str) -> str:
    """Return the text of an .mps file with the words MI and PL in the place of integer bounds beyond 1e20.

    A variable without another bound would be continuous then: its lines in COLUMNS get the markers of integers.
    """
    lines = text.splitlines()
    infinite, finite = set(), set()
    for k, line in enumerate(lines):
        if (bound := BOUND.fullmatch(line)) is None:
            continue
        if abs(float(bound[4])) < INFINITE:
            finite.add(bound[3])
        else:
            infinite.add(bound[3])
            lines[k] = f" {WORDS[bound[1]]} {bound[2]} {bound[3]}"
    return "\n".join(_marked(lines, infinite - finite)) + "\n" if infinite else text


def _marked(lines: list[str], names: set[str]) -> list[str]:
    """Return the lines with markers around those of some variables in COLUMNS."""
    marked: list[str] = []
    section, open_ = "", False
    for line in lines:
        words = line.split()
        if line[:1].strip() and not line.startswith("*"):
            section = words[0]
        inside = section == "COLUMNS" and len(words) > 1 and words[0] in names
        if inside != open_:
            marked.append(f"    M{len(marked)} 'MARKER' '{'INTORG' if inside else 'INTEND'}'")
            open_ = inside
        marked.append(line)
    return marked
