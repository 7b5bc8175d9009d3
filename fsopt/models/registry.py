"""The registry of the models, slug -> builder, paper, equation and class, and :func:`build`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from importlib import import_module
from types import MappingProxyType
from typing import Any

import pyomo.environ as pyo
from pyomo.common.gc_manager import PauseGC

from fsopt.common.arguments import TEXT, checked, refuse_registration, word
from fsopt.common.customising import SLUG
from fsopt.common.plugins import load
from fsopt.compiler.classes import CLASSES
from fsopt.data import Dataset
from fsopt.data.dataset import DATASET
from fsopt.errors import unknown
from fsopt.models.display import BUILDERS
from fsopt.models.spec import ModelSpec, check_parameters, check_weights

_MODULES = (
    "gmeb.gmeb_primal",
    "gmeb.gmeb_dual",
    "gmeb.gmeb_cuts",
    "gmeb.gmeb_sdp",
    "gmeb.gmeb_weighted_l1",
    "gmeb.gmeb_hard_margin",
    "gmeb.gmeb_nonconvex",
    "gmeb.gmeb_penalised",
    "gmeb.svm_norm",
    "gmeb.svm_margin",
    "mpm.mpm",
    "mpm.bmpm",
    "mpm.s_mpm",
    "mpm.l1_mpm",
    "mpm.l0_mpm",
    "mpm.l0_mpm_step",
    "mpm.l0_mpm_exact",
    "sla.rlp",
    "sla.misclass_step",
    "sla.fsv_step",
    "sla.misclass",
    "sla.fsv",
    "sla.misclass_pmm",
    "sla.misclass_milp",
    "sla.misclass_lpec",
    "sla.fsv_exact",
    "gbd.svm",
    "gbd.svm_dual",
    "gbd.onsvm",
    "gbd.l1_hinge_part",
    "gbd.fsp_sub",
    "gbd.fsp_sub_dual",
    "gbd.fsp_master",
    "gbd.fsp_m",
    "gbd.fsp_lambda",
    "gbd.fsp_m_perspective",
    "gbd.fsp_m_bigm",
    "mop.rsvm",
    "mop.rsvm_dual",
    "mop.rsvm_least_norm",
    "mop.mmop",
    "mop.mmop_convex",
    "mop.kernel_scaling",
    "mop.kernel_scaling_step",
)
"""The modules of the models below this package, in the order of tables and of the instance library.

Each ends in its ``SPEC``. A model of no paper is one more line, such as ``"own.huber_svm"``.
"""


def _registered() -> Mapping[str, ModelSpec]:
    models: dict[str, ModelSpec] = {}
    for module in _MODULES:
        spec: ModelSpec = import_module(f"fsopt.models.{module}").SPEC
        if spec.module != module:
            raise RuntimeError(f"the model '{spec.slug}' of fsopt.models.{module} belongs into {spec.module}")
        if spec.slug in models:
            raise RuntimeError(f"the model '{spec.slug}' is registered twice")
        models[spec.slug] = spec
    return MappingProxyType(models)


_ALL = dict(_registered())
MODELS: Mapping[str, ModelSpec] = MappingProxyType(_ALL)
"""Slug -> entry of every model; those of the user's own follow, see :func:`register_model`."""
BUILDERS.update({slug: spec.builder for slug, spec in MODELS.items()})
_OWN: dict[str, tuple[Any, ...]] = {}
"""The models of the user's own: slug -> what was registered."""


def register_model(
    slug: str,
    builder: Callable[..., pyo.ConcreteModel],
    problem_class: str,
    *,
    equation: str = "",
    replace: bool = False,
) -> ModelSpec:
    """Add a model of your own to the registry: build, solve, show, export and check take it by its slug from then on.

    Parameters
    ----------
    slug : str
        A new name.
    builder : Callable[..., pyo.ConcreteModel]
        Function of a data set and keywords that returns a ConcreteModel; the first line of its docstring is the
        summary, and each component's ``doc`` its equation.
    problem_class : str
        As :func:`fsopt.classify` returns it.
    equation : str, default ''
        The source.
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
    taken = slug in _ALL and not (replace and slug in _OWN)
    refuse_registration("model", slug, taken, builder)
    word(f"the class of '{slug}'", problem_class, CLASSES)

    @wraps(builder)
    def marked(data: Dataset, **params: Any) -> pyo.ConcreteModel:
        model = builder(data, **params)
        setattr(model, SLUG, slug)
        return model

    entry = ModelSpec(slug, marked, problem_class, equation=equation)
    _ALL[slug] = entry
    BUILDERS[slug] = builder
    _OWN[slug] = (slug, builder, problem_class, equation)
    return entry


def own_models() -> tuple[tuple[Any, ...], ...]:
    """Return the registrations of the user's own models, for other processes."""
    return tuple(_OWN.values())


def model_spec(slug: str) -> ModelSpec:
    """Return a model's entry; raises UnknownNameError."""
    if slug not in MODELS:
        load()
    if slug not in MODELS:
        raise unknown("model", slug, MODELS, "fsopt models")
    return MODELS[slug]


@checked(slug=TEXT, data=DATASET)
def build(slug: str, data: Dataset, **params: Any) -> pyo.ConcreteModel:
    """Build a registered model.

    Parameters
    ----------
    slug : str
        One of ``fsopt.MODELS``.
    data : Dataset
        The data set; no builder preprocesses it. Weights of its samples multiply the penalty weight of the hinge loss:
        C_i in place of C.
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
    entry = model_spec(slug)
    check_parameters("model", slug, params, entry.parameters)
    check_weights("model", slug, entry.weights, data)
    with PauseGC():
        return entry.builder(data, **params)
