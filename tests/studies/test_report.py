"""Reports: texts are escaped, ids are unique, nothing is fetched; ranks and profiles against numbers by hand."""

import html.parser
import itertools
import os
import re
import shutil
import subprocess

import numpy as np
import pytest
from support import blobs

import fsopt
from fsopt.data import Dataset
from fsopt.studies.executors import InProcess
from fsopt.studies.ranking import profile, ranking, stability
from fsopt.studies.report import ReportTable, Section, page, write_report
from fsopt.studies.study_report import study_sections

EVIL = "<script>alert(1)</script>"
BROWSER = shutil.which("chromium")


@pytest.fixture(scope="module")
def report():
    data = blobs(40, 3)
    wide = Dataset(data.X, data.y, (EVIL, "$x^2$", "b & c"), name="first")
    methods = [
        {"name": "best-subset", "params": {"m": 2}},
        {"name": "svm"},
        {"name": "fsv"},
        {"name": "l1-mpm", "params": {"delta": 0.99}},
    ]
    study = {"data": [wide, blobs(40, 3, seed=1)], "folds": 2, "seeds": [0], "all_samples": True, "methods": methods}
    return page(EVIL, study_sections(fsopt.run_study(study, executor=InProcess()).rows))


class Elements(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.scripts, self.tags = [], [], 0, []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.tags.append(tag)
        self.scripts += tag == "script"
        self.ids += [given["id"]] if "id" in given else []
        self.links += [v for k, v in given.items() if k in ("href", "src", "xlink:href", "action", "data")]


def test_the_page_is_one_file_whose_texts_are_escaped(report):
    found = Elements(report)
    assert found.scripts == 1, "ours"
    assert EVIL not in report
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in report
    assert all(link.startswith("#") or link == "data:," for link in found.links)
    assert not re.search(r"url\((?!#)", report)
    assert len(set(found.ids)) == len(found.ids)
    assert {link[1:] for link in found.links if link.startswith("#")} <= set(found.ids)


def test_the_page_has_its_parts(report):
    assert Elements(report).tags.count("svg") >= 5
    for text in (
        "balanced accuracy",
        "Friedman",
        "critical-difference",
        "stability",
        "Versions and machine",
        "infeasible",
    ):
        assert text in report


def test_numbers_sort_by_their_full_length(tmp_path):
    table = ReportTable(("a",), [(1 / 3,), (None,), ("text",), (2,)])
    write_report(tmp_path / "r.html", "t", [Section("s", tables=(table,))])
    text = (tmp_path / "r.html").read_text()
    assert re.findall(r'data-key="([^"]*)"', text)[:2] == [repr(1 / 3), "2.0"]


@pytest.mark.skipif(BROWSER is None, reason="no chromium")
def test_a_browser_shows_it_without_errors_and_sorts(report, tmp_path):
    script = """<script>
      const table = document.querySelector("table"), head = table.querySelectorAll("th")[1].firstElementChild;
      const values = () => [...table.tBodies[0].rows].map((r) => r.cells[1].dataset.key).filter((v) => v);
      head.click(); const up = values(); head.click(); const down = values();
      const pictures = [...document.querySelectorAll("figure svg")].every((s) => s.getBoundingClientRect().width > 50);
      document.title = JSON.stringify({ up, down, pictures });
    </script></body>"""
    place = tmp_path / "report.html"
    place.write_text(report.replace("</body>", script))
    words = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--v=0"]
    shot = ["--virtual-time-budget=2000", "--dump-dom", place.as_uri()]
    environment = {**os.environ, "HOME": str(tmp_path)}
    done = subprocess.run([*words, *shot], capture_output=True, text=True, timeout=120, env=environment)
    assert "CONSOLE" not in done.stderr, done.stderr
    import json
    from html import unescape

    title = json.loads(unescape(re.search(r"<title>(.*?)</title>", done.stdout, re.DOTALL).group(1)))
    numbers = [float(v) for v in title["up"]]
    assert numbers == sorted(numbers)
    assert [float(v) for v in title["down"]] == numbers[::-1]
    assert title["pictures"] is True


def test_ranks_of_demsars_kind_by_hand():
    found = ranking({"a": [0.9, 0.8, 0.7, 0.6], "b": [0.8, 0.8, 0.6, 0.5], "c": [0.1, 0.2, 0.3, 0.4]})
    assert found.ranks == pytest.approx([(1 + 1.5 + 1 + 1) / 4, (2 + 1.5 + 2 + 2) / 4, 3.0])
    assert found.distance == pytest.approx(2.343 * np.sqrt(3 * 4 / (6 * 4)), rel=1e-3)  # Demsar, Table 5: q = 2.343
    assert found.p_value < 0.05
    assert found.groups == [(1.125, 1.875), (1.875, 3.0)]


def test_stability_and_profiles_by_hand():
    assert stability([["a", "b"], ["a"], ["a", "b"]]) == pytest.approx((0.5 + 1.0 + 0.5) / 3)
    assert stability([["a"]]) is None
    assert stability([[], []]) == 1.0
    grid, curves = profile({"a": [1.0, 4.0], "b": [2.0, np.inf]})
    assert grid.tolist() == [1.0, 2.0]
    assert curves["a"].tolist() == [1.0, 1.0]
    assert curves["b"].tolist() == [0.0, 0.5]
    for low, high in itertools.pairwise(curves["b"]):
        assert low <= high
