"""No answer depends on the BLAS kernel: status, certificate and selection of every method, objectives to 1e-8."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support import ROOT

KERNELS = ("Nehalem", "Haswell", "SkylakeX")
"""Those that OpenBLAS knows; on a processor that lacks the instructions of one its process ends by a signal."""
SEEDS = [str(seed) for seed in range(1, 31 if os.environ.get("FSOPT_TRUTH") else 2)]
TOLERANCE = {"mopfs": 1e-5}
"""Its loop stops at a relative change of 1e-4, so that rounding may decide where; 1e-8 for the others."""


def answers(kernel: str) -> dict[str, dict[str, dict]] | None:
    """Return the answers with a kernel; None where the processor lacks its instructions."""
    env = os.environ | {"OPENBLAS_CORETYPE": kernel, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, str(Path(__file__).with_name("answers.py")), *SEEDS]
    done = subprocess.run(command, env=env, check=False, capture_output=True, text=True)
    if done.returncode == -signal.SIGILL:
        return None
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def settled(found: dict) -> dict:
    return {key: value for key, value in found.items() if key != "objective"}


@pytest.mark.slow
def test_no_answer_depends_on_the_kernel() -> None:
    first, *others = filter(None, map(answers, KERNELS))
    assert others, "one kernel alone says nothing"
    assert any(found.get("ok") for methods in first.values() for found in methods.values())
    for other in others:
        for seed, methods in first.items():
            for method, found in methods.items():
                at = other[seed][method]
                assert settled(at) == settled(found), (seed, method)
                tolerance = TOLERANCE.get(method, 1e-8)
                expected = pytest.approx(found.get("objective"), rel=tolerance, abs=tolerance)
                assert at.get("objective") == expected, (seed, method)
