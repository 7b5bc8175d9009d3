"""fsopt: feature selection by optimization.

Explicit Pyomo models of five papers, thin drivers, swappable solvers, certified answers. The names below are
loaded when they are first used, so that ``import fsopt`` costs next to nothing; ``pyo.SolverFactory("clarabel")``
knows fsopt's solver from then on.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from fsopt.common import moved, plugins
from fsopt.solvers import pyomo_plugin

if TYPE_CHECKING:
    from fsopt import estimators as estimators
    from fsopt import extend as extend
    from fsopt.analysis.alternatives import alternatives as alternatives
    from fsopt.analysis.differences import compare_models as compare_models
    from fsopt.analysis.fronts import pareto_front as pareto_front
    from fsopt.analysis.infeasibility import explain_infeasibility as explain_infeasibility
    from fsopt.analysis.necessity import necessity as necessity
    from fsopt.analysis.radius_paths import radius_path as radius_path
    from fsopt.analysis.selection_paths import selection_path as selection_path
    from fsopt.analysis.sensitivity import sensitivity as sensitivity
    from fsopt.answers.certificate import Certificate as Certificate
    from fsopt.answers.results import DriverResult as DriverResult
    from fsopt.answers.results import Fit as Fit
    from fsopt.answers.results import SolveResult as SolveResult
    from fsopt.answers.results import Status as Status
    from fsopt.answers.saved import load_fit as load_fit
    from fsopt.certificates.model import certify as certify
    from fsopt.compiler.classes import classify as classify
    from fsopt.data import Dataset as Dataset
    from fsopt.data import load_dataset as load_dataset
    from fsopt.errors import FsoptError as FsoptError
    from fsopt.formats.writers import export as export
    from fsopt.methods.registry import METHODS as METHODS
    from fsopt.methods.registry import register_method as register_method
    from fsopt.methods.spec import MethodSpec as MethodSpec
    from fsopt.models.registry import MODELS as MODELS
    from fsopt.models.registry import register_model as register_model
    from fsopt.models.spec import ModelSpec as ModelSpec
    from fsopt.signatures import build as build
    from fsopt.signatures import fit as fit
    from fsopt.solvers.base import Session as Session
    from fsopt.solvers.base import solve as solve
    from fsopt.solvers.registry import SOLVERS as SOLVERS
    from fsopt.solvers.registry import register_solver as register_solver
    from fsopt.solvers.spec import SolverSpec as SolverSpec
    from fsopt.studies.comparison import compare as compare
    from fsopt.studies.running import run_study as run_study
    from fsopt.verification.exact_checking import verify as verify
    from fsopt.verification.verified import Verification as Verification

__version__ = "0.3.0"
_HOME = {
    "Certificate": "fsopt.answers.certificate",
    "Dataset": "fsopt.data",
    "DriverResult": "fsopt.answers.results",
    "Fit": "fsopt.answers.results",
    "FsoptError": "fsopt.errors",
    "METHODS": "fsopt.methods.registry",
    "MODELS": "fsopt.models.registry",
    "MethodSpec": "fsopt.methods.spec",
    "ModelSpec": "fsopt.models.spec",
    "SOLVERS": "fsopt.solvers.registry",
    "Session": "fsopt.solvers.base",
    "SolveResult": "fsopt.answers.results",
    "SolverSpec": "fsopt.solvers.spec",
    "Status": "fsopt.answers.results",
    "Verification": "fsopt.verification.verified",
    "alternatives": "fsopt.analysis.alternatives",
    "build": "fsopt.models.registry",
    "certify": "fsopt.certificates.model",
    "classify": "fsopt.compiler.classes",
    "compare": "fsopt.studies.comparison",
    "compare_models": "fsopt.analysis.differences",
    "estimators": "fsopt.estimators",
    "explain_infeasibility": "fsopt.analysis.infeasibility",
    "export": "fsopt.formats.writers",
    "extend": "fsopt.extend",
    "fit": "fsopt.methods.registry",
    "load_dataset": "fsopt.data",
    "load_fit": "fsopt.answers.saved",
    "necessity": "fsopt.analysis.necessity",
    "pareto_front": "fsopt.analysis.fronts",
    "radius_path": "fsopt.analysis.radius_paths",
    "register_method": "fsopt.methods.registry",
    "register_model": "fsopt.models.registry",
    "register_solver": "fsopt.solvers.registry",
    "run_study": "fsopt.studies.running",
    "selection_path": "fsopt.analysis.selection_paths",
    "sensitivity": "fsopt.analysis.sensitivity",
    "solve": "fsopt.solvers.base",
    "verify": "fsopt.verification.exact_checking",
}
"""Public name -> module that defines it: the imports above, at run time."""
__all__ = [
    "METHODS",
    "MODELS",
    "SOLVERS",
    "Certificate",
    "Dataset",
    "DriverResult",
    "Fit",
    "FsoptError",
    "MethodSpec",
    "ModelSpec",
    "Session",
    "SolveResult",
    "SolverSpec",
    "Status",
    "Verification",
    "__version__",
    "alternatives",
    "build",
    "certify",
    "classify",
    "compare",
    "compare_models",
    "explain_infeasibility",
    "export",
    "fit",
    "load_dataset",
    "load_fit",
    "necessity",
    "pareto_front",
    "radius_path",
    "register_method",
    "register_model",
    "register_solver",
    "run_study",
    "selection_path",
    "sensitivity",
    "solve",
    "verify",
]


if not TYPE_CHECKING:  # to a type checker, any name would be there

    def __getattr__(name: str) -> object:
        if name not in _HOME:
            return moved.renamed("fsopt", name)
        home = import_module(_HOME[name])
        value = home if home.__name__ == f"fsopt.{name}" else getattr(home, name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*__all__, *_HOME})


moved.register()
plugins.ABOVE.append("fsopt.drivers.kernel_scaling.interface:register")
pyomo_plugin.register()
