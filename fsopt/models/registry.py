"""The models, as data: slug -> builder, paper, equation and class."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import pyomo.environ as pyo
from pyomo.common.gc_manager import PauseGC

from fsopt.data import Dataset
from fsopt.errors import ParameterError, unknown
from fsopt.models import (
    fsp,
    fsp_dual,
    fsp_exact,
    fsp_nonconvex,
    generation,
    gmeb,
    gmeb_cuts,
    gmeb_nonconvex,
    gmeb_weighted,
    margin,
    mop,
    mop_master,
    mop_scaling,
    mpm,
    mpm_biased,
    polyhedral,
    polyhedral_exact,
    polyhedral_nonconvex,
)


@dataclass(frozen=True)
class ModelSpec:
    """One model.

    Attributes
    ----------
    slug : registry name, the same in folders, docs and tests.
    builder : function of a data set and keywords that returns the ConcreteModel.
    paper, equation : where it comes from.
    problem_class : what :func:`fsopt.classify` says of it.
    summary : the first line of the builder's docstring.
    """

    slug: str
    builder: Callable[..., pyo.ConcreteModel]
    paper: str
    equation: str
    problem_class: str

    @property
    def summary(self) -> str:
        """What the model is, one line."""
        first = (inspect.getdoc(self.builder) or "").partition("\n")[0]
        return first.removeprefix("Return ").rstrip(".")

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Name -> default of the parameters; ``inspect.Parameter.empty`` where there is no default."""
        return parameters(self.builder)


def parameters(function: Callable[..., Any]) -> dict[str, Any]:
    """Return name -> default of the keyword-only parameters of a function."""
    return {name: p.default for name, p in inspect.signature(function).parameters.items() if p.kind is p.KEYWORD_ONLY}


def check_parameters(what: str, name: str, given: Mapping[str, Any], known: Mapping[str, Any]) -> None:
    """Refuse parameters that a builder or method does not have, and name those that are missing."""
    for parameter in given:
        if parameter not in known:
            has = ", ".join(known) or "none"
            raise ParameterError(f"{what} '{name}' has no parameter '{parameter}'", f"its parameters: {has}")
    missing = [k for k, default in known.items() if default is inspect.Parameter.empty and k not in given]
    if missing:
        raise ParameterError(
            f"{what} '{name}' needs the parameter{'s' * (len(missing) > 1)} {', '.join(missing)}",
            f"for example --param {missing[0]}=...",
        )


