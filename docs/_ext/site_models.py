"""Pages of models and methods, from their builders, their docstrings and the registries."""

from __future__ import annotations

import inspect
import json
import re
import tomllib
from pathlib import Path
from typing import Any

import fsopt
from fsopt.methods.spec import MethodSpec
from fsopt.models.papers import PAPERS
from fsopt.models.spec import ModelSpec
from tools.pages import markdown, page, table

QUICK = {
    "gbd": {"m": 5, "c": 0.01},
    "gbd-lambda": {"lam": 0.3, "c": 0.01},
    "best-subset": {"m": 3, "tolerance": 0.001},
    "best-subset-penalised": {"lam": 10, "tolerance": 0.001},
}
"""Parameters of the example, where the defaults take minutes."""


def pages(root: Path) -> dict[str, str]:
    """Return path -> text of the pages of all models and methods, and of their lists."""
    found = {f"models/{slug}.md": model_page(root, spec) for slug, spec in fsopt.MODELS.items() if here(root, slug)}
    found |= {f"methods/{name}.md": method_page(spec) for name, spec in fsopt.METHODS.items()}
    found["models/index.md"] = models_index(root)
    found["methods/index.md"] = methods_index()
    printed = tomllib.loads((root / "docs" / "outputs.toml").read_text(encoding="utf-8"))
    return {path: with_outputs(text, printed.get(path, {})) for path, text in found.items()}


def with_outputs(text: str, printed: dict[str, str]) -> str:
    """Return a page with what its command and its snippet print under them."""
    parts = re.split(r"(^```(?:console|python)\n.*?^```$)", text, flags=re.MULTILINE | re.DOTALL)
    for k in range(1, len(parts), 2):
        output = printed.get(parts[k][3:].partition("\n")[0])
        parts[k] += f"\n\n```output\n{output}```" if output else ""
    return "".join(parts)


def here(root: Path, slug: str) -> bool:
    """Tell whether a model is one of this package: a plug-in has no folder in the instance library."""
    return (root / "models" / slug).is_dir()


def cited(paper: str | None, equation: str) -> str:
    """Return the source of a model or method, with its reference."""
    if paper is None:
        return equation
    return f"[{PAPERS[paper].authors}](/{paper}.md), {equation} {{cite}}`{paper}`"


def returned(doc: str) -> str:
    """Return the text of the section of returns of a docstring, as one paragraph of Markdown."""
    section = re.search(r"\nReturns\n-+\n(.*?)(?:\n\n\w|$)", doc, flags=re.DOTALL)
    lines = section[1].splitlines() if section else []
    return markdown(" ".join(line.strip() for line in lines[1:]))


def takers(spec: ModelSpec) -> str:
    """Return the registered solvers of the class of a model, in the order of preference."""
    ranks = {name: s.ranks.get(spec.problem_class) for name, s in fsopt.SOLVERS.items()}
    ranked = sorted((rank, name) for name, rank in ranks.items() if rank is not None)
    return ", ".join(f"`{name}`" for _, name in ranked) or "none as it is: see the text"


def call(facts: dict[str, Any]) -> str:
    """Return the parameters of the instance as options of the command line."""
    words = []
    for key, value in facts["parameters"].items():
        word = f"{key}={json.dumps(value, separators=(',', ':'))}"
        words.append(f" --param '{word}'" if isinstance(value, list | dict | str) else f" --param {word}")
    return "".join(words)


def model_page(root: Path, spec: ModelSpec) -> str:
    """Return the page of a model: purpose, result and command first, then its page in the instance library."""
    facts = tomllib.loads((root / "models" / spec.slug / "instance.toml").read_text(encoding="utf-8"))
    data = fsopt.load_dataset(root / "models" / spec.slug / "data.csv")
    doc = inspect.getdoc(spec.builder) or ""
    text = page(spec.builder, fsopt.build(spec.slug, data, **facts["parameters"]), facts)
    body = text.partition("\n\n")[2].partition("\n\n")[2]
    body = re.sub(r"\]\(((?!http|/|\.\.)[\w.-]+)\)", rf"](../../models/{spec.slug}/\1)", body)
    solvable = takers(spec)
    command = f"fsopt solve {spec.slug} --data models/{spec.slug}/data.csv{call(facts)}"
    if solvable.startswith("none"):
        command = f"fsopt show {spec.slug} --data models/{spec.slug}/data.csv{call(facts)}"
    users = [name for name, m in fsopt.METHODS.items() if spec.slug in m.models]
    rows = [
        ("what it is", f"{spec.summary}; {spec.problem_class}"),
        ("source", cited(spec.paper, spec.equation)),
        ("what comes out", returned(doc)),
        ("solvers", f"{solvable}; [how far they agree](/solvers.md)"),
        ("methods", ", ".join(f"[{name}](/methods/{name}.md)" for name in users) or "none: a model to solve by itself"),
    ]
    parts = [
        f"# {spec.slug}",
        table(("question", "answer"), rows),
        "The instance below, solved and certified, from the root of a copy of the repository:",
        f"```console\n{command}\n```",
        "## Program",
        body.replace("../../docs/", "/"),
        "## Builder",
        f"```{{eval-rst}}\n.. autofunction:: {spec.builder.__module__}.{spec.builder.__qualname__}\n   :no-index:\n```",
    ]
    return "\n\n".join(parts) + "\n"


