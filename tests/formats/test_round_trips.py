"""Every file of the library in a reader that is not its writer: the stored optimum, and the model's own program."""

from __future__ import annotations

import json
import tomllib

import numpy as np
import pytest
from conic_files import parse_cbf, solve_cbf
from file_readers import highs, scip
from pyomo.core.base.label import cpxlp_label_from_name
from support import ROOT, sampled

import fsopt
from fsopt.compiler import compile_model
from fsopt.errors import FileError

LIBRARY = ROOT / "models"
HIGHS = ("LP", "MILP", "QP")
"""Classes that HiGHS reads and solves; of others it reads none but mixed-integer quadratic programs."""
SLOW = ("fsp", "l0-mpm", "l1-mpm", "misclass", "mmop", "gmeb-nonconvex", "svm-norm", "svm-margin", "gmeb-penalised")
"""Beginnings of the names of models whose global solution takes a while."""


def fact(slug):
    return tomllib.loads((LIBRARY / slug / "instance.toml").read_text(encoding="utf-8"))


FILES = sorted(
    (
        (slug, suffix)
        for slug, spec in fsopt.MODELS.items()
        for suffix in (".lp", ".mps", ".nl", ".cbf")
        if spec.problem_class != "MPEC" and (LIBRARY / slug / f"{slug}{suffix}").is_file()
    ),
    key=lambda file: file[0].startswith(SLOW),
)


@pytest.mark.parametrize(("slug", "suffix"), sampled(FILES, sum(not slug.startswith(SLOW) for slug, _ in FILES)))
def test_another_reader_of_a_file_finds_the_optimum_of_its_model(slug, suffix):
    path, optimum, kind = LIBRARY / slug / f"{slug}{suffix}", fact(slug)["optimum"], fsopt.MODELS[slug].problem_class
    if suffix == ".cbf":
        found = parse_cbf(path)
        stored = json.loads((LIBRARY / slug / "optimum.json").read_text(encoding="utf-8"))["variables"]
        own = compile_model(
            fsopt.build(slug, fsopt.load_dataset(LIBRARY / slug / "data.csv"), **fact(slug)["parameters"])
        )
        chosen = {j: float(round(stored[own.variables[j].name])) for j in found.integer}
        assert found.integer == np.flatnonzero(own.integer).tolist()
        value = solve_cbf(found, chosen)
    elif suffix != ".nl" and kind in HIGHS:
        value = highs(path)
    else:
        # A tolerance of 1e-9 on w^2 <= s t is one of 3e-5 on w at s = t = 0.
        value = scip(path, 1e-12 if "SOCP" in kind else 1e-9)
        value *= -1 if suffix == ".nl" and optimum["sense"] == "maximise" and value * optimum["objective"] < 0 else 1
    assert value == pytest.approx(optimum["objective"], rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("suffix", [".lp", ".mps"])
@pytest.mark.parametrize(
    "slug", [slug for slug, spec in fsopt.MODELS.items() if (LIBRARY / slug / f"{slug}.lp").is_file()]
)
def test_a_file_of_the_library_is_the_program_of_its_model_or_is_refused(slug, suffix):
    path = LIBRARY / slug / f"{slug}{suffix}"
    own = compile_model(fsopt.build(slug, fsopt.load_dataset(LIBRARY / slug / "data.csv"), **fact(slug)["parameters"]))
    if own.cones.G.shape[0] or own.general:
        with pytest.raises(
            FileError, match=r"(?i)quadratic (constraints are|rows) not supported by HiGHS.*fsopt\.build"
        ):
            fsopt.read_model(path)
        return
    read = compile_model(fsopt.read_model(path))
    place = {str(v.index()): j for j, v in enumerate(read.variables)}
    labels = [cpxlp_label_from_name(v.name) for v in own.variables]
    kept = [j for j, label in enumerate(labels) if label in place]  # a file leaves out what is fixed at 0
    order = [place[labels[j]] for j in kept]
    assert sorted(order) == list(range(read.n))
    assert not np.delete([own.lb, own.ub], kept, axis=1).any()
    assert np.allclose(read.c[order], own.c[kept], rtol=1e-12)
    assert abs(read.P[order][:, order] - own.P[kept][:, kept]).max() <= 1e-12 * max(1.0, abs(own.P).max())
    assert all(np.array_equal(getattr(read, k)[order], getattr(own, k)[kept]) for k in ("lb", "ub", "integer"))
    assert sorted(map(repr, rows(read, order))) == sorted(map(repr, rows(own, kept)))


def rows(program, order):
    """Return the ends of the constraints with their coefficients, without their order: Pyomo writes a range as two."""
    A = program.A.tocsc()[:, order].toarray().tolist()
    ends = [(end, k, a) for k in ("lo", "hi") for end, a in zip(getattr(program, k).tolist(), A, strict=True)]
    return [one for one in ends if np.isfinite(one[0])]
