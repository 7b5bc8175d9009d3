"""Reports: texts are escaped, ids are unique, nothing is fetched; the page on a selection has the answer's numbers."""

import hashlib
import html.parser
import re
from base64 import b64encode

import numpy as np
import pytest
from joblib import parallel_config
from support import blobs

import fsopt
from fsopt.analysis import selecting
from fsopt.common.texts import CONTROL, one_line
from fsopt.data import Dataset
from fsopt.studies.report import DRAWN, ReportSection, page, shown, study_sections, table_of, write_report, write_table

EVIL = "<script>alert(1)</script>"
NASTY = "<b>_&|$\\%#~^\x1b\u202e"
KEYS = ("weight", "standardised", "step", "odds_ratio", "odds_low", "odds_high", "share", "p_value")


@pytest.fixture(scope="module")
def rows():
    data = blobs(24, 3)
    wide = Dataset(data.X, data.y, (EVIL, "$x^2$", "b & \u202ec"), name="first")
    methods = [{"name": "fsv"}, {"name": "svm"}, {"name": "l1-mpm", "params": {"delta": 0.99}}]
    study = {"data": [wide, blobs(24, 3, seed=1)], "folds": 2, "seeds": [0], "all_samples": True, "methods": methods}
    with parallel_config("sequential"):
        return fsopt.run_study(study).rows


@pytest.fixture(scope="module")
def report(rows):
    return page(EVIL, study_sections(rows))


class Elements(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.tags, self.contents, self.texts = [], [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.tags.append(tag)
        self.contents += [given["content"]] if "content" in given else []
        self.ids += [given["id"]] if "id" in given else []
        self.links += [v for k, v in given.items() if k in ("href", "src", "xlink:href", "action", "data")]

    def handle_data(self, data):
        self.texts.append(data)


def test_the_page_is_one_file_whose_texts_are_escaped(report):
    found = Elements(report)
    assert found.tags.count("script") == 1, "ours"
    assert EVIL not in report
    assert not CONTROL.search(report)
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in report
    assert all(link.startswith(("#", "data:")) for link in found.links)
    assert not re.search(r"url\(", report)
    assert len(set(found.ids)) == len(found.ids)
    assert {link[1:] for link in found.links if link.startswith("#")} <= set(found.ids)
    policy = next(text for text in found.contents if "default-src" in text)
    script = re.search("<script>(.*?)</script>", report, re.DOTALL)[1]
    assert b64encode(hashlib.sha256(script.encode()).digest()).decode() in policy
    assert "img-src data:;" in policy
    assert found.tags.count("img") == 2
    for text in ("balanced", "Friedman", "Nemenyi", "stability", "infeasible", "2 stationary", "2 none"):
        assert text in report, text


def test_numbers_stand_to_the_right_and_sort_by_their_full_length(tmp_path):
    table = table_of(("all", "some"), [(1 / 3, 2.5), (None, "3.11.4"), ("0.9737 ±0.014", None)])
    write_report(tmp_path / "r.html", "t", [ReportSection("s", tables={"": table})])
    text = (tmp_path / "r.html").read_text()
    cells = re.findall(r"<td([^>]*)>([^<]*)</td>", text[: text.index("Versions and machine</h2>")])
    assert [shown for given, shown in cells if "number" in given] == ["0.333", "2.50", "0.9737 ±0.014"]
    assert re.findall(r'data-key="([^"]*)"', text)[:3] == [repr(1 / 3), "2.5", "0.9737"]
    assert list(map(shown, (0.0, 0.012345, 123.4, 1e7, None, 3))) == ["0", "0.0123", "123", "1.00e+07", "", "3"]


def test_the_page_opens_with_the_answers_and_the_fronts(rows):
    first, second = study_sections(rows, {"first": 0.625})[:2]
    assert first.title == "Answer"
    assert [text.partition(":")[0] for text in first.notes] == ["first", "data"]
    assert [title.partition(":")[0] for title in first.figures] == ["first", "data"]
    assert "The larger class alone has accuracy 0.625." in first.notes[0]
    means = next(iter(second.tables.values()))
    scores = [accuracy for accuracy in means["accuracy"] if accuracy is not None]
    assert scores == sorted(scores, reverse=True)
    assert dict(zip(means["method"], means["status"], strict=True)) == {
        "svm": "2 optimal",
        "fsv": "2 stationary",
        "l1-mpm": "2 none",
    }
    many = [{**row, "data": f"d{k}"} for k in range(DRAWN + 2) for row in rows if row["data"] == "first"]
    sections = study_sections(many)
    assert (len(sections[0].notes), len(sections[0].figures)) == (DRAWN + 2, DRAWN)


@pytest.fixture(scope="module")
def selection():
    rng = np.random.default_rng(3)
    y = np.where(np.arange(60) % 2 == 0, 1.0, -1.0)
    X = np.column_stack([y + rng.standard_normal(60), rng.standard_normal((60, 1))])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(selecting, "PAIRS", 5)
        return fsopt.select(fsopt.Dataset(X, y, [NASTY, "noise"]), features=2, folds=2)


def test_the_html_page_has_sentences_table_and_figure(selection, tmp_path):
    fsopt.write_selection(selection, tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    found = Elements(text)
    assert found.tags.count("img") == 1
    assert "b" not in found.tags
    assert one_line(NASTY) in found.texts
    assert all(one_line(sentence) in found.texts for sentence in selection.sentences)
    assert "Labels: -1 is '-1', +1 is '+1'." in found.texts


def test_a_table_in_latex_has_no_command_of_a_name(selection, tmp_path):
    fsopt.write_selection(selection, tmp_path / "page.tex")
    text = (tmp_path / "page.tex").read_text(encoding="utf-8")
    row = next(line for line in text.splitlines() if line.endswith("\\\\") and "x1b" in line)
    name, *numbers = row.removesuffix(" \\\\").split(" & ")
    assert name == (
        r"<b>\_\&|\$\textbackslash \%\#\textasciitilde \textasciicircum \textbackslash x1b\textbackslash u202e"
    )
    assert [float(one) for one in numbers] == pytest.approx([selection.to_records()[0][key] for key in KEYS], rel=5e-3)
    assert text.count(r"\begin{") == text.count(r"\end{")
    assert r"\toprule" in text
    write_table(tmp_path / "t.tex", table_of(["a_b"], [["0.9 ±0.1"]]), NASTY)
    told = (tmp_path / "t.tex").read_text(encoding="utf-8")
    assert all(part in told for part in (r"a\_b", "0.9 ±0.1"))
    assert told.startswith("% <b>")
    assert not CONTROL.search(told)
