"""Readers of model files that know nothing of fsopt: of .cbf files, by Clarabel, and other software."""

from dataclasses import dataclass, field
from pathlib import Path

import clarabel
import numpy as np
import pytest
import scipy.sparse as sp
from support import conic_optimum

ROOT2 = np.sqrt(2.0)
COORDINATES = {"ACOORD": ("entries", 2), "HCOORD": ("matrices", 4), "DCOORD": ("constants", 3)}
CONES = {"L=": clarabel.ZeroConeT, "L+": clarabel.NonnegativeConeT, "L-": clarabel.NonnegativeConeT}
CONES |= dict.fromkeys(("Q", "QR"), clarabel.SecondOrderConeT)


@dataclass
class Cbf:
    """A CBF file as read: sense, cones of columns and rows as (name, size), integers, coordinates.

    Semidefinite constraints: orders, (constraint, column, i, j) -> value of a coefficient, (constraint, i, j) -> value.
    """

    maximise: bool = False
    columns: list[tuple[str, int]] = field(default_factory=list)
    rows: list[tuple[str, int]] = field(default_factory=list)
    integer: list[int] = field(default_factory=list)
    cost: dict[int, float] = field(default_factory=dict)
    constant: float = 0.0
    entries: dict[tuple[int, int], float] = field(default_factory=dict)
    sides: dict[int, float] = field(default_factory=dict)
    orders: list[int] = field(default_factory=list)
    matrices: dict[tuple[int, int, int, int], float] = field(default_factory=dict)
    constants: dict[tuple[int, int, int], float] = field(default_factory=dict)

    def size(self, cones: list[tuple[str, int]]) -> int:
        return sum(k for _, k in cones)


def parse_cbf(path: Path) -> Cbf:
    text = path.read_bytes().decode("ascii")
    assert all(len(line) <= 512 for line in text.splitlines())
    lines = iter([line for line in text.splitlines() if line.strip() and not line.startswith("#")])
    found = Cbf()
    for keyword in lines:
        if keyword == "VER":
            assert int(next(lines)) in (3, 4)
        elif keyword == "OBJSENSE":
            found.maximise = {"MIN": False, "MAX": True}[next(lines)]
        elif keyword in ("VAR", "CON"):
            total, count = map(int, next(lines).split())
            cones = [(name, int(k)) for name, k in (next(lines).split() for _ in range(count))]
            assert found.size(cones) == total
            setattr(found, "columns" if keyword == "VAR" else "rows", cones)
        elif keyword == "OBJBCOORD":
            found.constant = float(next(lines))
        else:
            listed = [next(lines).split() for _ in range(int(next(lines)))]
            if keyword == "INT":
                found.integer = [int(j) for (j,) in listed]
            elif keyword in ("OBJACOORD", "BCOORD"):
                target = found.cost if keyword == "OBJACOORD" else found.sides
                target.update({int(i): float(v) for i, v in listed})
            elif keyword == "PSDCON":
                found.orders = [int(k) for (k,) in listed]
            else:
                read = {tuple(map(int, place)): float(v) for *place, v in listed}
                assert len(read) == len(listed)
                name, length = COORDINATES[keyword]
                assert all(len(place) == length for place in read)
                setattr(found, name, read)
    return found


def triangles(found: Cbf) -> list[tuple[sp.spmatrix, np.ndarray]]:
    """Return (G, h) of each semidefinite constraint for Clarabel: upper triangle, off its diagonal times root 2."""
    n, sizes = found.size(found.columns), [k * (k + 1) // 2 for k in found.orders]
    parts = [(sp.lil_matrix((size, n)), np.zeros(size)) for size in sizes]
    for (c, *column, i, j), v in [*found.matrices.items(), *found.constants.items()]:
        assert 0 <= j <= i < found.orders[c]  # the format counts the lower triangle
        row, value = i * (i + 1) // 2 + j, v * (1.0 if i == j else ROOT2)
        parts[c][bool(not column)][(row, *column) if column else row] = value
    return parts


def solve_cbf(found: Cbf, fixed: dict[int, float] | None = None) -> float:
    """Return the optimum of a CBF file, with some columns fixed."""
    n, m = found.size(found.columns), found.size(found.rows)
    (i, j), v = np.array(list(found.entries), dtype=int).reshape(-1, 2).T, list(found.entries.values())
    rows = sp.csr_matrix((v, (i, j)), shape=(m, n))
    sides = np.zeros(m)
    sides[list(found.sides)] = list(found.sides.values())
    eye, parts = sp.identity(n, format="csr"), []
    for cones, A, b in ((found.columns, eye, np.zeros(n)), (found.rows, rows, sides)):
        ends = np.cumsum([0, *(k for _, k in cones)])
        for (name, k), start, end in zip(cones, ends[:-1], ends[1:], strict=True):
            turn = sp.lil_matrix(sp.identity(k) * (-1.0 if name == "L-" else 1.0))
            if name == "QR":
                turn[:2, :2] = np.array([[1, 1], [1, -1]]) / ROOT2
            if name != "F":
                parts.append((CONES[name](k), turn @ A[start:end], turn @ b[start:end]))
    parts += [(clarabel.ZeroConeT(1), eye[column], np.array([-value])) for column, value in (fixed or {}).items()]
    parts += [(clarabel.PSDTriangleConeT(k), *part) for k, part in zip(found.orders, triangles(found), strict=True)]
    cones, matrices, constants = zip(*parts, strict=True)
    turn = -1.0 if found.maximise else 1.0
    q = np.zeros(n)
    q[list(found.cost)] = turn * np.array(list(found.cost.values()))
    solution = conic_optimum(sp.csc_matrix((n, n)), q, -sp.vstack(matrices), np.concatenate(constants), list(cones))
    assert solution.status in (clarabel.SolverStatus.Solved, clarabel.SolverStatus.AlmostSolved)
    return turn * solution.obj_val + found.constant


def highs(path: Path, solution: Path | None = None) -> float:
    """Return the optimum of a file by HiGHS, which may write its solution file."""
    highspy = pytest.importorskip("highspy")
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    assert solver.readModel(str(path)) == highspy.HighsStatus.kOk
    solver.run()
    assert solver.getModelStatus() == highspy.HighsModelStatus.kOptimal
    if solution is not None:
        solver.writeSolution(str(solution), 0)
    return solver.getInfo().objective_function_value


def scip(path: Path, tolerance: float = 1e-9, solution: Path | None = None) -> float:
    """Return the optimum of a file by SCIP, which may write its solution file."""
    model = pytest.importorskip("pyscipopt").Model()
    model.hideOutput()
    model.readProblem(str(path))
    model.setParams({"numerics/epsilon": tolerance, "numerics/feastol": tolerance, "limits/gap": 0.0})
    model.optimize()
    assert model.getStatus() == "optimal"
    if solution is not None:
        model.writeBestSol(str(solution), write_zeros=False)
    return model.getObjVal()
