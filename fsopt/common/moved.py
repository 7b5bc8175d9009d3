"""Modules and names of version 0.2 under their old names, with a warning: what was written with them works still."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

from fsopt import errors

MOVED = {
    "": {
        "common": "arguments clock customising figures files locks plugins",
        "answers": "fits presentation records results saved schema trained",
        "verification": "checking exact_checking solve_checking",
    },
    "certificates.": {"answers": "certificate"},
    "data.": {
        "data.tables": "arrays assembling content encoding fetch frames layout parquet readers registry rows source "
        "table text"
    },
    "methods.gmeb.": {"papers.gmeb": "generalization_bounds"},
    "drivers.": {"algorithms": "branch_and_benders interior_point pieces rfe warm_svm"},
    "studies.": {
        "analysis": "alternatives feature_counts fronts master_front necessity radius_paths selection_paths vc_bound"
    },
}
"""Where modules were -> where they are -> their names."""
NEW = {
    f"fsopt.{before}{name}": f"fsopt.{now}.{name}"
    for before, places in MOVED.items()
    for now, names in places.items()
    for name in names.split()
} | {
    f"fsopt.estimators.{name}": "fsopt.estimators"
    for name in ("baselines", "filters", "gbd", "gmeb", "mop", "mpm", "sla")
}
RENAMED = {
    "fsopt": {
        "check": "verify",
        "diff": "compare_models",
        "explain": "explain_infeasibility",
        "gbd_path": "selection_path",
        "gmeb_path": "radius_path",
    },
    "fsopt.errors": {
        "MemoryLimit": "MemoryLimitError",
        "NotShown": "NotShownError",
        "OutOfTime": "OutOfTimeError",
    },
}
"""Module -> old name -> new name."""


def renamed(module: str, name: str) -> object:
    """Return what an old name of a module means, with a warning; raises AttributeError for one that it never had."""
    if name not in RENAMED[module]:
        raise AttributeError(f"module '{module}' has no attribute '{name}'")
    new = RENAMED[module][name]
    warnings.warn(f"{module}.{name} is {new} now; the old name goes with 1.0", DeprecationWarning, stacklevel=3)
    value: object = getattr(sys.modules[module], new)
    return value


class _Moved(MetaPathFinder, Loader):
    """Finds a module that was moved where it is now."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        old = next((old for old in NEW if name == old or name.startswith(f"{old}.")), None)
        return None if old is None else ModuleSpec(name, self)

    def exec_module(self, module: ModuleType) -> None:
        name = module.__name__
        old = next(old for old in NEW if name == old or name.startswith(f"{old}."))
        new = NEW[old] + name.removeprefix(old)
        warnings.warn(f"{name} is {new} now; the old name goes with 1.0", DeprecationWarning, stacklevel=2)
        sys.modules[name] = import_module(new)


def _of_errors(name: str) -> object:
    return renamed(errors.__name__, name)


def register() -> None:
    """Look for modules, and for names of errors, under their old names, after all other places."""
    sys.meta_path.append(_Moved())
    vars(errors)["__getattr__"] = _of_errors
