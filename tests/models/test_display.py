"""Models that show themselves: HTML with values after a solve, and copies that do so too."""

import pytest
from support import blobs

import fsopt
from fsopt.models.display import meanings
from tools.instances import build_instance


def test_html_has_program_components_and_values_after_a_solve():
    model = fsopt.build("svm", blobs(20, 3))
    before = model._repr_html_()
    assert "$$\\begin{aligned}" in before
    assert "<td>margin</td><td>constraint</td><td>20</td>" in before
    assert " nonzero" not in before
    objective = fsopt.solve(model).objective
    after = model._repr_html_()
    assert f"<td>{objective:.6g}</td>" in after
    assert " nonzero" in after
    assert "<script" not in after
    assert model._repr_latex_().startswith("$$\\begin{aligned}")
    assert type(model.clone()) is type(model)
    assert "<td>margin</td>" in model.clone()._repr_html_()


@pytest.mark.parametrize("slug", fsopt.MODELS)
def test_each_model_shows_its_program_under_its_name(slug):
    assert build_instance(slug)._repr_html_().startswith(f"<h4>{slug}</h4>\n$$")


def test_a_parameter_has_its_meaning_behind_its_name_or_below_its_type():
    doc = (
        "Return it.\n\nParameters\n----------\na, b : two numbers, the\n    second of which is large.\n"
        "c : float, default 1.0\n    Weight > 0.\nd : which ones, as in\n    :func:`fsopt.fit`.\ne : the last.\n"
        "f, g : int, optional\n    As in :func:`fsopt.fit`.\nh : array or float, optional\n    (p,) costs.\n\n"
        "Returns\n"
    )
    assert meanings(doc) == {
        "a": "two numbers, the second of which is large.",
        "b": "two numbers, the second of which is large.",
        "c": "Weight > 0.",
        "d": "which ones, as in :func:`fsopt.fit`.",
        "e": "the last.",
        **dict.fromkeys("fg", "As in :func:`fsopt.fit`."),
        "h": "(p,) costs.",
    }
