"""The tree of a saved fit of branch and Benders as a proof in plain data."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from fsopt.certificates.exact.claims import Claim
from fsopt.certificates.exact.forms import fractions_of
from fsopt.certificates.exact.proofs import Part, claim_of, encoded
from fsopt.certificates.exact.selection import proved_ends
from fsopt.drivers.branch_and_benders.cuts import GRID, on_grid
from fsopt.drivers.branch_and_benders.evidence import RESOLVED, unpacked
from fsopt.drivers.branch_and_benders.interior_point import Goal
from fsopt.drivers.branch_and_benders.nodes import NodeSolver
from fsopt.drivers.branch_and_benders.problem import Partial, SelectionProblem
from fsopt.drivers.branch_and_benders.tree import BRANCH, EMPTY, FORGOTTEN, LEAF, PEG
