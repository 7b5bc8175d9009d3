# A name is loaded from its relative import; type checkers find the keywords in this one.
from fsopt.signatures import load_dataset as load_dataset

from . import drivers as drivers
from . import estimators as estimators
from . import extend as extend
from .analysis.grids import pareto_front as pareto_front
from .analysis.grids import radius_path as radius_path
from .analysis.infeasibility import explain_infeasibility as explain_infeasibility
from .analysis.selecting import select as select
from .analysis.selection_questions import alternatives as alternatives
from .analysis.selection_questions import necessity as necessity
from .analysis.selection_questions import selection_path as selection_path
from .answers.certificate import Certificate as Certificate
from .answers.fits import Fit as Fit
from .answers.results import DriverResult as DriverResult
from .answers.results import SolveResult as SolveResult
from .answers.results import Status as Status
from .answers.saved import load_fit as load_fit
from .certificates.model import certify as certify
from .compiler.classes import classify as classify
from .data import Dataset as Dataset
from .data import load_dataset as _load_dataset  # noqa: F401
from .errors import FsoptError as FsoptError
from .formats.read import read_model as read_model
from .formats.solution import read_solution as read_solution
from .formats.writers import export as export
from .methods.registry import METHODS as METHODS
from .methods.registry import register_method as register_method
from .methods.spec import MethodSpec as MethodSpec
from .methods.stepping import steps as steps
from .models.registry import MODELS as MODELS
from .models.registry import register_model as register_model
from .models.spec import ModelSpec as ModelSpec
from .signatures import build as build
from .signatures import fit as fit
from .solvers.base import Session as Session
from .solvers.base import solve as solve
from .solvers.registry import SOLVERS as SOLVERS
from .solvers.registry import register_solver as register_solver
from .solvers.spec import SolverSpec as SolverSpec
from .studies.comparison import compare as compare
from .studies.report import write_selection as write_selection
from .studies.running import run_study as run_study
from .verification.verified import Verification as Verification
from .verification.verify import verify as verify

__version__: str
