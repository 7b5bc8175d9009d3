"""``build`` and ``fit`` as they run; in ``signatures.pyi`` type checkers find the parameters of models and methods."""

from fsopt.methods.registry import fit as fit
from fsopt.models.registry import build as build
