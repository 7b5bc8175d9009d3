"""Reports: texts are escaped, ids are unique, nothing is fetched; ranks and profiles against numbers by hand.

The page on a selection: every text is escaped, and the numbers are those of the answer.
"""

import hashlib
import html.parser
import itertools
import json
import os
import re
import subprocess
from base64 import b64encode
from html import unescape
from types import SimpleNamespace

import numpy as np
import pytest
from support import blobs, there

import fsopt
from fsopt.analysis import selecting
from fsopt.common.texts import CONTROL, one_line
from fsopt.data import Dataset
from fsopt.errors import FileError
from fsopt.studies.executors import InProcess
from fsopt.studies.ranking import profile, ranking, stability
from fsopt.studies.report import ReportSection, ReportTable, page, shown, write_report
from fsopt.studies.study_report import DRAWN, NAMED, convergence, profile_figure, ranks_figure, study_sections

EVIL = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def rows():
    data = blobs(24, 3)
    wide = Dataset(data.X, data.y, (EVIL, "$x^2$", "b & \u202ec"), name="first")
    methods = [
        {"name": "best-subset", "params": {"m": 2}},
        {"name": "svm"},
        {"name": "l1-mpm", "params": {"delta": 0.99}},
    ]
    study = {"data": [wide, blobs(24, 3, seed=1)], "folds": 2, "seeds": [0], "all_samples": True, "methods": methods}
    return fsopt.run_study(study, executor=InProcess()).rows


@pytest.fixture(scope="module")
def report(rows):
    return page(EVIL, study_sections(rows))


