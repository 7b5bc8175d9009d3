"""Exported files: the same bytes on every run, readable names, and the same optimum in other software."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import highspy
import pytest
from support import blobs

import fsopt
from fsopt.errors import FileError
from fsopt.export import FORMATS

LINEAR = [slug for slug, m in fsopt.MODELS.items() if m.problem_class in ("LP", "MILP")]


@pytest.mark.parametrize("slug", ["gmeb-dual", "fsv-step"])
@pytest.mark.parametrize("suffix", FORMATS)
def test_the_same_bytes_on_two_runs_with_other_hash_seeds(slug: str, suffix: str, tmp_path: Path) -> None:
    files = [tmp_path / f"{k}{suffix}" for k in (1, 2)]
    for seed, path in enumerate(files):
        subprocess.run(
            [sys.executable, "-m", "fsopt", "export", slug, "--data", "wdbc", "-o", str(path)],
            check=True, capture_output=True, env={**os.environ, "PYTHONHASHSEED": str(seed)},
        )  # fmt: skip
    assert files[0].read_bytes() == files[1].read_bytes()
    assert files[0].stat().st_size > 1000


@pytest.mark.parametrize("suffix", [".lp", ".mps"])
@pytest.mark.parametrize("slug", LINEAR)
def test_highs_reads_our_files_and_finds_our_optimum(slug: str, suffix: str, tmp_path: Path) -> None:
    model = fsopt.build(slug, blobs(20, 4, seed=3))
    fsopt.export(model, tmp_path / f"model{suffix}")
    ours = fsopt.solve(model).objective
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    assert highs.readModel(str(tmp_path / f"model{suffix}")) == highspy.HighsStatus.kOk
    highs.run()
    assert highs.getObjectiveValue() == pytest.approx(ours, rel=1e-7, abs=1e-9)


def test_names_are_those_of_the_components(tmp_path: Path) -> None:
    model = fsopt.build("fsv-step", blobs(6, 2))
    files = fsopt.export(model, tmp_path / "m.nl")
    assert [f.name for f in files] == ["m.nl", "m.row", "m.col"]
    assert {"w[0]", "gamma", "y[0]", "v[1]"} <= set((tmp_path / "m.col").read_text().split())
    assert "errors_a[0]" in (tmp_path / "m.row").read_text()
    fsopt.export(model, tmp_path / "m.lp")
    text = (tmp_path / "m.lp").read_text()
    assert "w(0)" in text
    assert "errors_a(0)" in text


def test_refusals_leave_nothing_behind(tmp_path: Path) -> None:
    model = fsopt.build("rlp", blobs(6, 2))
    with pytest.raises(FileError, match=r"unknown format '\.cbf'.*\.lp"):
        fsopt.export(model, tmp_path / "m.cbf")
    with pytest.raises(FileError, match="there is no folder"):
        fsopt.export(model, tmp_path / "nowhere" / "m.lp")
    assert list(tmp_path.iterdir()) == []
