"""Proved optima checked by programs that others wrote: ``make foreign``, or ``python run.py PYTHON [FOLDER]``.

PYTHON has CP-SAT, z3 and Exact; FOLDER has the papers' data. The problem of a selection has no solution at its proved
bound, and one above the optimum; QSopt_ex finds the optimum of a linear program in the interval of its proof. VeriPB
reads the tree of a selection, where a program of this name is on the path.
"""

import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from fractions import Fraction
from pathlib import Path

from fsopt.certificates.exact.pseudo_boolean import SHARE, below, opb, pbp
from fsopt.certificates.exact.rational_lp import rational_lp

import fsopt

HERE = Path(__file__).parent
LIBRARY = HERE.parents[1] / "models"
SOLVERS = ("CP-SAT", "z3", "Exact")
CUTS = 2000
"""Most cuts of a problem for a solver; a larger one is for VeriPB alone."""
SELECTIONS = {
    "wdbc": [*({"m": m} for m in (1, 2, 3, 4, 5)), {"m": 2, "loss": "logistic"}, {"m": 3, "loss": "squared-hinge"}],
    "bupa": [{"m": m} for m in (1, 3, 5)],
    "pima": [{"m": 2}, {"m": 4, "conflicts": [[0, 1]]}],
    "cleveland": [{"m": 2}, {"m": 3, "implies": [[0, 3]]}],
    "ionosphere": [{"m": 2}],
    "sonar": [{"m": 2}, {"m": 3}],
}
"""Data set -> parameters of ``best-subset``."""
LP = ("fsv-step", "gmeb-cuts", "onsvm", "rlp")
"""Linear programs whose realistic instances are of the table, beside all of the small ones."""


def selections(folder):
    """Yield a name and the claim of each case whose data are there."""
    for name, cases in SELECTIONS.items():
        path = f"{folder}/{name}.csv.gz"
        if name != "wdbc" and not Path(path).exists():
            print(f"{name}: its data are not in {folder}")
            continue
        data = fsopt.load_dataset(name if name == "wdbc" else path)
        for parameters in cases:
            found = fsopt.verify(fsopt.fit("best-subset", data, **parameters), data, exact=True)
            label = ", ".join(f"{k}={v}" for k, v in parameters.items())
            yield f"{name} {label}", found.exact.claims[0]


def linear_programs():
    """Yield a name and a claim of each linear program of the library."""
    for file in sorted(LIBRARY.glob("*/instance.toml")):
        if tomllib.loads(file.read_text())["class"] == "LP":
            yield file.parent.name, fsopt.read_model(file.with_name(f"{file.parent.name}.mps"))
    for file in sorted((LIBRARY / "realistic").glob("*.mps.gz")):
        if file.name.startswith(LP) and "colon" not in file.name:
            yield file.name, fsopt.read_model(file)


def answer_of(command):
    """Return the output of a program, its errors left out, and its seconds."""
    started = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout, time.perf_counter() - started


def check_selection(python, name, claim, folder):
    """Return the number of answers that contradict a proof, or are none, and print all of them."""
    wrong, cuts = 0, len(claim.part["evidence"]["cuts"])
    problem, proof = folder / "problem.opb", folder / "problem.pbp"
    above = claim.upper + SHARE * max(1, claim.upper)
    for threshold, expected in ((above, "sat"), (below(claim.lower), "unsat")):
        problem.write_text(opb(claim.part, threshold))
        for solver in SOLVERS if cuts <= CUTS else ():
            answer, seconds = answer_of([python, HERE / "solvers.py", solver, problem])[0].split() or ("none", "-")
            wrong += answer != expected
            print(f"{name}, {cuts} cuts: {solver} {answer} below {float(threshold):.9g}, {seconds} s", flush=True)
    proof.write_text(pbp(claim.part, below(claim.lower)))
    if shutil.which("veripb"):
        text, seconds = answer_of(["veripb", problem, proof])
        verified = "s VERIFIED UNSAT" in text or "Verification succeeded" in text
        wrong += not verified
        size = proof.stat().st_size / 1e6
        print(f"{name}, {cuts} cuts, {size:.2f} MB: VeriPB {'verified' if verified else text}, {seconds:.2f} s")
    return wrong


def check_linear(name, model, folder):
    """Return whether QSopt_ex finds an optimum outside the proved interval, or none, and print it."""
    claim = fsopt.verify(fsopt.solve(model), model, exact=True).exact.claims[0]
    (folder / "problem.lp").write_text(rational_lp(claim.part))
    _, seconds = answer_of(["esolver", "-L", "-O", folder / "problem.sol", folder / "problem.lp"])
    value = re.search(r"Value = (\S+)", (folder / "problem.sol").read_text())
    inside = claim.holds and value is not None and claim.lower <= Fraction(value[1]) <= claim.upper
    word = "inside" if inside else f"NOT INSIDE: {value and float(Fraction(value[1]))}"
    print(f"{name}: QSopt_ex {word}, width {float(claim.width):.1e}, {seconds:.1f} s", flush=True)
    return not inside


def main(python, data=""):
    """Print what each program finds of each problem, and end with 1 where one does not confirm a proof."""
    if not shutil.which("esolver"):
        print("QSopt_ex is not installed: apt-get install qsopt-ex")
        return 2
    sys.set_int_max_str_digits(0)
    with tempfile.TemporaryDirectory() as folder:
        wrong = sum(check_linear(name, model, Path(folder)) for name, model in linear_programs())
        wrong += sum(check_selection(python, name, claim, Path(folder)) for name, claim in selections(data))
    print(f"{wrong} not confirmed")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
