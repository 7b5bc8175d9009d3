"""The models, as data: slug -> builder, paper, equation and class; and :func:`build`."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any

import pyomo.environ as pyo
from pyomo.common.gc_manager import PauseGC

from fsopt.data import Dataset
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
"""The modules below this package, each of which ends in its ``SPEC``: the order of tables and of the library."""


def _registered() -> Mapping[str, ModelSpec]:
    specs: list[ModelSpec] = [import_module(f"fsopt.models.{module}").SPEC for module in _MODULES]
    models = {spec.slug: spec for spec in specs}
    if len(models) != len(specs):
        raise RuntimeError("a model slug is registered twice")
    return MappingProxyType(models)


MODELS = _registered()


def model_spec(slug: str) -> ModelSpec:
    """Return a model's entry; raises UnknownNameError."""
    if slug not in MODELS:
        raise unknown("model", slug, MODELS, "fsopt models")
    return MODELS[slug]


def build(slug: str, data: Dataset, **params: Any) -> pyo.ConcreteModel:
    """Build a registered model.

    Parameters
    ----------
    slug : one of ``fsopt.MODELS``.
    data : the data set, used exactly as it is.
    params : the builder's keywords; unknown names are refused.

    Returns
    -------
    ConcreteModel
        Never solved, components named as in the builder's docstring.

    Raises
    ------
    UnknownNameError, ParameterError
    """
    entry = model_spec(slug)
    check_parameters("model", slug, params, entry.parameters)
    with PauseGC():
        return entry.builder(data, **params)