def method_page(spec: MethodSpec) -> str:
    """Return the page of a method: purpose, result and command first, then the docstring of its fit."""
    doc = inspect.getdoc(spec.fit) or ""
    rows = [
        ("what it does", spec.summary),
        ("source", cited(spec.paper, spec.equation)),
        ("what comes out", returned(doc) or "a `fsopt.Fit`: features, classifier, status and certificate"),
        ("models", ", ".join(f"[{slug}](/models/{slug}.md)" for slug in spec.models)),
        ("loop", f"`{spec.driver}`" if spec.driver else "one solve"),
    ]
    name, quick = spec.name, QUICK.get(spec.name, {})
    options = "".join(f" --param {key}={value}" for key, value in quick.items())
    keywords = "".join(f", {key}={value}" for key, value in quick.items())
    parts = [
        f"# {name}",
        table(("question", "answer"), rows),
        f"```console\nfsopt fit {name} --data wdbc{options}\n```",
        f'```python\nimport fsopt\n\nfit = fsopt.fit("{name}", fsopt.load_dataset("wdbc"){keywords})\n'
        "print(fit.status, fit.objective, len(fit.features))\n```",
        "[How to read the certificate](/certificates.md) of the answer; `fsopt methods "
        f"{name}` prints the parameters in a terminal.",
        "## Parameters, in the order of `fsopt.fit`",
        f"```{{eval-rst}}\n.. autofunction:: {spec.fit.__module__}.{spec.fit.__qualname__}\n   :no-index:\n```",
    ]
    return "\n\n".join(parts) + "\n"


def toc(names: list[str]) -> str:
    """Return a hidden table of contents."""
    return "```{toctree}\n:hidden:\n\n" + "\n".join(names) + "\n```"


def models_index(root: Path) -> str:
    """Return the list of the models."""
    own = [spec for slug, spec in fsopt.MODELS.items() if here(root, slug)]
    rows = [(f"[{m.slug}](/models/{m.slug}.md)", m.summary, m.problem_class, cited(m.paper, m.equation)) for m in own]
    head = (
        "# Models\n\nEvery program of the five papers as an explicit Pyomo model: pick one, see its program, its "
        "components and a small instance with a certified optimum. The page of a model is made from its builder."
    )
    code = (
        '```python\nimport fsopt\n\nmodel = fsopt.build("gmeb-dual", fsopt.load_dataset("wdbc"), r_plus=3.0)\n'
        "print(fsopt.classify(model), fsopt.solve(model).status)\n```"
    )
    listed = table(("model", "what it is", "class", "source"), rows)
    return "\n\n".join([head, code, listed, toc([m.slug for m in own])]) + "\n"


def methods_index() -> str:
    """Return the list of the methods."""
    rows = []
    for m in fsopt.METHODS.values():
        solved = ", ".join(f"`{slug}`" for slug in m.models)
        rows.append((f"[{m.name}](/methods/{m.name}.md)", m.summary, solved, cited(m.paper, m.equation)))
    head = (
        "# Methods\n\nA method is preprocessing, a model, a loop where one solve is not enough, and a rule of "
        "selection: data in, features and a certified classifier out. [Which one](/which.md) for which question."
    )
    code = "```console\nfsopt compare --data wdbc --methods gmeb,l1-svm,fsv\n```"
    listed = table(("method", "what it does", "models", "source"), rows)
    return "\n\n".join([head, code, listed, toc(list(fsopt.METHODS))]) + "\n"
