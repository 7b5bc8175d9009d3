"""Method ``l1-svm``: the one-norm support vector machine of the comparisons in Peleg & Meir, 6.1."""

from __future__ import annotations

from fsopt.data import Dataset
from fsopt.drivers.run import Run
from fsopt.methods.baselines.convex_svm import fit_one_solve
from fsopt.methods.baselines.onsvm import check, objective
from fsopt.methods.large_programs import generates_columns
from fsopt.methods.spec import MethodSpec
from fsopt.models.gbd.onsvm import build_onsvm
from fsopt.results import Fit


def fit_l1_svm(
    data: Dataset,
    run: Run,
    *,
    c: float = 1.0,
    scale: str = "center",
    rule: str = "relative",
    units: str = "raw",
    epsilon: float = 0.01,
    generate: bool | str = "auto",
) -> Fit:
    """Fit the one-norm support vector machine as paper 1 has it: columns as they are, its selection rule.

    Parameters
    ----------
    c : > 0, price of a unit of hinge loss.
    scale : ``center`` (default), ``standard`` or ``none``; the selection depends on it.
    rule, units, epsilon : which weights count as selected, as in :func:`fsopt.methods.selection.select_by_size`.
    generate : as in :func:`fit_onsvm`.

    Returns
    -------
    Fit
        ``objective`` is (ONSVM) of paper 4, in preprocessed units. Paper 1, section 6.1.
    """
    return fit_one_solve(
        "onsvm", build_onsvm, data, run, c=c, scale=scale, rule=rule, units=units, epsilon=epsilon,
        generate=generates_columns(generate, data, run),
    )  # fmt: skip


SPEC = MethodSpec("l1-svm", fit_l1_svm, objective, check, ("onsvm",), equation="Peleg & Meir, 6.1")
