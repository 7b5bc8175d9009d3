"""The pages of the instance library: one for each instance, and the index."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyomo.environ as pyo

from fsopt.models.display import components, displayed_program, math_block, meanings
from fsopt.models.papers import PAPERS
from tools.equations import with_mathematics

READERS = {
    ".lp": "SCIP, Gurobi, Xpress; HiGHS where there is no quadratic constraint",
    ".mps": "as .lp",
    ".nl": "SCIP, CasADi, POUNCE and other software with an AMPL interface; names in .row and .col",
    "MPEC.nl": "made for solvers of AMPL that take complementarities, as Knitro does; names in .row and .col",
    ".cbf": "MOSEK; also made for SCIP-SDP and JuMP; names in comments",
    ".sol": "software with an AMPL interface, as the optimum of the .nl file",
    ".json": "the optimum by names: objective value, variables, shadow prices",
    ".csv": "`fsopt.load_dataset`; the data that the builder is given",
}
"""Suffix -> software that reads it; the tests run all of it but the software after "made for"."""
LEAK = (
    "Cones such as $w^2 \\le s t$ are quadratic constraints in .lp, .mps and .nl. A solver with the feasibility "
    "tolerance $\\varepsilon$ allows $w = \\sqrt\\varepsilon$ at $s = t = 0$, and its optimum is then too good by "
    "about as much: set the tolerance to 1e-12, or take the .cbf file, in which they are cones."
)
COMMAND = "python -m tools.instances"


def page(builder: Callable[..., Any], model: pyo.ConcreteModel, facts: Mapping[str, Any]) -> str:
    """Return the README of one instance.

    Parameters
    ----------
    builder : its docstring has the program and the text around it.
    model : the instance, for the table of its components.
    facts : the content of ``instance.toml``.
    """
    doc = inspect.getdoc(builder) or ""
    source = builder.__module__.replace(".", "/") + ".py"
    size, data = facts["size"], facts["data"]
    optimum = facts["optimum"]
    cited = [text for text in (_authors(facts.get("paper"), "../../"), facts["equation"]) if text]
    first = doc.partition("\n")[0].removeprefix("Return ").rstrip(".")
    parts = [
        f"# {facts['slug']}",
        f"{first[:1].upper()}{first[1:]}. {', '.join(cited)}; class {facts['class']}; built by "
        f"[`{builder.__name__}`](../../{source}).",
        f"$$\n\\begin{{aligned}}\n{guarded(displayed_program(doc))}\n\\end{{aligned}}\n$$",
        prose(doc),
        "## Equations and components",
        table(("component", "kind", "size", "equation"), [_component(*entry) for entry in components(model)]),
        "## Instance",
        f"{size['columns']} variables ({size['integer']} integer), {size['rows']} linear constraints with "
        f"{size['nonzeros']} nonzeros, {size['cones']} cones. Data: {data['n']} samples, {data['p']} features, gap "
        f"{data['gap']!r}, seed {data['seed']}; {data['law']}.",
        _parameters(doc, facts["parameters"]),
        f"**Known optimum: {optimum['objective']!r}** ({optimum['sense']}), to {optimum['tolerance']:g} relative, "
        f"found by {optimum['solver']}. {_certified(optimum)}",
        "## Files",
        table(
            ("file", "read by"),
            [(f"[{f}]({f})", _reader(f, facts["class"])) for f in _files(facts)],
        ),
        LEAK if size["cones"] and any(f.endswith(".lp") for f in facts["files"]) else "",
        "Rebuild the model from the data:",
        _code(facts),
        f"Written by `{COMMAND}`; `instance.toml` has the checksums.",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _component(name: str, kind: str, size: int, doc: str) -> tuple[str, str, int, str]:
    """Return the line of a component in the table of a model."""
    return f"`{name}`", kind, size, with_mathematics(doc)


def index(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the README of the library."""
    listed = [
        (
            f"[{r['slug']}]({r['slug']}/README.md)",
            r["class"],
            _authors(r.get("paper"), "../") or "-",
            r["equation"],
            r["size"]["columns"],
            repr(r["optimum"]["objective"]),
            " ".join(sorted({f[f.index(".") :] for f in r["files"]} - {".csv", ".row", ".col"})),
        )
        for r in rows
    ]
    head = (
        "# Instance library\n\nOne small instance of every model of `fsopt.MODELS`: the program, its equations, the "
        "data, a certified optimum, and files for other solvers. They can be read and solved without fsopt."
    )
    formats = table(("format", "read by"), [(k, v) for k, v in READERS.items() if k != ".csv"])
    foot = (
        "`instance.toml` in each folder records data, seed, parameters, optimum, tolerance, where they are shown the "
        "ends `lower` and `upper` of its exact interval as fractions (docs/exact.md), and the sha256 of each file. "
        f"`{COMMAND}` (or `make instances`) writes all of it anew, the same bytes on every run; on another processor "
        "the last digits of some numbers may differ, and a test compares them to 12 digits. The optima in `.sol` "
        "and `optimum.json` are those of one machine, and tests confirm each."
    )
    headings = ("model", "class", "paper", "equation", "variables", "optimum", "files")
    return "\n\n".join([head, table(headings, listed), formats, LEAK, foot]) + "\n"


