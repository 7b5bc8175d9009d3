"""``convert``: a model file in another format, and what it refuses."""

from __future__ import annotations

import pytest

MIXED = "min\n o: a + 2 b - c\nst\n first: a + b >= 1.5\n second: 1 <= a - c <= 4\nbounds\n c <= 7\ngeneral\n c\nend\n"


@pytest.fixture
def mixed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "mixed.lp"
    path.write_text(MIXED)
    return path


def test_a_file_is_converted_with_its_names(mixed, run):
    """The minimum is 1, as a - c >= 1, with a = 2, b = 0, c = 1."""
    assert run("convert mixed.lp two.mps --json") == {"model": "mixed.lp", "files": ["two.mps"]}
    assert run("convert --json two.mps three.gms") == run("export two.mps -o three.gms --json")
    for name in ("mixed.lp", "two.mps", "three.gms"):
        record = run(f"solve {name} --json")
        assert record["objective"] == pytest.approx(1.0)
        assert sorted(record["variables"]) == ["a", "b", "c"]


def test_what_is_no_conversion_is_refused_by_name(mixed, run):
    assert "no integer variables" in run.refusal("convert mixed.lp two.dat-s")
    assert "--param is for models on data sets" in run.refusal("export mixed.lp --param c=1 -o two.mps")
    assert "--scale is for models on data sets" in run.refusal("export mixed.lp --scale standard -o two.mps")
    assert "use one of .lp" in run.refusal("convert mixed.lp two.xyz")
    for words in (
        "convert",
        "convert mixed.lp",
        "convert mixed.lp two.mps three.mps",
        "convert mixed.lp --data wdbc x",
    ):
        assert "convert takes two files" in run.refusal(words)
    assert not (mixed.parent / "two.dat-s").exists()
    assert "fsopt convert A.mps B.lp" in " ".join(run("convert --help").split())
