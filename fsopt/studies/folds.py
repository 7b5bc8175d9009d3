"""Cross-validation folds: stratified, shuffled, from a seed."""

from __future__ import annotations

from fsopt.data import Dataset
from fsopt.errors import ParameterError
from fsopt.typing import Indices


def fold_rows(data: Dataset, folds: int, seed: int) -> list[Indices]:
    """Return the rows to test on, fold by fold; raises ParameterError for more folds than a class has rows."""
    from sklearn.model_selection import StratifiedKFold

    smaller = min(len(data.positive), len(data.negative))
    if folds < 2 or folds > smaller:
        raise ParameterError(
            f"{folds} folds are not possible: the smaller class has {smaller} rows",
            f"choose --folds from 2 to {smaller}" if smaller >= 2 else "give data with 2 rows of each class",
        )
    splitter = StratifiedKFold(folds, shuffle=True, random_state=seed)
    return [test for _, test in splitter.split(data.X, data.y)]
