"""A fit as a class in numpy alone, for programs that predict and do nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fsopt.answers import predictor
from fsopt.answers.fits import Fit
from fsopt.answers.predictor import Predictor
from fsopt.answers.records import plain
from fsopt.common.arguments import PATH, Argument, checked, optional
from fsopt.common.files import write_text
from fsopt.data.validation import values_of_labels
from fsopt.errors import FileError, ParameterError

FIT = Argument("a Fit", lambda value: isinstance(value, Fit), "give a fit of fsopt.fit, or fsopt.load_fit(path)")


@checked(fit=FIT, path=optional(PATH))
def export_predictor(fit: Fit, path: str | Path | None = None) -> Predictor:
    """Return the classifier of a fit as an object in numpy alone, and write it as one Python file.

    The file has the class and the numbers; a program that imports it needs numpy and nothing of fsopt. Its last line
    makes ``predictor``, whose ``decision_function``, ``predict``, ``predict_labels`` and ``predict_proba`` are those of
    the fit. It holds no evidence: :meth:`fsopt.Fit.save` keeps what ``fsopt check`` verifies.

    Parameters
    ----------
    fit : Fit
        With a classifier.
    path : str | Path, optional
        Of the file, which ends in ``.py``; None writes none.

    Returns
    -------
    Predictor
        Its scores of dense samples are those of the fit bit for bit, with a Gaussian kernel up to rounding.

    Raises
    ------
    ParameterError : the fit has no classifier.
    FileError : the file cannot be written, or has another suffix.
    """
    if not fit.status.solved:
        raise ParameterError(f"the fit of '{fit.method}' has no classifier: its status is {fit.status}", "fit it again")
    if path is not None and Path(path).suffix.lower() != ".py":
        raise FileError(f"'{path}' is no name of a Python file", "let it end in .py")
    record = _record(fit)
    if path is not None:
        source = Path(predictor.__file__).read_text(encoding="utf-8")
        source = source.replace(predictor.__doc__ or "", f"The classifier of a fit of fsopt, method {fit.method}.", 1)
        items = "\n".join(f"        {name!r}: {value!r}," for name, value in record.items())
        write_text(path, f"{source}\n\npredictor = Predictor(\n    {{\n{items}\n    }}\n)\n")
    return Predictor(record)


def _record(fit: Fit) -> dict[str, Any]:
    """Return the attributes of the predictor as plain data."""
    known, map_ = fit.trained, fit.preprocessing
    features = [f"x{j}" for j in range(1, len(map_.shift) + 1)] if known is None else known.features
    columns = None if known is None or known.encoding is None else known.encoding.columns
    record = {
        "features": features,
        "coef": fit.coef,
        "intercept": fit.intercept,
        "shift": map_.shift,
        "scale": map_.scale,
        "unit_rows": map_.unit_rows,
        "labels": values_of_labels(("-1", "+1") if known is None else known.labels),
        "loss": fit.params.get("loss"),
        "kernel": None if fit.kernel is None else vars(fit.kernel),
        "columns": columns
        and [
            {
                "name": one.name,
                "kind": one.kind,
                "words": one.shown,
                "fill": one.fill,
                "indicator": one.indicator,
            }
            for one in columns
        ],
    }
    return {name: plain(value) for name, value in record.items()}
