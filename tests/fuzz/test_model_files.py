"""Damaged model files and solution files: each is read, or is an error of the package."""

from __future__ import annotations

import gzip

from formats import test_read_lp
from formats.test_random_files import Random
from formats.test_reading import CBF, FIXED, LP, NL
from formats.test_solutions import AMPL, CBC, CPLEX, GUROBI, JSON, SCIP, named_model
from fuzz.attack import FACTOR, attack, damaged, generator

import fsopt
from fsopt.compiler import compile_model

CASES = 150
MODELS = [(".lp", LP), (".lp", test_read_lp.GUROBI), (".mps", FIXED), (".mps", Random(1, plain=False, semi=True).mps())]
MODELS += [(".nl", NL), (".cbf", CBF)]
HIGHS = """Model status
Optimal

# Primal solution values
Feasible
Objective 1
# Columns 2
a[1] 1
long name, (2) 0
# Rows 1
c one 1

# Dual solution values
Feasible
# Columns 2
a[1] 0
long name, (2) 1
# Rows 1
c one 1
"""
RAW = "c Status: OPTIMAL\nc\ns bas 1 2 f f 1\ni 1 l 1 1\nj 1 b 1 0\nj 2 l 0 1\ne o f\n"
REPORT = """Problem:    m
Rows:       1
Columns:    2
Status:     OPTIMAL
Objective:  cost = 1 (MINimum)

   No.   Row name   St   Activity     Lower bound   Upper bound    Marginal
------ ------------ -- ------------- ------------- ------------- -------------
     1 c            NL             1             1                           1

   No. Column name  St   Activity     Lower bound   Upper bound    Marginal
------ ------------ -- ------------- ------------- ------------- -------------
     1 a[1]         B              1             0
     2 long_and_more_than_twelve
                    NL             0             0                           1

End of output
"""
SOLUTIONS = (AMPL, CBC, CPLEX, GUROBI, JSON, SCIP, HIGHS, RAW, REPORT)


def test_damaged_model_files(tmp_path):
    def cases():
        for k in range(CASES * FACTOR):
            rng = generator(29, k)
            suffix, text = MODELS[rng.integers(len(MODELS))]
            content = damaged(text.encode(), rng)
            path = tmp_path / f"m{suffix}"
            if rng.integers(8) == 0:
                path, content = tmp_path / f"m{suffix}.gz", damaged(gzip.compress(content, mtime=0), rng)
            path.write_bytes(content)
            yield f"case {k}, {path.name}", lambda path=path: compile_model(fsopt.read_model(path))

    ends = attack(cases())
    assert min(ends["answer"], ends["file"]) > CASES / 60, ends


def test_damaged_solution_files(tmp_path):
    model = named_model()
    path = tmp_path / "answer"

    def cases():
        for k in range(CASES * FACTOR):
            rng = generator(30, k)
            path.write_bytes(damaged(SOLUTIONS[rng.integers(len(SOLUTIONS))].encode(), rng))
            yield f"case {k}", lambda: fsopt.verify(fsopt.read_solution(path, model), model)

    ends = attack(cases())
    assert min(ends["answer"], ends["file"]) > CASES / 30, ends
