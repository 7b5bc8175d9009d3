"""Print the digests of the programs of all models, for two data sets, as JSON: run with each kind of BLAS kernel."""

import json

import numpy as np

import fsopt
from fsopt.certificates.exact.program import exact_program
from fsopt.certificates.exact.proofs import program_data
from fsopt.compiler import compile_model
from fsopt.errors import FsoptError, NotShownError
from fsopt.methods.preprocessing import preprocess
from fsopt.models.registry import MODELS, build
from fsopt.verifier.verify import digest
from tools.instances import build_instance, instance_parameters


def normal():
    """Return data whose sums and products all round, of features in different units."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(61, 9)) * 10.0 ** rng.integers(-3, 3, 9)
    return preprocess(fsopt.Dataset(X, np.where(rng.random(61) < 0.5, 1, -1)), "standard")[0]


def found(make):
    """Return the digest of a model's program, or why it has none."""
    try:
        return digest(program_data(exact_program(compile_model(make()))))
    except (FsoptError, NotShownError) as error:
        return type(error).__name__


if __name__ == "__main__":
    data = normal()
    digests = {slug: found(lambda slug=slug: build_instance(slug)) for slug in MODELS}
    params = {slug: instance_parameters(slug) for slug in MODELS}
    digests |= {f"{slug} of other data": found(lambda s=slug: build(s, data, **params[s])) for slug in MODELS}
    print(json.dumps(digests))