_ENTRIES = (
    ModelSpec("gmeb-primal", gmeb.build_gmeb_primal, "GMEB", "(15)", "SOCP"),
    ModelSpec("gmeb-dual", gmeb.build_gmeb_dual, "GMEB", "(16)/(17)", "SOCP"),
    ModelSpec("gmeb-cuts", gmeb_cuts.build_gmeb_cuts, "GMEB", "(15), cuts", "LP"),
    ModelSpec("gmeb-sdp", gmeb.build_gmeb_sdp, "GMEB", "(15), LMI", "SDP"),
    ModelSpec("gmeb-weighted-l1", gmeb_weighted.build_gmeb_weighted_l1, "GMEB", "(10), fixed share", "LP"),
    ModelSpec("gmeb-hard-margin", gmeb.build_gmeb_hard_margin, "GMEB", "(15), xi = 0", "SOCP"),
    ModelSpec("gmeb-nonconvex", gmeb_nonconvex.build_gmeb_nonconvex, "GMEB", "(11)", "NLP"),
    ModelSpec("gmeb-penalised", gmeb_nonconvex.build_gmeb_penalised, "GMEB", "(7)/(10)", "NLP"),
    ModelSpec("svm-norm", margin.build_svm_norm, "GMEB", "(19)", "SOCP"),
    ModelSpec("svm-margin", margin.build_svm_margin, "GMEB", "(18)", "NLP"),
    ModelSpec("mpm", mpm.build_mpm, "L0-MPM", "(3)-(5)", "SOCP"),
    ModelSpec("bmpm", mpm_biased.build_bmpm, "L0-MPM", "(3)-(5), biased", "SOCP"),
    ModelSpec("s-mpm", mpm_biased.build_s_mpm, "L0-MPM", "S-MPM, section 1", "SOCP"),
    ModelSpec("l1-mpm", mpm.build_l1_mpm, "L0-MPM", "(12)-(15)", "SOCP"),
    ModelSpec("l0-mpm", mpm.build_l0_mpm, "L0-MPM", "(32)-(36)", "NLP"),
    ModelSpec("l0-mpm-step", mpm.build_l0_mpm_step, "L0-MPM", "(42)-(46)", "SOCP"),
    ModelSpec("rlp", polyhedral.build_rlp, "SLA", "(17), lambda = 0", "LP"),
    ModelSpec("misclass-step", polyhedral.build_misclass_step, "SLA", "(20), (23)", "LP"),
    ModelSpec("fsv-step", polyhedral.build_fsv_step, "SLA", "(21), (23)", "LP"),
    ModelSpec("misclass", polyhedral_nonconvex.build_misclass, "SLA", "(20)", "NLP"),
    ModelSpec("fsv", polyhedral_nonconvex.build_fsv, "SLA", "(21)", "NLP"),
    ModelSpec("misclass-pmm", polyhedral_nonconvex.build_misclass_pmm, "SLA", "(16), PMM", "NLP"),
    ModelSpec("misclass-milp", polyhedral_exact.build_misclass_milp, "SLA", "(5)", "MILP"),
    ModelSpec("misclass-lpec", polyhedral_exact.build_misclass_lpec, "SLA", "(16)", "MPEC"),
    ModelSpec("fsv-exact", polyhedral_exact.build_fsv_exact, "SLA", "(17)", "MILP"),
    ModelSpec("svm", fsp.build_svm, "GBD", "(1)", "QP"),
    ModelSpec("svm-dual", fsp_dual.build_svm_dual, "GBD", "(1), dual", "QP"),
    ModelSpec("onsvm", fsp.build_onsvm, "GBD", "(ONSVM)", "LP"),
    ModelSpec("l1-hinge-part", generation.build_l1_hinge_part, "GBD", "(ONSVM), part", "LP"),
    ModelSpec("fsp-sub", fsp.build_fsp_sub, "GBD", "(SUB-M) (5)-(6)", "QP"),
    ModelSpec("fsp-sub-dual", fsp_dual.build_fsp_sub_dual, "GBD", "(SUB-M), dual", "QP"),
    ModelSpec("fsp-master", fsp.build_fsp_master, "GBD", "(RMP-M) (10)", "MILP"),
    ModelSpec("fsp-m", fsp_nonconvex.build_fsp_m, "GBD", "(FSP-M)", "MINLP"),
    ModelSpec("fsp-lambda", fsp_nonconvex.build_fsp_lambda, "GBD", "(FSP-lambda)", "MINLP"),
    ModelSpec("fsp-m-perspective", fsp_exact.build_fsp_m_perspective, "GBD", "(FSP-M), perspective", "MISOCP"),
    ModelSpec("fsp-m-bigm", fsp_exact.build_fsp_m_bigm, "GBD", "(FSP-M), big M", "MIQP"),
    ModelSpec("rsvm", mop.build_rsvm, "MOP", "(13)", "SOCP"),
    ModelSpec("rsvm-dual", mop.build_rsvm_dual, "MOP", "(14)", "SOCP"),
    ModelSpec("rsvm-least-norm", mop.build_rsvm_least_norm, "MOP", "(12)", "QP"),
    ModelSpec("mmop", mop_master.build_mmop, "MOP", "(7)-(11)", "NLP"),
    ModelSpec("mmop-convex", mop_master.build_mmop_convex, "MOP", "(7)-(11), convex", "SOCP"),
    ModelSpec("kernel-scaling", mop_scaling.build_kernel_scaling, "MOP", "(15)", "NLP"),
    ModelSpec("kernel-scaling-step", mop_scaling.build_kernel_scaling_step, "MOP", "(15)", "LP"),
)

MODELS: Mapping[str, ModelSpec] = MappingProxyType({entry.slug: entry for entry in _ENTRIES})
if len(MODELS) != len(_ENTRIES):
    raise RuntimeError("a model slug is registered twice")


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
