"""Digests of programs of wdbc: the same on every processor, with every kind of BLAS kernel and every numpy."""

import json
import math
import os
import signal
import subprocess
import sys

import numpy as np
import pytest
from support import ROOT

import fsopt
from fsopt.certificates.exact.program import exact_program
from fsopt.certificates.exact.proofs import Header, program_data
from fsopt.compiler import compile_model
from fsopt.data.matrices import SMALL, exact_sums
from fsopt.errors import FsoptError
from fsopt.methods.claims import about_of
from fsopt.methods.preprocessing import preprocess
from fsopt.models.registry import MODELS, build
from fsopt.verification.origins import program_of
from fsopt.verifier.verify import digest
from tools.instances import build_instance, instance_parameters

DIGESTS = {
    ("svm", "standard", "given"): "9c744373107a9240",
    ("svm", "unit-rows", "given"): "c5ee383cd3df0537",
    ("gmeb-primal", "center", "rms"): "e66e7ceef32fa530",
    ("mpm", "standard", "given"): "cc68d502b8b7306b",
    ("l1-mpm", "none", "given"): "54ad292d81c7f953",
    ("svm-dual", "standard", "given"): "acc8d6cda3523c4a",
}


@pytest.mark.parametrize("key", DIGESTS, ids=lambda key: " ".join(key))
def test_the_digest_of_a_program_is_that_of_any_processor(key):
    slug, scale, units = key
    data = fsopt.load_dataset("wdbc")
    origin = Header(data, scale).origin(about_of(slug, {}, units=units))
    assert digest(program_of(origin, data))[:16] == DIGESTS[key]


def every():
    """Return the digests of the programs of all models, or why there is none, also of data whose sums all round."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(61, 9)) * 10.0 ** rng.integers(-3, 3, 9)
    data = preprocess(fsopt.Dataset(X, np.where(rng.random(61) < 0.5, 1, -1)), "standard")[0]
    found = {}
    for slug in MODELS:
        for k, make in enumerate((build_instance, lambda slug: build(slug, data, **instance_parameters(slug)))):
            try:
                found[f"{slug} {k}"] = digest(program_data(exact_program(compile_model(make(slug)))))
            except FsoptError as error:
                found[f"{slug} {k}"] = type(error).__name__
    return found


KERNELS = ({"OPENBLAS_CORETYPE": kernel} for kernel in ("Nehalem", "Haswell", "SkylakeX"))
PROCESSORS = (*KERNELS, {"NPY_DISABLE_CPU_FEATURES": "AVX2 FMA3 AVX512F AVX512_SKX"})


def digests(processor):
    """Return the digests of all models on another processor; None where this one lacks its instructions."""
    command = [sys.executable, "-W", "ignore", __file__]
    env = os.environ | processor | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests" / "helpers")])}
    done = subprocess.run(command, env=env, check=False, capture_output=True, text=True)
    if done.returncode == -signal.SIGILL:
        return None
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.slow
def test_the_digest_of_every_model_is_that_of_any_processor():
    first, *others = filter(None, map(digests, PROCESSORS))
    assert others, "one processor alone says nothing"
    assert sum(len(found) == 64 for found in first.values()) > len(first) // 2
    for other in others:
        assert other == first


def test_sums_do_not_depend_on_the_order_of_the_samples():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(999, 3)) * 10.0 ** rng.integers(-9, 9, (999, 3))
    found = exact_sums(X)
    assert found.tolist() == [math.fsum(column) for column in X.T] == exact_sums(X[rng.permutation(999)]).tolist()
    weights = rng.random(999)
    assert exact_sums(X, weights).tolist() == [math.fsum(column) for column in (X * weights[:, None]).T]
    huge = np.array([[1e308, np.inf], [1e308, -np.inf]])
    with np.errstate(all="ignore"):
        assert np.isinf(exact_sums(huge)[0])
    assert X.size < SMALL


if __name__ == "__main__":  # on another processor
    print(json.dumps(every()))
