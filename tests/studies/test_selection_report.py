"""The page on a selection: every text is escaped, and the numbers are those of the answer."""

from __future__ import annotations

import re
from html import unescape
from html.parser import HTMLParser

import numpy as np
import pytest

import fsopt
from fsopt.analysis import selecting
from fsopt.common.texts import one_line
from fsopt.errors import FileError

KEYS = ("weight", "standardised", "odds_ratio", "share", "p_value")
NASTY = "<b>_&|$\\%#~^\x1b\u202e"


@pytest.fixture(scope="module")
def selection():
    rng = np.random.default_rng(3)
    y = np.where(np.arange(60) % 2 == 0, 1.0, -1.0)
    X = np.column_stack([y + rng.standard_normal(60), rng.standard_normal((60, 1))])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(selecting, "PAIRS", 5)
        return fsopt.select(fsopt.Dataset(X, y, [NASTY, "noise"]), features=2, folds=2)


class Cells(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.texts = [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)

    def handle_data(self, data):
        self.texts.append(data)


def test_the_html_page_has_sentences_table_and_three_figures(selection, tmp_path):
    fsopt.write_selection(selection, tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    found = Cells()
    found.feed(text)
    assert found.tags.count("svg") == 3
    assert "b" not in found.tags
    assert one_line(NASTY) in found.texts
    assert all(one_line(sentence) in found.texts for sentence in selection.sentences)
    assert any("Predicted: '+1' (label +1, 30 samples)" in one for one in found.texts)
    assert found.tags.count("details") == 1
    assert not re.search(r"""(src|href)=["']?https?:""", text)


def test_markdown_shows_every_sign_of_a_name(selection, tmp_path):
    fsopt.write_selection(selection, tmp_path / "page.md")
    text = (tmp_path / "page.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    assert unescape(rows[2].split(" | ")[0]) == f"| {one_line(NASTY)}"
    assert NASTY not in text
    assert len({line.count(" | ") for line in rows[:4]}) == 1


def test_the_table_in_latex_has_no_command_of_a_name(selection, tmp_path):
    fsopt.write_selection(selection, tmp_path / "page.tex")
    text = (tmp_path / "page.tex").read_text(encoding="utf-8")
    row = next(line for line in text.splitlines() if line.endswith("\\\\") and "textless" in line)
    name, *numbers = row.removesuffix(" \\\\").split(" & ")
    assert name == (
        r"\textless{}b\textgreater{}\_\&\textbar{}\$\textbackslash{}\%\#\textasciitilde{}\textasciicircum{}"
        r"\textbackslash{}x1b\textbackslash{}u202e"
    )
    assert [float(one) for one in numbers] == pytest.approx([selection.to_records()[0][key] for key in KEYS], rel=5e-3)
    assert text.count(r"\begin{") == text.count(r"\end{")
    assert r"\toprule" in text


def test_a_page_of_another_kind_is_refused(selection, tmp_path):
    with pytest.raises(FileError, match="html"):
        fsopt.write_selection(selection, tmp_path / "page.pdf")
