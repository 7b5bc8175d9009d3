"""Every method as an estimator of scikit-learn: classes that are made from the registry at their first use."""

from __future__ import annotations

from importlib import import_module


def __getattr__(name: str) -> object:
    if name == "__all__":
        return __dir__()
    if name.startswith("_"):
        raise AttributeError(f"module 'fsopt.estimators' has no attribute '{name}'")
    return import_module("fsopt.estimators.making").estimator(name)


def __dir__() -> list[str]:
    names: list[str] = import_module("fsopt.estimators.making").names()
    return names