class Elements(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.scripts, self.tags, self.contents, self.texts = [], [], 0, [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.tags.append(tag)
        self.scripts += tag == "script"
        self.contents += [given["content"]] if "content" in given else []
        self.ids += [given["id"]] if "id" in given else []
        self.links += [v for k, v in given.items() if k in ("href", "src", "xlink:href", "action", "data")]

    def handle_data(self, data):
        self.texts.append(data)


def hashed(script):
    return b64encode(hashlib.sha256(script.encode()).digest()).decode()


def test_the_page_is_one_file_whose_texts_are_escaped(report):
    found = Elements(report)
    assert found.scripts == 1, "ours"
    assert EVIL not in report
    assert not CONTROL.search(report)
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in report
    assert all(link.startswith("#") or link == "data:," for link in found.links)
    assert not re.search(r"url\((?!#)", report)
    assert len(set(found.ids)) == len(found.ids)
    assert {link[1:] for link in found.links if link.startswith("#")} <= set(found.ids)

    policy = next(text for text in found.contents if "default-src" in text)
    assert hashed(re.search("<script>(.*?)</script>", report, re.DOTALL)[1]) in policy
    allowed = dict(part.split(" ", 1) for part in policy.split("; "))
    assert allowed.pop("style-src") == "'unsafe-inline'"
    assert allowed.pop("img-src") == "data:"
    assert allowed.pop("script-src").startswith("'sha256-")
    assert set(allowed.values()) == {"'none'"}
    assert found.tags.count("svg") >= 5
    for text in ("balanced accuracy", "Friedman", "critical-difference", "stability", "infeasible"):
        assert text in report


def test_numbers_stand_to_the_right_in_columns_of_numbers_alone_and_sort_by_their_full_length(tmp_path):
    table = ReportTable(("all", "some"), [(1 / 3, 2.5), (None, "3.11.4"), ("0.9737 ±0.014", None)])
    assert table.numeric == (True, False)
    write_report(tmp_path / "r.html", "t", [ReportSection("s", tables=(table,))])
    text = (tmp_path / "r.html").read_text()
    cells = re.findall(r"<td([^>]*)>([^<]*)</td>", text[: text.index("Versions and machine</h2>")])
    assert [shown for given, shown in cells if "number" in given] == ["0.333", "0.9737 ±0.014"]
    assert re.findall(r'data-key="([^"]*)"', text)[:3] == [repr(1 / 3), "2.5", "0.9737"]
    assert Elements(text).tags.count("main") == 1


@pytest.mark.slow
def test_a_browser_shows_it_without_errors_and_sorts(report, tmp_path):
    script = """<script>
      const table = document.querySelector("table"), head = table.querySelectorAll("th")[1].firstElementChild;
      const values = () => [...table.tBodies[0].rows].map((r) => r.cells[1].dataset.key).filter((v) => v);
      head.click(); const up = values(); head.click(); const down = values();
      const pictures = [...document.querySelectorAll("figure svg")].every((s) => s.getBoundingClientRect().width > 50);
      document.title = JSON.stringify({ up, down, pictures });
    </script></body>"""
    place = tmp_path / "report.html"
    foreign = "<script>console.error('a foreign script runs')</script>"
    known = hashed(re.search("<script>(.*)</script>", script, re.DOTALL)[1])
    changed = report.replace("script-src ", f"script-src 'sha256-{known}' ").replace("</main>", foreign + "</main>")
    place.write_text(changed.replace("</body>", script))
    words = [there("chromium"), "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--v=0"]
    shot = ["--virtual-time-budget=2000", "--dump-dom", place.as_uri()]
    environment = {**os.environ, "HOME": str(tmp_path)}
    done = subprocess.run([*words, *shot], capture_output=True, text=True, timeout=120, env=environment)
    assert "a foreign script runs" not in done.stderr
    assert done.stderr.count("CONSOLE") == done.stderr.count("Content Security Policy") == 1, done.stderr
    title = json.loads(html.unescape(re.search(r"<title>(.*?)</title>", done.stdout, re.DOTALL).group(1)))
    numbers = [float(v) for v in title["up"]]
    assert numbers == sorted(numbers)
    assert [float(v) for v in title["down"]] == numbers[::-1]
    assert title["pictures"] is True


def test_the_page_opens_with_the_answers_and_the_fronts(rows):
    first, second = study_sections(rows, {"first": 0.625})[:2]
    assert first.title == "Answer"
    assert [text.partition(":")[0] for text in first.notes] == ["first", "data"]
    assert [title.partition(":")[0] for title in first.figures] == ["first", "data"]
    assert "The larger class alone has accuracy 0.625." in first.notes[0]
    listed = [(row[2], row[0], row[1]) for row in second.tables[0].rows]
    scores = [accuracy for accuracy, _, _ in listed if accuracy is not None]
    assert scores == sorted(scores, reverse=True)
    named = first.notes[0].partition(": ")[2].partition(" is ")[0]
    assert any(name == named and "front" in standing for _, name, standing in listed)
    assert "(" not in "".join(name for _, name, _ in listed), "parameters are said where lines of a method differ"


def many(rows, count, column):
    """Return copies of rows of a study with other values in a column."""
    return [
        {**row, "params": {}, column: {"c": k} if column == "params" else f"d{k}", "key": f"{row['key']}{k}"}
        for k in range(count)
        for row in rows
        if row["data"] == "first" and row["method"] == "svm"
    ]


def test_of_many_data_sets_the_first_have_pictures_and_all_have_tables(rows):
    found = study_sections(many(rows, DRAWN + 3, "data"))
    assert len(found[0].figures) == DRAWN
    assert f"the first {DRAWN} of {DRAWN + 3}" in found[0].notes[-1]
    tables = [section.tables[0] for section in found if section.title.startswith("Methods")]
    assert [len(table.rows) for table in tables] == [1] * (DRAWN + 3)


def test_the_leading_methods_come_first_and_the_others_are_folded(rows):
    many_rows = many(rows, 8, "params")
    for row in many_rows:  # the last one has the worst accuracy, and the fewest features
        row |= {"accuracy": None if row["fold"] is None else 0.9 - 0.01 * row["params"]["c"]}
        row |= {"n_features": 1 if row["params"]["c"] == 7 else 3}
    first, second = (section for section in study_sections(many_rows, {"first": 0.9}) if "ethods on" in section.title)
    assert (first.title, first.folded) == ("Methods on first", False)
    assert [row[0] for row in first.tables[0].rows] == [f"svm (c={k})" for k in (0, 1, 2, 3, 7)]
    assert (second.title, second.folded) == ("Other methods on first", True)
    assert [row[0] for row in second.tables[0].rows] == [f"svm (c={k})" for k in (4, 5, 6)]
    assert "not shown above the larger class" in first.tables[0].rows[0][1]
    assert [len(section.tables[1].rows) for section in (first, second)] == [5, 3]


def test_of_many_methods_a_picture_names_those_of_the_front(rows):
    first = study_sections(many(rows, NAMED + 3, "params"))[0]
    [figure] = first.figures.values()
    assert [text.get_text() for text in figure.axes[0].texts] == ["svm (c=0)"]
    scores = {f"m{k}": [0.9 - k / 1000, 0.8 - k / 1000] for k in range(NAMED + 3)}
    assert len(ranks_figure(ranking(scores)).axes[0].get_yticks()) == NAMED
    assert len(profile_figure({name: [1.0 - a, 1.0 - b] for name, (a, b) in scores.items()}).axes[0].lines) == NAMED


def test_a_picture_of_convergence_has_no_loop_whose_incumbent_rises():
    made = [
        SimpleNamespace(title="gbd", rows=[{"trace": [[0.0, 9.0, 1.0], [1.0, 7.0, None], [2.0, 7.0 + 1e-9, 6.9]]}]),
        SimpleNamespace(title="rfe", rows=[{"trace": [[0.0, 5.0, None], [1.0, 8.0, None]]}]),
        SimpleNamespace(title="sla", rows=[{"trace": [[0.0, None, None], [1.0, 3.0, None]]}]),
        SimpleNamespace(title="one", rows=[{"trace": [[0.0, 5.0, 1.0]]}]),
        SimpleNamespace(title="none", rows=[{"trace": None}]),
    ]
    figure = convergence(made)
    assert [axes.get_title() for axes in figure.axes] == ["gbd", "sla"]
    assert figure.get_figwidth() < 7
    assert convergence(made[3:]) is None


def test_cells_have_three_significant_digits():
    values = (0.97364, 1.0, 99.94, 1234.5, 0.0, -2.346e-7, 7)
    assert [shown(value) for value in values] == ["0.974", "1.00", "99.9", "1234", "0", "-2.35e-07", "7"]


def test_ranks_of_demsars_kind_by_hand():
    found = ranking({"a": [0.9, 0.8, 0.7, 0.6], "b": [0.8, 0.8, 0.6, 0.5], "c": [0.1, 0.2, 0.3, 0.4]})
    assert found.ranks == pytest.approx([(1 + 1.5 + 1 + 1) / 4, (2 + 1.5 + 2 + 2) / 4, 3.0])
    assert found.distance == pytest.approx(2.343 * np.sqrt(3 * 4 / (6 * 4)), rel=1e-3)  # Demsar, Table 5: q = 2.343
    assert found.p_value < 0.05
    assert found.groups == [(1.125, 1.875), (1.875, 3.0)]


@pytest.mark.slow
def test_stability_and_profiles_by_hand():
    assert stability([["a", "b"], ["a"], ["a", "b"]]) == pytest.approx((0.5 + 1.0 + 0.5) / 3)
    assert stability([["a"]]) is None
    assert stability([[], []]) == 1.0
    kinds = [["a", "b"], ["a"], [], ["b", "c", "d"]] * 150  # of several blocks
    pairs = [(set(a), set(b)) for a, b in itertools.combinations(kinds, 2)]
    assert stability(kinds) == pytest.approx(np.mean([len(a & b) / len(a | b) if a | b else 1.0 for a, b in pairs]))
    grid, curves = profile({"a": [1.0, 4.0], "b": [2.0, np.inf]})
    assert grid.tolist() == [1.0, 2.0]
    assert curves["a"].tolist() == [1.0, 1.0]
    assert curves["b"].tolist() == [0.0, 0.5]


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


def test_the_html_page_has_sentences_table_and_three_figures(selection, tmp_path):
    fsopt.write_selection(selection, tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    found = Elements(text)
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
