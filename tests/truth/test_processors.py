"""No answer depends on the processor: status, certificate and selection of every method, objectives to 1e-8."""

import json
import os
import signal
import subprocess
import sys

import numpy as np
import pytest
from support import ROOT

import fsopt

PROCESSORS = [{"OPENBLAS_CORETYPE": kernel} for kernel in ("Nehalem", "Haswell", "SkylakeX")]
"""Kernels of OpenBLAS; on a processor that lacks the instructions of one its process ends by a signal."""
PROCESSORS += [{"NPY_DISABLE_CPU_FEATURES": "AVX2 FMA3 AVX512F AVX512_SKX"}]
SEEDS = [str(seed) for seed in range(1, 31 if os.environ.get("FSOPT_TRUTH") else 2)]
TOLERANCE = {"mopfs": 1e-5}
"""Its loop stops at a relative change of 1e-4, so that rounding may decide where; 1e-8 for the others."""


def drawn(seed: int) -> fsopt.Dataset:
    """Return two classes of a seeded size, separation and correlation; every third has features in unlike units."""
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(20, 90)), int(rng.integers(2, 13))
    y = np.where(np.arange(n) % 3 > 0, 1.0, -1.0)
    X = rng.standard_normal((n, p)) @ (np.eye(p) + 0.4 * rng.standard_normal((p, p)))
    X[:, : max(1, p // 3)] += rng.uniform(0.3, 1.2) * y[:, None]
    if seed % 3 == 0:
        X *= 10.0 ** rng.integers(-4, 5, p)
    return fsopt.Dataset(X, y, features=[f"größe {j} (mm)" for j in range(p)], name=f"drawn-{seed}")


def answers(data: fsopt.Dataset) -> dict[str, dict[str, object]]:
    """Return method -> status, whether the certificate holds, selection and objective; an error has its class alone."""
    found: dict[str, dict[str, object]] = {}
    for method in fsopt.METHODS:
        try:
            fit = fsopt.fit(method, data)
        except fsopt.FsoptError as error:
            found[method] = {"error": type(error).__name__}
            continue
        held = None if fit.certificate is None else fit.certificate.ok
        found[method] = {"status": str(fit.status), "ok": held, "features": fit.features, "objective": fit.objective}
    return found


def on(processor: dict[str, str]) -> dict[str, dict[str, dict]] | None:
    """Return the answers on another processor; None where this one lacks its instructions."""
    paths = os.pathsep.join([str(ROOT), str(ROOT / "tests/helpers")])
    command = [sys.executable, "-W", "ignore", __file__, *SEEDS]
    env = os.environ | processor | {"PYTHONPATH": paths}
    done = subprocess.run(command, env=env, check=False, capture_output=True, text=True)
    if done.returncode == -signal.SIGILL:
        return None
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def settled(found: dict) -> dict:
    return {key: value for key, value in found.items() if key != "objective"}


@pytest.mark.slow
def test_no_answer_depends_on_the_processor() -> None:
    first, *others = filter(None, map(on, PROCESSORS))
    assert others, "one processor alone says nothing"
    assert any(found.get("ok") for methods in first.values() for found in methods.values())
    for other in others:
        for seed, methods in first.items():
            for method, found in methods.items():
                at = other[seed][method]
                assert settled(at) == settled(found), (seed, method)
                tolerance = TOLERANCE.get(method, 1e-8)
                expected = pytest.approx(found.get("objective"), rel=tolerance, abs=tolerance)
                assert at.get("objective") == expected, (seed, method)


if __name__ == "__main__":  # on another processor
    json.dump({seed: answers(drawn(int(seed))) for seed in sys.argv[1:]}, sys.stdout)
