"""The registry of the models, slug -> builder, paper, equation and class, and :func:`build`."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any

import pyomo.environ as pyo
from pyomo.common.gc_manager import PauseGC

from fsopt.arguments import TEXT, checked
from fsopt.data import Dataset
from fsopt.data.dataset import DATASET
from fsopt.errors import unknown
from fsopt.models.spec import ModelSpec, check_parameters

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


MODELS = _registered()


def model_spec(slug: str) -> ModelSpec:
    """Return a model's entry; raises UnknownNameError."""
    if slug not in MODELS:
        raise unknown("model", slug, MODELS, "fsopt models")
    return MODELS[slug]


@checked(slug=TEXT, data=DATASET)
def build(slug: str, data: Dataset, **params: Any) -> pyo.ConcreteModel:
    """Build a registered model.

    Parameters
    ----------
    slug : one of ``fsopt.MODELS``.
    data : the data set; no builder preprocesses it.
    params : the builder's keywords; unknown names are refused.

    Returns
    -------
    ConcreteModel
        Not solved; its components bear the names in the builder's docstring.

    Raises
    ------
    UnknownNameError, ParameterError
    """
    entry = model_spec(slug)
    check_parameters("model", slug, params, entry.parameters)
    with PauseGC():
        return entry.builder(data, **params)
