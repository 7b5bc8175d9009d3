# Overloads of build and fit, written by ``python -m fsopt.library.signatures``.

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import Any, Literal, Never, overload

import pyomo.environ as pyo
from numpy.typing import ArrayLike

from fsopt.answers.results import Fit
from fsopt.common.customising import Change
from fsopt.data import Dataset
from fsopt.drivers.run import Progress
from fsopt.models.gbd.selection_constraints import Feature

@overload
def build(
    slug: Literal["gmeb-primal"],
    data: Dataset,
    *,
    r_plus: float = ...,
    r_minus: float = ...,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["gmeb-dual"],
    data: Dataset,
    *,
    r_plus: float = ...,
    r_minus: float = ...,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["gmeb-cuts"],
    data: Dataset,
    *,
    r_plus: float = ...,
    r_minus: float = ...,
    thetas: Sequence[float] | None = ...,
    hard: bool = ...,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["gmeb-sdp"],
    data: Dataset,
    *,
    r_plus: float = ...,
    r_minus: float = ...,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["gmeb-weighted-l1"],
    data: Dataset,
    *,
    c_plus: float = ...,
    c_minus: float = ...,
    share: float = ...,
    end: float | None = ...,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["gmeb-hard-margin"],
    data: Dataset,
    *,
    r_plus: float = ...,
    r_minus: float = ...,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["gmeb-nonconvex"],
    data: Dataset,
    *,
    r_plus: float = ...,
    r_minus: float = ...,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["gmeb-penalised"],
    data: Dataset,
    *,
    c_plus: float = ...,
    c_minus: float = ...,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["svm-norm"],
    data: Dataset,
    *,
    c: float = ...,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["svm-margin"],
    data: Dataset,
    *,
    c: float = ...,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["mpm"],
    data: Dataset,
    *,
    unbiased: bool = ...,
    ridge: float = ...,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["bmpm"],
    data: Dataset,
    *,
    beta: float = ...,
    unbiased: bool = ...,
    ridge: float = ...,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["s-mpm"],
    data: Dataset,
    *,
    beta: float = ...,
    lam: float = ...,
    unbiased: bool = ...,
    ridge: float = ...,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["l1-mpm"],
    data: Dataset,
    *,
    delta: float = ...,
    unbiased: bool = ...,
    ridge: float = ...,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["l0-mpm"],
    data: Dataset,
    *,
    delta: float = ...,
    alpha: float = ...,
    unbiased: bool = ...,
    ridge: float = ...,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["l0-mpm-step"],
    data: Dataset,
    *,
    delta: float = ...,
    alpha: float = ...,
    v: ArrayLike | None = ...,
    unbiased: bool = ...,
    ridge: float = ...,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["l0-mpm-exact"],
    data: Dataset,
    *,
    delta: float = ...,
    big_m: float = ...,
    unbiased: bool = ...,
    ridge: float = ...,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["rlp"],
    data: Dataset,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["misclass-step"],
    data: Dataset,
    *,
    alpha: float = ...,
    y: ArrayLike | None = ...,
    z: ArrayLike | None = ...,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["fsv-step"],
    data: Dataset,
    *,
    lam: float = ...,
    alpha: float = ...,
    v: ArrayLike | None = ...,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["misclass"],
    data: Dataset,
    *,
    alpha: float = ...,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["fsv"],
    data: Dataset,
    *,
    lam: float = ...,
    alpha: float = ...,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["misclass-pmm"],
    data: Dataset,
    *,
    delta: float = ...,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["misclass-milp"],
    data: Dataset,
    *,
    big_m: float = ...,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["misclass-lpec"],
    data: Dataset,
    *,
    big_m: float | None = ...,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["fsv-exact"],
    data: Dataset,
    *,
    lam: float = ...,
    big_m: float = ...,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["svm"],
    data: Dataset,
    *,
    c: float = ...,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["svm-dual"],
    data: Dataset,
    *,
    c: float = ...,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["onsvm"],
    data: Dataset,
    *,
    c: float = ...,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["l1-hinge-part"],
    data: Dataset,
    *,
    row_costs: ArrayLike | None = ...,
    column_costs: ArrayLike | None = ...,
    offset: ArrayLike | None = ...,
    center: ArrayLike | None = ...,
    radius: float | None = ...,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["fsp-sub"],
    data: Dataset,
    *,
    sigma: ArrayLike | None = ...,
    c: float = ...,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["fsp-sub-dual"],
    data: Dataset,
    *,
    sigma: ArrayLike | None = ...,
    c: float = ...,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["fsp-master"],
    data: Dataset,
    *,
    m: int | None = ...,
    costs: ArrayLike | None = ...,
    budget: float | None = ...,
    lam: ArrayLike | None = ...,
    include: Sequence[Feature] = ...,
    exclude: Sequence[Feature] = ...,
    implies: Sequence[Sequence[Feature]] = ...,
    conflicts: Sequence[Sequence[Feature]] = ...,
    cuts: Sequence[ArrayLike] = ...,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["fsp-m"],
    data: Dataset,
    *,
    c: float = ...,
    m: int | None = ...,
    costs: ArrayLike | None = ...,
    budget: float | None = ...,
    include: Sequence[Feature] = ...,
    exclude: Sequence[Feature] = ...,
    implies: Sequence[Sequence[Feature]] = ...,
    conflicts: Sequence[Sequence[Feature]] = ...,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["fsp-lambda"],
    data: Dataset,
    *,
    c: float = ...,
    lam: ArrayLike = ...,
    include: Sequence[Feature] = ...,
    exclude: Sequence[Feature] = ...,
    implies: Sequence[Sequence[Feature]] = ...,
    conflicts: Sequence[Sequence[Feature]] = ...,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["fsp-m-perspective"],
    data: Dataset,
    *,
    c: float = ...,
    m: int | None = ...,
    costs: ArrayLike | None = ...,
    budget: float | None = ...,
    include: Sequence[Feature] = ...,
    exclude: Sequence[Feature] = ...,
    implies: Sequence[Sequence[Feature]] = ...,
    conflicts: Sequence[Sequence[Feature]] = ...,
    relax: bool = ...,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["fsp-m-bigm"],
    data: Dataset,
    *,
    c: float = ...,
    m: int | None = ...,
    costs: ArrayLike | None = ...,
    budget: float | None = ...,
    include: Sequence[Feature] = ...,
    exclude: Sequence[Feature] = ...,
    implies: Sequence[Sequence[Feature]] = ...,
    conflicts: Sequence[Sequence[Feature]] = ...,
    upper: float | None = ...,
    relax: bool = ...,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["rsvm"],
    data: Dataset,
    *,
    w_cap: float = ...,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["rsvm-dual"],
    data: Dataset,
    *,
    w_cap: float = ...,
    scale: ArrayLike | None = ...,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["rsvm-least-norm"],
    data: Dataset,
    *,
    e_cap: float | None = ...,
    scale: ArrayLike | None = ...,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["mmop"],
    data: Dataset,
    *,
    h_cap: float = ...,
    merged: bool = ...,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["mmop-convex"],
    data: Dataset,
    *,
    h_cap: float = ...,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["kernel-scaling"],
    data: Dataset,
    *,
    w: ArrayLike | None = ...,
    b: float = ...,
    e_cap: float | None = ...,
    c: float = ...,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["kernel-scaling-step"],
    data: Dataset,
    *,
    w: ArrayLike | None = ...,
    b: float = ...,
    e_cap: float | None = ...,
    c: float = ...,
    radius: float = ...,
    capacity: float = ...,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: str,
    data: Dataset,
    **params: Never,
) -> pyo.ConcreteModel: ...
@overload
def fit(
    name: Literal["gmeb"],
    data: Dataset,
    *,
    r_plus: float = ...,
    r_minus: float = ...,
    route: str = ...,
    scale: str = ...,
    rule: str = ...,
    units: str = ...,
    epsilon: float = ...,
    solver: str | None = ...,
    time_limit: float | None = ...,
    options: Mapping[str, Any] | None = ...,
    progress: Progress | None = ...,
    checkpoint: str | Path | None = ...,
    resume: str | Path | None = ...,
    customise: Mapping[str, Change] | None = ...,
    executor: Executor | None = ...,
    class_weight: str | Mapping[str | int, float] | None = ...,
    sample_weight: ArrayLike | None = ...,
) -> Fit: ...
@overload
def fit(
    name: Literal["gmeb-penalised"],
    data: Dataset,
    *,
    c_plus: float = ...,
    c_minus: float = ...,
    tolerance: float = ...,
    scale: str = ...,
    rule: str = ...,
    units: str = ...,
    epsilon: float = ...,
    solver: str | None = ...,
    time_limit: float | None = ...,
    options: Mapping[str, Any] | None = ...,
    progress: Progress | None = ...,
    checkpoint: str | Path | None = ...,
    resume: str | Path | None = ...,
    customise: Mapping[str, Change] | None = ...,
    executor: Executor | None = ...,
    class_weight: str | Mapping[str | int, float] | None = ...,
    sample_weight: ArrayLike | None = ...,
) -> Fit: ...
@overload
def fit(
    name: Literal["svm-norm"],
    data: Dataset,
    *,
    c: float = ...,
    scale: str = ...,
    solver: str | None = ...,
    time_limit: float | None = ...,
    options: Mapping[str, Any] | None = ...,
    progress: Progress | None = ...,
    checkpoint: str | Path | None = ...,
    resume: str | Path | None = ...,
    customise: Mapping[str, Change] | None = ...,
    executor: Executor | None = ...,
    class_weight: str | Mapping[str | int, float] | None = ...,
    sample_weight: ArrayLike | None = ...,
) -> Fit: ...
@overload
def fit(
    name: Literal["mpm"],
    data: Dataset,
    *,
    scale: str = ...,
    unbiased: bool = ...,
    ridge: float | None = ...,
    kernel: str | None = ...,
    width: float | None = ...,
    degree: int = ...,
    solver: str | None = ...,
    time_limit: float | None = ...,
    options: Mapping[str, Any] | None = ...,
    progress: Progress | None = ...,
    checkpoint: str | Path | None = ...,
    resume: str | Path | None = ...,
    customise: Mapping[str, Change] | None = ...,
    executor: Executor | None = ...,
    class_weight: str | Mapping[str | int, float] | None = ...,
    sample_weight: ArrayLike | None = ...,
) -> Fit: ...
@overload
def fit(
    name: Literal["s-mpm"],
    data: Dataset,
    *,
    lam: float = ...,
    theta: float | None = ...,
    scale: str = ...,
    unbiased: bool = ...,
    ridge: float = ...,
    solver: str | None = ...,
    time_limit: float | None = ...,
    options: Mapping[str, Any] | None = ...,
    progress: Progress | None = ...,
    checkpoint: str | Path | None = ...,
    resume: str | Path | None = ...,
    customise: Mapping[str, Change] | None = ...,
    executor: Executor | None = ...,
    class_weight: str | Mapping[str | int, float] | None = ...,
    sample_weight: ArrayLike | None = ...,
) -> Fit: ...
@overload
def fit(
    name: Literal["l1-mpm"],
    data: Dataset,
    *,
    delta: float | None = ...,
    scale: str = ...,
    unbiased: bool = ...,
    ridge: float | None = ...,
    kernel: str | None = ...,
    width: float | None = ...,
    degree: int = ...,
    solver: str | None = ...,
    time_limit: float | None = ...,
    options: Mapping[str, Any] | None = ...,
    progress: Progress | None = ...,
    checkpoint: str | Path | None = ...,
    resume: str | Path | None = ...,
    customise: Mapping[str, Change] | None = ...,
    executor: Executor | None = ...,
    class_weight: str | Mapping[str | int, float] | None = ...,
    sample_weight: ArrayLike | None = ...,
) -> Fit: ...
@overload
def fit(
    name: Literal["l0-mpm"],
    data: Dataset,
    *,
    delta: float | None = ...,
    approx: str = ...,
    alpha: float = ...,
    n_starts: int = ...,
    seed: int = ...,
    start: Sequence[float] | None = ...,
    tolerance: float | None = ...,
    scale: str = ...,
    unbiased: bool = ...,
    ridge: float | None = ...,
    kernel: str | None = ...,
    width: float | None = ...,
    degree: int = ...,
    solver: str | None = ...,
    time_limit: float | None = ...,
    options: Mapping[str, Any] | None = ...,
    progress: Progress | None = ...,
    checkpoint: str | Path | None = ...,
    resume: str | Path | None = ...,
    customise: Mapping[str, Change] | None = ...,
    executor: Executor | None = ...,
    class_weight: str | Mapping[str | int, float] | None = ...,
    sample_weight: ArrayLike | None = ...,
) -> Fit: ...
@overload
def fit(
    name: Literal["misclass"],
    data: Dataset,
    *,
    alpha: float = ...,
    n_starts: int = ...,
    seed: int = ...,
    scale: str = ...,
    generate: bool | str = ...,
    solver: str | None = ...,
    time_limit: float | None = ...,
    options: Mapping[str, Any] | None = ...,
    progress: Progress | None = ...,
    checkpoint: str | Path | None = ...,
    resume: str | Path | None = ...,
    customise: Mapping[str, Change] | None = ...,
    executor: Executor | None = ...,
    class_weight: str | Mapping[str | int, float] | None = ...,
    sample_weight: ArrayLike | None = ...,
) -> Fit: ...
@overload
def fit(
    name: Literal["pmm"],
    data: Dataset,
    *,
    scale: str = ...,
    solver: str | None = ...,
    time_limit: float | None = ...,
    options: Mapping[str, Any] | None = ...,
    progress: Progress | None = ...,
    checkpoint: str | Path | None = ...,
    resume: str | Path | None = ...,
    customise: Mapping[str, Change] | None = ...,
    executor: Executor | None = ...,
    class_weight: str | Mapping[str | int, float] | None = ...,
    sample_weight: ArrayLike | None = ...,
) -> Fit: ...
@overload
def fit(
    name: Literal["fsv"],
    data: Dataset,
    *,
    lam: float = ...,
    alpha: float = ...,
    n_starts: int = ...,
    seed: int = ...,
    scale: str = ...,
    generate: bool | str = ...,
    solver: str | None = ...,
    time_limit: float | None = ...,
    options: Mapping[str, Any] | None = ...,
    progress: Progress | None = ...,
    checkpoint: str | Path | None = ...,
    resume: str | Path | None = ...,
    customise: Mapping[str, Change] | None = ...,
    executor: Executor | None = ...,
    class_weight: str | Mapping[str | int, float] | None = ...,
    sample_weight: ArrayLike | None = ...,
) -> Fit: ...
@overload
def fit(
    name: Literal["onsvm"],
    data: Dataset,
    *,
    c: float = ...,
    scale: str = ...,
    generate: bool | str = ...,
    solver: str | None = ...,
    time_limit: float | None = ...,
    options: Mapping[str, Any] | None = ...,
    progress: Progress | None = ...,
    checkpoint: str | Path | None = ...,
    resume: str | Path | None = ...,
    customise: Mapping[str, Change] | None = ...,
    executor: Executor | None = ...,
    class_weight: str | Mapping[str | int, float] | None = ...,
    sample_weight: ArrayLike | None = ...,
) -> Fit: ...
@overload
def fit(
    name: Literal["gbd"],
    data: Dataset,
    *,
    m: int | None = ...,
    costs: Sequence[float] | None = ...,
    budget: float | None = ...,
    include: Sequence[Feature] = ...,
    exclude: Sequence[Feature] = ...,
    implies: Sequence[Sequence[Feature]] = ...,
    conflicts: Sequence[Sequence[Feature]] = ...,
    c: float = ...,
    variant: str | None = ...,
    initial: Sequence[Feature] | None = ...,
    max_nodes: int | None = ...,
    jobs: int | None = ...,
    start: str | Sequence[float] = ...,
    root_cuts: int = ...,
    stabilisation: str = ...,
    master_solver: str | None = ...,
    tolerance: float = ...,
    max_cuts: int = ...,
    validation: float | None = ...,
    patience: int | None = ...,
    seed: int = ...,
    scale: str = ...,
    solver: str | None = ...,
    time_limit: float | None = ...,
    options: Mapping[str, Any] | None = ...,
    progress: Progress | None = ...,
    checkpoint: str | Path | None = ...,
    resume: str | Path | None = ...,
    customise: Mapping[str, Change] | None = ...,
    executor: Executor | None = ...,
    class_weight: str | Mapping[str | int, float] | None = ...,
    sample_weight: ArrayLike | None = ...,
) -> Fit: ...
@overload
def fit(
    name: Literal["gbd-lambda"],
    data: Dataset,
    *,
    lam: float | Sequence[float] = ...,
    include: Sequence[Feature] = ...,
    exclude: Sequence[Feature] = ...,
    implies: Sequence[Sequence[Feature]] = ...,
    conflicts: Sequence[Sequence[Feature]] = ...,
    c: float = ...,
    variant: str | None = ...,
    initial: Sequence[Feature] | None = ...,
    max_nodes: int | None = ...,
    jobs: int | None = ...,
    start: str | Sequence[float] = ...,
    root_cuts: int = ...,
    stabilisation: str = ...,
    master_solver: str | None = ...,
    tolerance: float = ...,
    max_cuts: int = ...,
    validation: float | None = ...,
    patience: int | None = ...,
    seed: int = ...,
    scale: str = ...,
    solver: str | None = ...,
    time_limit: float | None = ...,
    options: Mapping[str, Any] | None = ...,
    progress: Progress | None = ...,
    checkpoint: str | Path | None = ...,
    resume: str | Path | None = ...,
    customise: Mapping[str, Change] | None = ...,
    executor: Executor | None = ...,
    class_weight: str | Mapping[str | int, float] | None = ...,
    sample_weight: ArrayLike | None = ...,
) -> Fit: ...
@overload
def fit(
    name: Literal["rsvm"],
    data: Dataset,
    *,
    w_cap: float | None = ...,
    route: str = ...,
    scale: str = ...,
    kernel: str | None = ...,
    width: float | None = ...,
    degree: int = ...,
    solver: str | None = ...,
    time_limit: float | None = ...,
    options: Mapping[str, Any] | None = ...,
    progress: Progress | None = ...,
    checkpoint: str | Path | None = ...,
    resume: str | Path | None = ...,
    customise: Mapping[str, Change] | None = ...,
    executor: Executor | None = ...,
    class_weight: str | Mapping[str | int, float] | None = ...,
    sample_weight: ArrayLike | None = ...,
) -> Fit: ...
@overload
def fit(
    name: Literal["mopfs"],
    data: Dataset,
    *,
    w_cap: float | None = ...,
    c: float = ...,
    scaling: str = ...,
    max_iterations: int = ...,
    scale: str = ...,
    solver: str | None = ...,
    time_limit: float | None = ...,
    options: Mapping[str, Any] | None = ...,
    progress: Progress | None = ...,
    checkpoint: str | Path | None = ...,
    resume: str | Path | None = ...,
    customise: Mapping[str, Change] | None = ...,
    executor: Executor | None = ...,
    class_weight: str | Mapping[str | int, float] | None = ...,
    sample_weight: ArrayLike | None = ...,
) -> Fit: ...
@overload
def fit(
    name: Literal["svm"],
    data: Dataset,
    *,
    c: float = ...,
    scale: str = ...,
    rule: str = ...,
    units: str = ...,
    epsilon: float = ...,
    interior: bool | None = ...,
    kernel: str | None = ...,
    width: float | None = ...,
    degree: int | None = ...,
    solver: str | None = ...,
    time_limit: float | None = ...,
    options: Mapping[str, Any] | None = ...,
    progress: Progress | None = ...,
    checkpoint: str | Path | None = ...,
    resume: str | Path | None = ...,
    customise: Mapping[str, Change] | None = ...,
    executor: Executor | None = ...,
    class_weight: str | Mapping[str | int, float] | None = ...,
    sample_weight: ArrayLike | None = ...,
) -> Fit: ...
@overload
def fit(
    name: Literal["l1-svm"],
    data: Dataset,
    *,
    c: float = ...,
    scale: str = ...,
    rule: str = ...,
    units: str = ...,
    epsilon: float = ...,
    generate: bool | str = ...,
    solver: str | None = ...,
    time_limit: float | None = ...,
    options: Mapping[str, Any] | None = ...,
    progress: Progress | None = ...,
    checkpoint: str | Path | None = ...,
    resume: str | Path | None = ...,
    customise: Mapping[str, Change] | None = ...,
    executor: Executor | None = ...,
    class_weight: str | Mapping[str | int, float] | None = ...,
    sample_weight: ArrayLike | None = ...,
) -> Fit: ...
@overload
def fit(
    name: Literal["rfe"],
    data: Dataset,
    *,
    m: int | None = ...,
    c: float = ...,
    step: int = ...,
    scale: str = ...,
    eliminated: Sequence[int] | None = ...,
    solver: str | None = ...,
    time_limit: float | None = ...,
    options: Mapping[str, Any] | None = ...,
    progress: Progress | None = ...,
    checkpoint: str | Path | None = ...,
    resume: str | Path | None = ...,
    customise: Mapping[str, Change] | None = ...,
    executor: Executor | None = ...,
    class_weight: str | Mapping[str | int, float] | None = ...,
    sample_weight: ArrayLike | None = ...,
) -> Fit: ...
@overload
def fit(
    name: Literal["infogain"],
    data: Dataset,
    *,
    m: int | None = ...,
    bins: int | None = ...,
    machine: str = ...,
    c: float = ...,
    w_cap: float | None = ...,
    scale: str = ...,
    solver: str | None = ...,
    time_limit: float | None = ...,
    options: Mapping[str, Any] | None = ...,
    progress: Progress | None = ...,
    checkpoint: str | Path | None = ...,
    resume: str | Path | None = ...,
    customise: Mapping[str, Change] | None = ...,
    executor: Executor | None = ...,
    class_weight: str | Mapping[str | int, float] | None = ...,
    sample_weight: ArrayLike | None = ...,
) -> Fit: ...
@overload
def fit(
    name: Literal["pearson"],
    data: Dataset,
    *,
    m: int | None = ...,
    machine: str = ...,
    c: float = ...,
    w_cap: float | None = ...,
    scale: str = ...,
    solver: str | None = ...,
    time_limit: float | None = ...,
    options: Mapping[str, Any] | None = ...,
    progress: Progress | None = ...,
    checkpoint: str | Path | None = ...,
    resume: str | Path | None = ...,
    customise: Mapping[str, Change] | None = ...,
    executor: Executor | None = ...,
    class_weight: str | Mapping[str | int, float] | None = ...,
    sample_weight: ArrayLike | None = ...,
) -> Fit: ...
@overload
def fit(
    name: Literal["fisher"],
    data: Dataset,
    *,
    m: int | None = ...,
    machine: str = ...,
    c: float = ...,
    w_cap: float | None = ...,
    scale: str = ...,
    solver: str | None = ...,
    time_limit: float | None = ...,
    options: Mapping[str, Any] | None = ...,
    progress: Progress | None = ...,
    checkpoint: str | Path | None = ...,
    resume: str | Path | None = ...,
    customise: Mapping[str, Change] | None = ...,
    executor: Executor | None = ...,
    class_weight: str | Mapping[str | int, float] | None = ...,
    sample_weight: ArrayLike | None = ...,
) -> Fit: ...
@overload
def fit(
    name: Literal["ks"],
    data: Dataset,
    *,
    m: int | None = ...,
    machine: str = ...,
    c: float = ...,
    w_cap: float | None = ...,
    scale: str = ...,
    solver: str | None = ...,
    time_limit: float | None = ...,
    options: Mapping[str, Any] | None = ...,
    progress: Progress | None = ...,
    checkpoint: str | Path | None = ...,
    resume: str | Path | None = ...,
    customise: Mapping[str, Change] | None = ...,
    executor: Executor | None = ...,
    class_weight: str | Mapping[str | int, float] | None = ...,
    sample_weight: ArrayLike | None = ...,
) -> Fit: ...
@overload
def fit(
    name: Literal["vs-ssvm"],
    data: Dataset,
    *,
    n_partitions: int = ...,
    share: float = ...,
    seed: int = ...,
    machine: str = ...,
    c: float = ...,
    w_cap: float | None = ...,
    scale: str = ...,
    generate: bool | str = ...,
    solver: str | None = ...,
    time_limit: float | None = ...,
    options: Mapping[str, Any] | None = ...,
    progress: Progress | None = ...,
    checkpoint: str | Path | None = ...,
    resume: str | Path | None = ...,
    customise: Mapping[str, Change] | None = ...,
    executor: Executor | None = ...,
    class_weight: str | Mapping[str | int, float] | None = ...,
    sample_weight: ArrayLike | None = ...,
) -> Fit: ...
@overload
def fit(
    name: str,
    data: Dataset,
    *,
    solver: str | None = ...,
    time_limit: float | None = ...,
    options: Mapping[str, Any] | None = ...,
    progress: Progress | None = ...,
    checkpoint: str | Path | None = ...,
    resume: str | Path | None = ...,
    customise: Mapping[str, Change] | None = ...,
    executor: Executor | None = ...,
    class_weight: str | Mapping[str | int, float] | None = ...,
    sample_weight: ArrayLike | None = ...,
    **params: Never,
) -> Fit: ...
