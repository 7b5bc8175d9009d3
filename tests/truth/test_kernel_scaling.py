"""Problem (15) of Bi by plain ``fsopt.solve``: equal to the global search by linear programs, and never forged."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from support import REFERENCE, reference, sampled
from truth.forging import forge
from truth.instances import gaussian
from truth.oracle import relative

import fsopt
from fsopt.drivers.kernel_scaling.driver import kernel_scaling

GOLDEN = [e for e in json.loads((REFERENCE / "golden.json").read_text()) if e["name"] == "kernel-scaling"]
WEIGHTS = (0.0, 0.001, 0.01, 0.1)
DRAWN = 12
SECONDS = 5.0
"""Time limit of one call."""


def golden(entry: dict[str, Any]) -> tuple[fsopt.Dataset, dict[str, Any]]:
    """Return the data and parameters of a reference."""
    with np.load(REFERENCE / entry["file"]) as arrays:
        params = {"w": arrays["w"], "b": float(arrays["b"]), "e_cap": float(arrays["E"])}
    return reference(entry["data"]), {**params, **entry["params"]}


def drawn(seed: int) -> tuple[fsopt.Dataset, dict[str, Any]]:
    """Return an instance drawn like the references: the hyperplane of a small RSVM, and its loss as the cap.

    Every fourth instance is in raw units, with features of size 2.8 and 291.
    """
    rng = np.random.default_rng(seed)
    X, y = gaussian(int(rng.integers(20, 41)), int(rng.integers(3, 7)), seed=seed)
    if seed % 4 == 3:
        X = X * np.resize([2.8, 291.0, 1.0], X.shape[1])
    data = fsopt.Dataset(X, y)
    fit = fsopt.fit("rsvm", data, w_cap=float(rng.choice([0.5, 2.0, 5.0])) / X.std() ** 2, scale="none")
    loss = np.maximum(1 - y * (X @ fit.coef + fit.intercept), 0).sum()
    return data, {"w": fit.coef, "b": fit.intercept, "e_cap": loss * (1 + 1e-9), "c": WEIGHTS[seed % 4 - seed // 4 % 4]}


def plain(data: fsopt.Dataset, params: dict[str, Any]) -> Any:
    return fsopt.solve(fsopt.build("kernel-scaling", data, **params), time_limit=SECONDS)


def check_equal(result: Any, truth: Any) -> None:
    assert truth.status == "optimal"
    assert result.status == "optimal", f"{result.solver} {result.status} {result.objective}, optimum {truth.objective}"
    assert relative(result.objective, truth.objective) <= 1e-6, (result.solver, result.objective, truth.objective)
    assert result.bound <= truth.objective + 1e-6 * max(1.0, truth.objective)


@pytest.mark.parametrize("entry", sampled(GOLDEN, 4), ids=lambda e: f"{e['data']}-{e['params']['c']}")
def test_a_reference_is_solved_globally(entry: dict[str, Any]) -> None:
    data, params = golden(entry)
    result = plain(data, params)
    assert result.objective == pytest.approx(entry["objective"], rel=1e-6)
    check_equal(result, kernel_scaling(data, scaling="global", **params))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(DRAWN))
def test_a_drawn_instance_is_solved_globally(seed: int) -> None:
    data, params = drawn(seed)
    check_equal(plain(data, params), kernel_scaling(data, scaling="global", **params))


@pytest.mark.parametrize(("seed", "shrink"), [(0, 1e-5), (3, 1e-5), (1, 1e-3)])
def test_a_forged_radius_does_not_certify(seed: int, shrink: float) -> None:
    """The radius R below the largest sum of squares: the objective is R W + c e's, so a smaller R looks better."""
    data, params = drawn(seed)
    truth = kernel_scaling(data, scaling="global", **params)
    model = fsopt.build("kernel-scaling", data, **params)
    scaled = params["w"] * truth.point["s"]
    values = {
        "s": truth.point["s"],
        "w": scaled,
        "R": truth.point["radius"] * (1 - shrink),
        "W": truth.point["capacity"],
        "xi": np.maximum(1 - data.y * (data.X @ scaled + params["b"]), 0),
    }
    forged = forge(model, values)
    assert relative(forged.objective, truth.objective) > 1e-6
    certificate = fsopt.certify(model, forged)
    assert not certificate.ok, f"certified {forged.objective:.10g}, the optimum is {truth.objective:.10g}"
