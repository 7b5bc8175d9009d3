"""The site: the code of every page runs, and a page begins with its purpose and a command or snippet."""

import re
import sys

import pytest
from snippets import COLUMNS, agrees, called, outputs, pictures, printed_by, programs, run, steps
from support import ROOT, there
from test_docs import DOCS, name

import fsopt

sys.path.insert(0, str(ROOT / "docs" / "_ext"))
import site_models

PAPERS = ("gmeb", "mpm", "sla", "gbd", "mop")
FIRST_SCREEN = 45
"""Lines of a page on the first screen, beneath its title."""


@pytest.mark.slow
@pytest.mark.parametrize("page", DOCS, ids=name)
def test_the_code_on_a_page_runs(page, tmp_path):
    text = page.read_text(encoding="utf-8")
    for program in programs(text):
        there(program)
    done = run(text, tmp_path)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    for step, shown, printed in zip(steps(text), outputs(text), printed_by(done), strict=True):
        assert agrees(shown, printed), f"{step.text}\nprinted\n{printed}"


@pytest.mark.slow
def test_the_code_of_the_readme_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert all(map(called, steps((ROOT / "README.md").read_text(encoding="utf-8"))))


def test_an_output_agrees_with_what_is_printed_up_to_numbers():
    printed = "optimal 2.5  s\nand so on\n7 of 9\n"
    assert all(agrees(one, printed) for one in (["optimal -2.5e-3 s\n", "2 of 4\n"], ["optimal 2 s\n...\n2 of 4\n"]))
    assert not any(agrees(one, printed) for one in (["2 of 4\n", "optimal 2 s\n"], []))


@pytest.mark.parametrize("page", DOCS, ids=name)
def test_a_picture_stands_under_each_block_that_makes_one(page):
    text = page.read_text(encoding="utf-8")
    for step, (made, shown) in zip(steps(text), pictures(text), strict=True):
        assert made == shown[: len(made)], step.text
        assert len(made) >= step.text.count(".plot()"), f"a picture that nobody sees\n{step.text}"


@pytest.mark.parametrize("page", DOCS, ids=name)
def test_a_page_begins_with_its_purpose_and_a_command_or_snippet(page):
    lines = page.read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("# ")
    if page.stem == "overview":
        return  # its first sentence is what it found
    assert len(lines[2]) > 60, "a sentence that says what the page is for"
    assert steps("\n".join(lines[:FIRST_SCREEN]) + "\n```"), "no code on the first screen"


@pytest.mark.parametrize("page", sorted((ROOT / "docs" / "results").glob("*.json*")), ids=name)
def test_a_record_of_results_names_no_place_of_the_machine_that_made_it(page):
    assert not re.findall(r"(?<![\w.)])/(?:home|root|work|tmp|mnt|Users)/\S*", page.read_text("utf-8"))


@pytest.fixture(scope="module")
def made():
    return site_models.pages(ROOT)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # a file that is opened in one line
@pytest.mark.parametrize("path", [f"models/{s}.md" for s in fsopt.MODELS] + [f"methods/{m}.md" for m in fsopt.METHODS])
def test_the_code_on_a_page_made_from_the_registries_runs(path, made, monkeypatch):
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", COLUMNS)
    blocks = steps(made[path])
    assert {step.kind for step in blocks} == {"console", "python"}
    for step, shown in zip(blocks, outputs(made[path]), strict=True):
        printed = called(step)
        assert agrees(shown, printed), f"{step.text}\nprinted\n{printed}"
