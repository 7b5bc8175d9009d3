"""Print what every method answers on a range of seeded data sets, as JSON: run under one kind of BLAS kernel."""

import json
import sys

import numpy as np

import fsopt


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


if __name__ == "__main__":
    json.dump({seed: answers(drawn(int(seed))) for seed in sys.argv[1:]}, sys.stdout)
