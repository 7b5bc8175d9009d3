"""Files .lp and .mps, read by HiGHS; quadratic constraints, which it does not take, are read and left out before.

HiGHS ignores coefficients up to 1e-12 in size: a file that has one is refused rather than changed.
"""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from fsopt.errors import FileError
from fsopt.formats.mps_bounds import with_words
from fsopt.formats.read_arrays import ReadProgram, products
from fsopt.solvers.highs import SMALLEST, silent
from fsopt.solvers.spec import Package

highspy = Package("highspy")
COMMENT = re.compile(r"\\[^\n]*")
START = re.compile(r"(?im)^[ \t]*(subject\s+to|such\s+that|s\.t\.|st\.|st)(?=\s)")
END = re.compile(r"(?im)^[ \t]*(bounds?|generals?|gen|integers?|binary|binaries|bin|semi|semis|sos\d?|end)\b[ \t]*$")
OTHERS = re.compile(r"(?im)^[ \t]*(lazy constraints|user cuts|general constraints|pwlobj|multi-objectives|scenario)\b")
"""Sections of .lp files of other software."""
SECTIONS = frozenset(
    [
        "NAME",
        "OBJSENSE",
        "MAX",
        "MIN",
        "MAXIMIZE",
        "MINIMIZE",
        "ROWS",
        "COLUMNS",
        "RHS",
        "RANGES",
        "BOUNDS",
        "QUADOBJ",
        "QMATRIX",
        "QCMATRIX",
        "ENDATA",
    ]
)
"""Sections of .mps files that are read; HiGHS passes over some others without a word."""
SENSES = ("N", "L", "G", "E")
"""First words of the lines of ROWS."""
HALF = re.compile(r"\s*(?:/\s*2(?![\w.])\s*)?(?=[+\-<>=]|$)")
"""What may follow a quadratic expression: it is halved or not, and another term or the right-hand side follows."""
TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?P<name>[^\s\d.+\-*^<>=\[\]][^\s+\-*^<>=\[\]]*)|(?P<mark>\S))"
)
"""Number, name or sign of a quadratic expression."""
PRODUCT = re.compile(r"([+-]?)(n?)v(?:\^n|\*(v))")
"""A quadratic term in the kinds of its tokens: n a number, v a name."""


def read_lp(text: str) -> ReadProgram:
    """Return the program of an .lp file; raises FileError for one that cannot be read as it is."""
    text = COMMENT.sub("", text)
    if "->" in text:
        raise FileError("the file has indicator constraints", "state them by a bound on the constraint and a binary")
    if (other := OTHERS.search(text)) is not None:
        raise FileError(f"the file has {other[1].lower()}", "write the model without them")
    start = START.search(text)
    quadratic: dict[str, list[tuple[str, str, float]]] = {}
    if start is not None:
        end = END.search(text, start.end())
        stop = len(text) if end is None else end.start()
        body = text[start.end() : stop]
        text = text[: start.end()] + _without_brackets(body, quadratic) + text[stop:]
    return _read(text, ".lp", quadratic)


def _without_brackets(body: str, quadratic: dict[str, list[tuple[str, str, float]]]) -> str:
    """Return the constraints without their quadratic terms, which are entered by the name of the constraint."""
    kept: list[str] = []
    name, place = "", 0
    while (start := body.find("[", place)) >= 0:
        stop = body.find("]", start)
        if stop < 0 or body.find("[", start + 1, stop) >= 0:
            raise FileError("a bracket '[' of the file has no ']' of its own", "write each quadratic part as [ ... ]")
        head, half = body[place:start].rstrip(), HALF.match(body, stop + 1)
        name = _named(head, name)
        if not name:
            raise FileError("a quadratic constraint of the file has no name", "write NAME: before it")
        sign, head = (head[-1], head[:-1].rstrip()) if head.endswith(("+", "-")) else ("", head)
        if half is None or head.endswith(("+", "-")) or not (sign or head.endswith(":")):
            raise FileError(
                f"the quadratic part of '{name[:60]}' has a factor, or no sign of its own",
                "write + [ ... ] or - [ ... ]",
            )
        terms = _terms(body[start + 1 : stop], (-1.0 if sign == "-" else 1.0) * (0.5 if "/" in half[0] else 1.0))
        quadratic.setdefault(name, []).extend(terms)
        kept += [head, f" + 0 {terms[0][0]} " if terms else " "]
        place = half.end()
    return "".join([*kept, body[place:]])


