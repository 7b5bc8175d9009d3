"""What a package of your own imports beside :mod:`fsopt`: entries, their registration, and the parts of a method.

Stable, as the names of :mod:`fsopt` are: a name here keeps its meaning, or warns for a version before it goes.

==================  ==================================================================================================
a model             :class:`ModelSpec`, :func:`register_model`, :func:`values_of`
a loop              :func:`add_cut` for the master of generalized Benders, in a :class:`fsopt.Session`
a method            :class:`MethodSpec`, :func:`register_method`; its fit takes a :class:`Run` and goes from
                    :func:`preprocess` to :func:`make_fit` with a :class:`Hyperplane` and its :func:`evidence`, or
                    :func:`unproved`; its check takes a :class:`SavedFit`, such as :func:`check_program`
a solver            :class:`SolverSpec` with its :class:`Package`, :func:`register_solver`; its interface takes a
                    :class:`Program` and :class:`Settings` and gives an :class:`Outcome` with a :class:`Point`, for the
                    :class:`Change` of a session too
a penalty           :class:`PenaltySpec`, :func:`register_penalty`; a :class:`Penalty`, or an :class:`Approximation`
a figure            :func:`new_figure`, empty panels that a script saves and a notebook shows
==================  ==================================================================================================
"""

from __future__ import annotations

from fsopt.answers.results import DriverResult, Point, Status
from fsopt.common.figures import new_figure
from fsopt.compiler import Program
from fsopt.compiler.values import values_of
from fsopt.drivers.penalties import Approximation, Penalty, PenaltySpec, register_penalty
from fsopt.drivers.run import Run
from fsopt.methods.preprocessing import Hyperplane, make_fit, preprocess
from fsopt.methods.registry import register_method
from fsopt.methods.spec import MethodSpec, SavedFit
from fsopt.methods.verdict import check_program, evidence
from fsopt.models.gbd.fsp_master import add_cut
from fsopt.models.registry import register_model
from fsopt.models.spec import ModelSpec
from fsopt.solvers.interface import Change, Outcome, Settings
from fsopt.solvers.registry import register_solver
from fsopt.solvers.spec import Package, SolverSpec

__all__ = [
    "Approximation",
    "Change",
    "Hyperplane",
    "MethodSpec",
    "ModelSpec",
    "Outcome",
    "Package",
    "Penalty",
    "PenaltySpec",
    "Point",
    "Program",
    "Run",
    "SavedFit",
    "Settings",
    "SolverSpec",
    "add_cut",
    "check_program",
    "evidence",
    "make_fit",
    "new_figure",
    "preprocess",
    "register_method",
    "register_model",
    "register_penalty",
    "register_solver",
    "unproved",
    "values_of",
]


def unproved(objective: float) -> DriverResult:
    """Return the outcome of a hyperplane without a program: ``feasible``, at a value of the method's ``objective``."""
    return DriverResult(Status.FEASIBLE, "complete", objective, None, 1, {}, (), None, "", {})
