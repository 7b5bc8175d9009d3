"""Functions as they run; in ``signatures.pyi`` type checkers find the parameters of tables, models and methods."""

from fsopt.data.given import load_dataset as load_dataset
from fsopt.methods.registry import fit as fit
from fsopt.models.registry import build as build