def table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Return a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in lines)


def prose(doc: str) -> str:
    """Return the text of a docstring around its program, and its notes, as Markdown."""
    before, _, after = doc.partition("\nNotes\n-----\n")
    body = re.split(r"\n(?:Parameters|Returns|Raises)\n-+\n", before)[0].partition("\n")[2]
    start, block, end = math_block(body.splitlines())
    lines = body.splitlines()
    words = "\n".join(lines[:start] + lines[end:]) if block else body
    return "\n\n".join(markdown(text.strip()) for text in (words, after) if text.strip())


def markdown(text: str) -> str:
    """Return reStructuredText's roles and literals as Markdown."""
    text = re.sub(r":math:`([^`]*)`", lambda found: f"${guarded(' '.join(found[1].split()))}$", text)
    text = re.sub(r":\w+:`~?([^`]*)`", r"`\1`", text)
    return text.replace("``", "`")


def guarded(latex: str) -> str:
    """Return LaTeX without the escapes that Markdown renderers read as their own."""
    return latex.replace("\\{", "\\lbrace ").replace("\\}", "\\rbrace ").replace("\\,", "\\thinspace ")


def _authors(paper: str | None, root: str) -> str:
    """Return the authors of a paper with a link to its page; nothing without a paper."""
    return f"[{PAPERS[paper].authors}]({root}docs/{paper}.md)" if paper else ""


def _parameters(doc: str, values: Mapping[str, Any]) -> str:
    """Return the table of the parameters: name, value in the instance, meaning from the docstring."""
    if not values:
        return "The model has no parameters."
    found = {name: markdown(text) for name, text in meanings(doc).items()}
    return table(
        ("parameter", "value", "meaning"), [(f"`{k}`", _shown(v), found.get(k, "")) for k, v in values.items()]
    )


def _shown(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_shown(v) for v in value) + "]"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _certified(optimum: Mapping[str, Any]) -> str:
    bound = f", bound from the {optimum['bound']}" if "bound" in optimum else ""
    return (
        f"Certificate: {optimum['certificate']}{bound}; fsopt recomputed its residuals and gap from the arrays of the "
        "model, and all are below 1e-6."
    )


def _reader(file: str, kind: str) -> str:
    suffix = file[file.index(".") :]
    return READERS.get(kind + suffix, READERS.get(suffix, "names for .nl"))


def _files(facts: Mapping[str, Any]) -> list[str]:
    """Return the files of the instance, and those with the optimum."""
    written = facts["class"] != "MPEC" and any(f.endswith(".nl") for f in facts["files"])
    named = [f"{facts['slug']}.sol"] if written else []
    return [*facts["files"], *named, "optimum.json"]


def _code(facts: Mapping[str, Any]) -> str:
    return (
        "```python\nimport tomllib, fsopt\n"
        f'params = tomllib.load(open("models/{facts["slug"]}/instance.toml", "rb"))["parameters"]\n'
        f'data = fsopt.load_dataset("models/{facts["slug"]}/data.csv")\n'
        f'model = fsopt.build("{facts["slug"]}", data, **params)\n```'
    )
