"""The registry of the models, slug -> entry, and :func:`build`."""

from __future__ import annotations

from typing import Any

import pyomo.environ as pyo
from pyomo.common.gc_manager import PauseGC

from fsopt.common.arguments import TEXT, checked, word
from fsopt.common.registry import SLUG, Registry
from fsopt.compiler.classes import CLASSES
from fsopt.data.given import Given, dataset_of
from fsopt.models.spec import WEIGHTS, ModelSpec, check_parameters, check_weights


def _check(spec: ModelSpec) -> None:
    """Raise ParameterError for a model of the user's own that cannot be built."""
    word(f"the class of '{spec.slug}'", spec.problem_class, CLASSES)
    word(f"weights of '{spec.slug}'", spec.weights, WEIGHTS)


MODELS = Registry(
    ModelSpec,
    "model",
    "fsopt.models",
    (
        "gmeb.gmeb",
        "gmeb.gmeb_penalised",
        "gmeb.svm_norm",
        "mpm.mpm",
        "mpm.l1_mpm",
        "mpm.l0_mpm",
        "sla.misclass",
        "sla.fsv",
        "gbd.svm",
        "gbd.onsvm",
        "gbd.fsp_sub",
        "gbd.fsp_master",
        "gbd.fsp_m",
        "gbd.fsp_m_perspective",
        "mop.rsvm",
        "mop.mmop",
        "mop.kernel_scaling",
    ),
    listing="fsopt models",
    key="slug",
    function="builder",
    check=_check,
)
"""Slug -> entry of every model; those of the user's own follow, see :func:`register_model`.

A model of none of the papers is one more module in the folder ``own``.
"""


def register_model(spec: ModelSpec, *, replace: bool = False) -> ModelSpec:
    """Add a model of your own to the registry: build, solve, show, export and check take it by its slug from then on.

    Parameters
    ----------
    spec : ModelSpec
        Its entry: slug, builder, problem class, and where it has them equation and ``weights``. The builder is a
        function of a data set and keywords that returns a ConcreteModel; the first line of its docstring is the
        summary, and each component's ``doc`` its equation.
    replace : bool, default False
        Take the place of a model of your own that has the slug already, as in a notebook.

    Returns
    -------
    ModelSpec
        The entry.

    Raises
    ------
    ParameterError : the slug is taken, the class is unknown, or the builder is no function.
    """
    return MODELS.register(spec, replace=replace)


@checked(slug=TEXT)
def build(slug: str, data: Given, **params: Any) -> pyo.ConcreteModel:
    """Build a registered model.

    Parameters
    ----------
    slug : str
        One of ``fsopt.MODELS``.
    data : Given
        The data set, or what makes one as in :func:`fsopt.fit`; no builder preprocesses it. Weights of its samples
        multiply the penalty weight of the hinge loss: C_i in place of C.
    **params
        The builder's keywords; unknown names are refused.

    Returns
    -------
    ConcreteModel
        Not solved; its components bear the names in the builder's docstring.

    Raises
    ------
    UnknownNameError
    ParameterError : a parameter out of range, or weights of samples for a model that has no place for them.
    """
    entry, data = MODELS[slug], dataset_of(data)
    params = check_parameters("model", slug, params, entry.parameters)
    check_weights("model", slug, entry.weights, data)
    with PauseGC():
        model = entry.builder(data, **params)
    setattr(model, SLUG, slug)
    return model