def _named(text: str, before: str) -> str:
    """Return the name of the constraint at the end of a text; that before it goes on where no other one begins.

    After <, > or = the constraint has ended, and the next one has a name if a colon follows.
    """
    relation, colon = max(map(text.rfind, "<>=")), text.rfind(":")
    if colon <= relation:
        return before if relation < 0 else ""
    label = text[max(0, relation + 1) : colon].rstrip(" \t")
    words = label[label.rfind(":") + 1 :].split()
    return words[-1] if words and not label[-1].isspace() else ""


def _terms(text: str, factor: float) -> list[tuple[str, str, float]]:
    """Return the terms (name, name, value) of a sum of products and squares, in time linear in its length."""
    tokens = [(str(found.lastgroup), found[found.lastgroup or 0]) for found in TOKEN.finditer(text)]
    kinds = "".join({"number": "n", "name": "v"}.get(kind, word) for kind, word in tokens)
    terms: list[tuple[str, str, float]] = []
    place = 0
    while place < len(tokens):
        found = PRODUCT.match(kinds, place)
        square = found is not None and found[3] is None
        if found is None or (terms and not found[1]) or (square and tokens[found.end() - 1][1] != "2"):
            words = " ".join(word for _, word in tokens[place : place + 12])[:60]
            raise FileError(f"a quadratic term of the file cannot be read: '{words}'", "check it")
        first = place + len(found[1]) + len(found[2])
        value = factor * float(tokens[first - 1][1] if found[2] else 1.0) * (-1.0 if found[1] == "-" else 1.0)
        terms.append((tokens[first][1], tokens[first if square else found.end() - 1][1], value))
        place = found.end()
    return terms


def read_mps(text: str) -> ReadProgram:
    """Return the program of an .mps file; raises FileError for one that cannot be read as it is.

    An entry ``i j v`` of a section QCMATRIX is the term v x_i x_j, as CPLEX, Gurobi and Xpress take it.
    """
    quadratic: dict[str, list[tuple[str, str, float]]] = {}
    kept: list[str] = []
    row = section = ""
    for line in with_words(text).splitlines():
        if line[:1].strip() and not line.startswith("*"):
            if (section := line.split()[0]).upper() not in SECTIONS:
                raise FileError(f"the section {section[:40]} of the .mps file is not read", "write it in another way")
            row = line.split(maxsplit=1)[1].strip() if line.startswith("QCMATRIX ") else ""
            if row:
                quadratic[row] = []
                continue
        elif section.upper() == "ROWS" and line.strip() and not line.startswith("*") and line.split()[0] not in SENSES:
            # HiGHS never ends at such a line.
            raise FileError(f"a line of ROWS has no sense: '{line.strip()[:60]}'", "begin it with N, L, G or E")
        if not row:
            kept.append(line)
        elif line.strip() and not line.startswith("*"):
            words = line.split()
            if len(words) != 3:
                raise FileError(f"an entry of QCMATRIX cannot be read: '{line.strip()[:60]}'", "write: name name value")
            quadratic[row].append((words[0], words[1], _number(words[2])))
    return _read("\n".join(kept) + "\n", ".mps", quadratic)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise FileError(f"'{text[:60]}' is not a number", "check the file") from error


