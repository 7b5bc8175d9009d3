"""scikit-learn estimators of every method, loaded at their first use."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fsopt.estimators.baselines import L1SVM as L1SVM
    from fsopt.estimators.baselines import ONSVM as ONSVM
    from fsopt.estimators.baselines import RFE as RFE
    from fsopt.estimators.baselines import SVM as SVM
    from fsopt.estimators.baselines import VSSSVM as VSSSVM
    from fsopt.estimators.filters import FisherFilter as FisherFilter
    from fsopt.estimators.filters import InfoGainFilter as InfoGainFilter
    from fsopt.estimators.filters import KSFilter as KSFilter
    from fsopt.estimators.filters import PearsonFilter as PearsonFilter
    from fsopt.estimators.gbd import GBD as GBD
    from fsopt.estimators.gbd import GBDLambda as GBDLambda
    from fsopt.estimators.gmeb import GMEB as GMEB
    from fsopt.estimators.gmeb import GMEBPenalised as GMEBPenalised
    from fsopt.estimators.gmeb import NormSVM as NormSVM
    from fsopt.estimators.mop import MOPFS as MOPFS
    from fsopt.estimators.mop import RSVM as RSVM
    from fsopt.estimators.mpm import L0MPM as L0MPM
    from fsopt.estimators.mpm import L1MPM as L1MPM
    from fsopt.estimators.mpm import MPM as MPM
    from fsopt.estimators.mpm import SMPM as SMPM
    from fsopt.estimators.sla import FSV as FSV
    from fsopt.estimators.sla import PMM as PMM
    from fsopt.estimators.sla import MisclassificationMinimizer as MisclassificationMinimizer

_HOME = {
    "FSV": "fsopt.estimators.sla",
    "FisherFilter": "fsopt.estimators.filters",
    "GBD": "fsopt.estimators.gbd",
    "GBDLambda": "fsopt.estimators.gbd",
    "GMEB": "fsopt.estimators.gmeb",
    "GMEBPenalised": "fsopt.estimators.gmeb",
    "InfoGainFilter": "fsopt.estimators.filters",
    "KSFilter": "fsopt.estimators.filters",
    "L0MPM": "fsopt.estimators.mpm",
    "L1MPM": "fsopt.estimators.mpm",
    "L1SVM": "fsopt.estimators.baselines",
    "MOPFS": "fsopt.estimators.mop",
    "MPM": "fsopt.estimators.mpm",
    "MisclassificationMinimizer": "fsopt.estimators.sla",
    "NormSVM": "fsopt.estimators.gmeb",
    "ONSVM": "fsopt.estimators.baselines",
    "PMM": "fsopt.estimators.sla",
    "PearsonFilter": "fsopt.estimators.filters",
    "RFE": "fsopt.estimators.baselines",
    "RSVM": "fsopt.estimators.mop",
    "SMPM": "fsopt.estimators.mpm",
    "SVM": "fsopt.estimators.baselines",
    "VSSSVM": "fsopt.estimators.baselines",
}
"""Estimator -> module that defines it: the imports above, at run time."""
__all__ = [
    "FSV",
    "GBD",
    "GMEB",
    "L0MPM",
    "L1MPM",
    "L1SVM",
    "MOPFS",
    "MPM",
    "ONSVM",
    "PMM",
    "RFE",
    "RSVM",
    "SMPM",
    "SVM",
    "VSSSVM",
    "FisherFilter",
    "GBDLambda",
    "GMEBPenalised",
    "InfoGainFilter",
    "KSFilter",
    "MisclassificationMinimizer",
    "NormSVM",
    "PearsonFilter",
]

if not TYPE_CHECKING:  # to a type checker, any name would be there

    def __getattr__(name: str) -> object:
        if name not in _HOME:
            raise AttributeError(f"module 'fsopt.estimators' has no attribute '{name}'")
        value = getattr(import_module(_HOME[name]), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted(__all__)
