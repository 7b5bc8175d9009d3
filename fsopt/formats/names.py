"""Names of the parts of a model in files: those of the file that it was read from, where a format can hold them."""

from __future__ import annotations

import re
from typing import Any

import pyomo.environ as pyo
from pyomo.core.base.label import ShortNameLabeler, cpxlp_label_from_name

COMPONENTS = ("x", "row")
"""The components of a model that was read, indexed by names of its file."""
PLAIN = re.compile(r"(?!e|(?:x|row|sos\d)\()[a-z_][\w.(),]{0,199}", re.ASCII | re.IGNORECASE)
"""Names that .lp and .mps hold, apart from those of other parts of a model, and those with an e first, as of 2e5."""
OTHER = re.compile(r"\W", re.ASCII)
"""A sign that no name in .gms has."""
WORDS = re.compile(
    r"""st\.? | s\.t\. | such | that | subject | to | end | free | inf(inity)? | bounds? | gen(erals?)? | int(egers?)?
    | bin(ary|aries)? | semi | sos[12]? | min(imi[sz]e|imum)? | max(imi[sz]e|imum)? | objective | rhs""",
    re.IGNORECASE | re.VERBOSE,
)
"""Words of .lp, and names of the writers, which no variable may have."""
GAMS_WORDS = re.compile(
    r"""abort | acronyms? | alias | all | and | arc(sin|cos|tan) | assign | binary | break | card | ceil | continue
    | cosh? | diag | display | do | elseif | else | ep?s | eq | equations? | execute | exp | files? | floor | for | free
    | functions? | ge | gt | if | imp | inf | integer | le | log(10)? | loop | lt | max(imi[sz]ing)? | min(imi[sz]ing)?
    | mod | models? | na | ne | negative | nonnegative | no | not | options? | or | ord | parameters? | positive | power
    | prod | put(tl)? | repeat | sameas | scalars? | semi(cont|int) | sets? | sinh? | smax | smin | solve | sos[12]
    | sqrt? | sum | system | tables? | tanh? | then | undf | until | using | variables? | while | x?or | yes
    | gams_(model|objective) | .*_(lo|hi)""",
    re.IGNORECASE | re.VERBOSE,
)
"""Words and functions of GAMS, names of Pyomo's writer, and the ends that it adds to the names of constraints."""


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
    own = name != part.name and not other and PLAIN.fullmatch(name) and not WORDS.fullmatch(name)
    return name if own else str(cpxlp_label_from_name(part.name))


def _in_gams(part: Any) -> str:
    """Return the label of a part in .gms."""
    name = OTHER.sub("_", name_of(part.model(), part))
    return f"{name}_" if GAMS_WORDS.fullmatch(name) else name
