"""Kills of a checkpointed run at random moments: a harness for every resumable method."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

VOLATILE = ("seconds", "elapsed", "digest")
"""Keys, or beginnings of keys, of a saved fit that differ from run to run: times, and the digest of the record."""


def lasting(record: Any) -> Any:
    """Return a saved fit without its times, at all depths."""
    if isinstance(record, Mapping):
        return {k: lasting(v) for k, v in record.items() if not k.startswith(VOLATILE)}
    return [lasting(v) for v in record] if isinstance(record, list) else record


def command(words: str, folder: Path) -> list[str]:
    return [sys.executable, "-m", "fsopt", *words.split(), "-o", str(folder / "fit.json")]


def uninterrupted(words: str, folder: Path) -> tuple[dict[str, Any], float]:
    """Run a fit on the command line, with checkpoints; return its record, and its seconds."""
    started = time.perf_counter()
    subprocess.run([*command(words, folder), "--checkpoint", str(folder / "whole")], check=True, capture_output=True)
    return json.loads((folder / "fit.json").read_text()), time.perf_counter() - started


def killed_again_and_again(words: str, folder: Path, kills: int, longest: float, seed: int) -> dict[str, Any]:
    """Kill a fit after random seconds, resume it from its checkpoint, and so on; return the record of the last run."""
    rng, path = np.random.default_rng(seed), folder / "checkpoint"
    for last in (*[False] * kills, True):
        resume = ["--resume", str(path)] if path.exists() else []
        run = [*command(words, folder), "--checkpoint", str(path), *resume]
        process = subprocess.Popen(run, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        try:
            _, err = process.communicate(timeout=None if last else rng.uniform(0.0, longest))
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            continue
        assert process.returncode == 0, err.decode()
    return json.loads((folder / "fit.json").read_text())
