"""One verdict for one piece of evidence: a model by its slug, as a file and in Python; whose word a bound is."""

import json
import shutil
from dataclasses import replace

import pyomo.environ as pyo
import pytest
from support import ROOT

import fsopt
from fsopt.answers.results import Point, SolveResult, Status

MODELS = {"misclass-milp": "highs", "fsp-m-bigm": "scip", "onsvm": ""}
"""Model -> the solver whose word the bound of its optimum is; empty for a convex one."""


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Return a function that copies an instance of the library into the working folder."""
    monkeypatch.chdir(tmp_path)

    def copied(slug):
        for name in (f"{slug}.mps", "data.csv"):
            shutil.copy(ROOT / "models" / slug / name, tmp_path)
        return tmp_path

    return copied


@pytest.mark.parametrize("slug", MODELS)
@pytest.mark.parametrize("honest", [True, False], ids=["honest", "forged"])
def test_slug_file_and_python_have_the_same_words_and_exit_codes(slug, honest, place, run):
    """The forged answer has another value than its point, and a digest of its own."""
    from fsopt.answers.records import sealed

    folder, code = place(slug), int(not honest)
    line = f"optimal (bound: {MODELS[slug]})" if MODELS[slug] else "optimal"
    verdicts = []
    for source, of in ((f"{slug} --data data.csv", "--data data.csv"), (f"{slug}.mps", f"--data {slug}.mps")):
        assert f" {line}\n" in run(f"solve {source} -o solved.json")
        record = json.loads((folder / "solved.json").read_text())
        if not honest:
            record = sealed(record | {"objective": record["objective"] + 1.0})
            (folder / "solved.json").write_text(json.dumps(record))
        text = run(f"check solved.json {of}", code=code)
        shown = dict(row.split(maxsplit=1) for row in text.splitlines() if row.startswith(("claimed", "verified")))
        found = run(f"check solved.json {of} --json", code=code)
        verdicts.append((shown["claimed"], shown["verified"], found["verified"], found["reason"]))
    model = fsopt.read_model(folder / f"{slug}.mps")
    result = fsopt.solve(model)
    assert result.status_line == line
    found = fsopt.verify(result if honest else replace(result, objective=result.objective + 1.0), model)
    verdicts.append((found.status_line, "yes" if found.verified else "NO", found.verified, found.reason))
    claimed, yes, verified, reason = verdicts[0]
    assert (claimed, yes, verified) == (line, "yes" if honest else "NO", honest)
    assert reason.startswith("" if honest else "the stated objective value is not that of the point")
    assert [verdict[:3] for verdict in verdicts] == [verdicts[0][:3]] * 3


def at_least_three(within=pyo.Reals):
    """Return min x + 2 y subject to x + y >= 3 on [1, 2] x [1, 2]: 4, at (2, 1)."""
    model = pyo.ConcreteModel()
    model.x, model.y = pyo.Var(within=within, bounds=(1, 2)), pyo.Var(within=within, bounds=(1, 2))
    model.three = pyo.Constraint(expr=model.x + model.y >= 3)
    model.objective = pyo.Objective(expr=model.x + 2 * model.y)
    return model


def answer(status, x=None, objective=None, bound=None):
    """Return what another program says: a point without multipliers, or none."""
    point = None if x is None else Point(pytest.importorskip("numpy").array(x))
    return SolveResult(Status(status), "", objective, bound, "another", {}, 0, point=point)


def test_the_bound_of_an_integer_program_is_never_exact():
    model = at_least_three(pyo.Integers)
    result = fsopt.solve(model)
    found = fsopt.verify(result, model, exact=True)
    assert (found.numerically, found.verified, found.status_line) == (True, False, "optimal (bound: highs)")
    assert "it rests on the search of a solver" in found.reason
    # The value of a product is exact; of a cubic term none is known: feasible, as it is claimed, numerically alone.
    for power, exact in ((1, True), (2, False)):
        product = at_least_three()
        product.objective.set_value(product.x * product.y**power)
        found = fsopt.verify(answer("feasible", [2.0, 1.0], 2.0), product, exact=True)
        assert (found.numerically, found.verified) == (True, exact)
        assert ("not convex in the arrays" in found.reason) == (not exact)


def test_what_was_removed_says_what_to_do_instead(run):
    said = "best-subset proves selections"
    with pytest.raises(AttributeError, match=said):
        fsopt.prove  # noqa: B018
    for words in ("prove fsv-exact", "solve fsv-exact --data wdbc --prove 10"):
        assert said in run.refusal(words)
