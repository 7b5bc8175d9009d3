"""Names of the parts of a model in files: those of the file that it was read from, where a format can hold them."""

from __future__ import annotations

import re
from typing import Any

import pyomo.environ as pyo
from pyomo.core.base.label import ShortNameLabeler, alphanum_label_from_name, cpxlp_label_from_name

COMPONENTS = ("x", "row")
"""The components of a model that was read, indexed by names of its file."""
PLAIN = re.compile(r"(?!e(?!q)|(?:x|row|sos\d)\()[a-z_][\w.(),]{0,199}", re.ASCII | re.IGNORECASE)
"""Names that .lp and .mps hold, apart from those that other parts of a model have; e5 is a number in .lp."""
WORDS = frozenset(
    [
        "st",
        "free",
        "inf",
        "infinity",
        "bounds",
        "bound",
        "gen",
        "general",
        "generals",
        "int",
        "integer",
        "integers",
        "bin",
        "binary",
        "binaries",
        "semi",
        "sos",
        "sos1",
        "sos2",
        "end",
        "min",
        "max",
        "minimize",
        "maximize",
        "minimise",
        "maximise",
        "minimum",
        "maximum",
        "subject",
        "such",
        "to",
        "that",
        "s.t.",
        "st.",
        "objective",
        "rhs",
    ]
)
"""Words of .lp, and names of the writers, which no variable may have."""
GAMS_WORDS = frozenset(
    [
        "abort",
        "acronym",
        "alias",
        "all",
        "and",
        "assign",
        "binary",
        "break",
        "card",
        "continue",
        "cos",
        "diag",
        "display",
        "do",
        "else",
        "elseif",
        "eps",
        "eq",
        "equation",
        "equations",
        "exp",
        "execute",
        "file",
        "files",
        "for",
        "free",
        "function",
        "functions",
        "ge",
        "gt",
        "if",
        "imp",
        "inf",
        "integer",
        "le",
        "log",
        "loop",
        "lt",
        "max",
        "maximizing",
        "maximising",
        "min",
        "minimizing",
        "minimising",
        "mod",
        "model",
        "models",
        "na",
        "ne",
        "negative",
        "nonnegative",
        "no",
        "not",
        "option",
        "options",
        "or",
        "ord",
        "parameter",
        "parameters",
        "positive",
        "power",
        "prod",
        "put",
        "puttl",
        "repeat",
        "sameas",
        "scalar",
        "scalars",
        "semicont",
        "semiint",
        "set",
        "sets",
        "sin",
        "smax",
        "smin",
        "solve",
        "sos1",
        "sos2",
        "sqr",
        "sqrt",
        "sum",
        "system",
        "table",
        "tables",
        "tan",
        "then",
        "undf",
        "until",
        "using",
        "variable",
        "variables",
        "while",
        "xor",
        "yes",
        "gams_model",
        "gams_objective",
    ]
)
"""Words of GAMS, its functions, and names of its writer."""


def name_of(model: pyo.ConcreteModel, component: Any) -> str:
    """Return the name of a variable or constraint in the file that its model was read from, else in the model."""
    parent = component.parent_component()
    read = getattr(model, "read_from_file", False) and parent.parent_block() is model and parent.name in COMPONENTS
    return str(component.index()) if read else str(component.name)


def io_options(model: pyo.ConcreteModel, suffix: str) -> dict[str, Any]:
    """Return the options of Pyomo's writers by which a file has the names of its model."""
    if suffix == ".gms":
        pattern = "^[a-zA-Z]"
        labeler = ShortNameLabeler(60, "_", prefix="s_", caseInsensitive=True, legalRegex=pattern, labeler=_in_gams)
        return {"labeler": labeler}
    return {"symbolic_solver_labels": True} if suffix == ".nl" else {"labeler": _in_lp}


def _in_lp(part: Any) -> str:
    """Return the label of a part in .lp and .mps, where it may not be that of another part."""
    model = part.model()
    name = name_of(model, part)
    other = part.ctype is pyo.Constraint and name in getattr(model, "x", ())
    own = name != part.name and not other and PLAIN.fullmatch(name) and name.lower() not in WORDS
    return name if own else str(cpxlp_label_from_name(part.name))


def _in_gams(part: Any) -> str:
    """Return the label of a part in .gms, where the writer adds _lo and _hi to those of constraints."""
    name = str(alphanum_label_from_name(name_of(part.model(), part)))
    return f"{name}_" if name.lower() in GAMS_WORDS or name.lower().endswith(("_lo", "_hi")) else name