def _read(text: str, suffix: str, quadratic: dict[str, list[tuple[str, str, float]]]) -> ReadProgram:
    """Return the program that HiGHS reads, with its quadratic constraints.

    Parameters
    ----------
    text, suffix : of the file, without quadratic constraints.
    quadratic : name of a constraint -> terms (name, name, value).
    """
    lp, hessian = _by_highs(text, suffix)
    columns, rows = list(lp.col_names_), list(lp.row_names_)
    columns = columns or [f"x{j}" for j in range(lp.num_col_)]
    rows = rows or [f"row{i}" for i in range(lp.num_row_)]
    if "MARKER" in columns and "'MARKER'" in text:
        raise FileError("HiGHS takes a line MARKER of the file for a variable", "write it in free form, or as .lp")
    place = {name: j for j, name in enumerate(columns)}
    where = {name: i for i, name in enumerate(rows)}
    integer, continuous = highspy.HighsVarType.kInteger, highspy.HighsVarType.kContinuous
    for name, kind in zip(columns, lp.integrality_, strict=False):
        if kind not in (integer, continuous):
            raise FileError(
                f"the variable '{name}' is semi-continuous or semi-integer", "state it by a binary variable"
            )
    for name, terms in quadratic.items():
        for known, used in ((where, name), *((place, v) for term in terms for v in term[:2])):
            if used not in known:
                raise FileError(f"the quadratic constraint '{name}' has the unknown name '{used}'", "check the file")
    arrays = (np.array(lp.a_matrix_.value_), np.array(lp.a_matrix_.index_, int), np.array(lp.a_matrix_.start_, int))
    kind = sp.csc_matrix if lp.a_matrix_.format_ == highspy.MatrixFormat.kColwise else sp.csr_matrix
    return ReadProgram(
        name=lp.model_name_,
        columns=columns,
        rows=rows,
        maximise=lp.sense_ == highspy.ObjSense.kMaximize,
        c=np.array(lp.col_cost_),
        c0=lp.offset_,
        A=kind(arrays, shape=(lp.num_row_, lp.num_col_)).tocsr(),
        lo=np.array(lp.row_lower_),
        hi=np.array(lp.row_upper_),
        lb=np.array(lp.col_lower_),
        ub=np.array(lp.col_upper_),
        integer=np.array([k == integer for k in lp.integrality_] or np.zeros(lp.num_col_), dtype=bool),
        objective=products(_products(hessian)) if len(hessian.value_) else None,
        terms={where[k]: products([(place[a], place[b], v) for a, b, v in t]) for k, t in quadratic.items() if t},
    )


def _by_highs(text: str, suffix: str) -> tuple[Any, Any]:
    """Return HiGHS's linear program and Hessian of a text; raises FileError with HiGHS's own words."""
    with tempfile.TemporaryDirectory() as folder:
        source, log = Path(folder) / f"model{suffix}", Path(folder) / "log"
        source.write_text(text, encoding="utf-8")
        h = silent()
        options = {"log_to_console": False, "log_file": str(log), "output_flag": True, "small_matrix_value": SMALLEST}
        for option, value in options.items():
            h.setOptionValue(option, value)
        status = h.readModel(str(source))
        h.setOptionValue("log_file", "")
        said = [line.strip() for line in log.read_text(errors="replace").splitlines()] if log.is_file() else []
    wrong = [line for line in said if line.startswith("ERROR") or "cannot" in line]
    if status == highspy.HighsStatus.kError:
        words = "; ".join(line.removeprefix("ERROR:").strip().replace(str(source), "the file") for line in wrong)
        raise FileError(f"HiGHS cannot read the file: {words or 'it gives no reason'}", "check it, or use .mps or .nl")
    ignored = [line for line in said if "ignored" in line.lower() or "discarded" in line.lower()]
    if ignored:
        words = ignored[0].removeprefix("WARNING:").strip()
        raise FileError(f"HiGHS would change the program of the file: {words}", "scale the model, or use .nl or .cbf")
    return h.getLp(), h.getModel().hessian_


def _products(hessian: Any) -> list[tuple[int, int, float]]:
    """Return the terms of x'Px/2, of which HiGHS keeps the lower triangle by columns."""
    starts = np.array(hessian.start_, int)
    columns = np.repeat(np.arange(hessian.dim_), np.diff(starts)) if hessian.dim_ else np.zeros(0, int)
    triples = zip(hessian.index_, columns.tolist(), hessian.value_, strict=True)
    return [(i, j, v / 2 if i == j else v) for i, j, v in triples if v]
