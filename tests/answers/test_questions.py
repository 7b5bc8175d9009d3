"""Answers to questions show themselves in one way: a table, a picture, a file, and words."""

import json
from functools import cache
from html import escape

import pyomo.environ as pyo
import pytest
from joblib import parallel_config
from support import blobs

import fsopt
from fsopt.analysis import selecting
from fsopt.analysis.infeasibility import Explanation
from fsopt.analysis.selection_answers import Selection
from fsopt.answers.records import MOST_ROWS

GIVEN = blobs(20, 3, gap=0.4).X, blobs(20, 3).y
"""Samples and labels, which every question takes for a data set."""


def contradiction():
    m = pyo.ConcreteModel(name="contradiction")
    m.x = pyo.Var(bounds=(0.0, None))
    m.low = pyo.Constraint(expr=m.x <= -1.0, doc="(1) below")
    m.objective = pyo.Objective(expr=m.x)
    return m


def selected():
    """Return a selection after two pairs of halves."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(selecting, "PAIRS", 2)
        return fsopt.select(*GIVEN, folds=2)


ANSWERS = {
    "selection_path": lambda: fsopt.selection_path(GIVEN, m=[1, 2]),
    "radius_path": lambda: fsopt.radius_path(GIVEN, (0.3, 1.0)),
    "pareto_front": lambda: fsopt.pareto_front(GIVEN, (1.0, 0.2)),
    "alternatives": lambda: fsopt.alternatives(GIVEN, 2, within=0.2),
    "necessity": lambda: fsopt.necessity(GIVEN, 2),
    "select": selected,
    "explain_infeasibility": lambda: fsopt.explain_infeasibility(contradiction()),
    "compare": lambda: fsopt.compare(*GIVEN, methods=["svm", "mpm"], folds=2),
}


@cache
def answer_of(name):
    with parallel_config("sequential"):
        return ANSWERS[name]()


@pytest.fixture(params=ANSWERS)
def answer(request):
    return answer_of(request.param)


def test_table_file_words_and_picture_are_of_the_records(answer, tmp_path):
    records = answer.to_records()
    assert records
    frame = answer.to_frame()
    assert (len(frame), list(frame.columns)) == (len(records), list(records[0]))
    answer.save(tmp_path / "answer.json")
    saved = json.loads((tmp_path / "answer.json").read_text())
    assert saved["answer"] == type(answer).__name__
    assert len(saved["rows"]) == len(records)
    assert set(saved) == {"answer", "rows", *answer.heading}
    axes = answer.plot().axes[0]
    assert axes.patches or axes.lines or axes.collections
    assert axes.get_xlabel() or axes.get_legend()
    text = answer.summary()
    assert str(answer) == text
    assert answer._repr_html_() == f"<pre>{escape(text)}</pre>"
    if isinstance(answer, Explanation):
        assert all(member["text"] in text for member in answer.members)
    elif isinstance(answer, Selection):
        assert all(sentence in text for sentence in (*answer.sentences, *answer.warnings))
    else:
        assert all(name in text for name in answer.heading)
        assert len(text.splitlines()) <= len(answer.heading) + MOST_ROWS + 3
