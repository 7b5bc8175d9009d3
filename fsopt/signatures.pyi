# load_dataset, and overloads of build and fit, written by ``python -m tools.signatures``.

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Never, overload

import pyomo.environ as pyo
from numpy.typing import ArrayLike

from fsopt.answers.fits import Fit
from fsopt.common.registry import Change
from fsopt.data.dataset import Dataset
from fsopt.data.given import Given
from fsopt.drivers.run import Progress
from fsopt.models.gbd.feature_lists import Feature
from fsopt.typing import Frame, Samples

def load_dataset(
    source: str | os.PathLike[str] | Frame,
    *,
    target: str = "label",
    positive: str | float | Sequence[str | float] = (),
    drop: str | float | Sequence[str | float] = (),
    id: str | None = None,
    group: str | None = None,
    onehot: bool = False,
    missing: str | None = None,
    weights: str | None = None,
    sep: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    encoding: str | None = None,
    sheet: str | None = None,
) -> Dataset: ...
@overload
def build(
    slug: Literal["gmeb-primal"],
    data: Given,
    *,
    r_plus: float = 3.0,
    r_minus: float = 3.0,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["gmeb-dual"],
    data: Given,
    *,
    r_plus: float = 3.0,
    r_minus: float = 3.0,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["gmeb-cuts"],
    data: Given,
    *,
    r_plus: float = 3.0,
    r_minus: float = 3.0,
    hard: bool = False,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["gmeb-sdp"],
    data: Given,
    *,
    r_plus: float = 3.0,
    r_minus: float = 3.0,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["gmeb-hard-margin"],
    data: Given,
    *,
    r_plus: float = 3.0,
    r_minus: float = 3.0,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["gmeb-penalised"],
    data: Given,
    *,
    c_plus: float = 4.0,
    c_minus: float = 4.0,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["gmeb-nonconvex"],
    data: Given,
    *,
    r_plus: float = 3.0,
    r_minus: float = 3.0,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["svm-norm"],
    data: Given,
    *,
    c: float = 1.0,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["svm-margin"],
    data: Given,
    *,
    c: float = 1.0,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["mpm"],
    data: Given,
    *,
    unbiased: bool = False,
    ridge: float = 0.0,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["bmpm"],
    data: Given,
    *,
    beta: float = 0.5,
    unbiased: bool = False,
    ridge: float = 0.0,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["s-mpm"],
    data: Given,
    *,
    beta: float = 0.5,
    lam: float = 0.1,
    unbiased: bool = False,
    ridge: float = 0.0,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["l1-mpm"],
    data: Given,
    *,
    delta: float = 0.5,
    unbiased: bool = False,
    ridge: float = 0.0,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["l0-mpm"],
    data: Given,
    *,
    delta: float = 0.5,
    alpha: float = 5.0,
    unbiased: bool = False,
    ridge: float = 0.0,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["l0-mpm-step"],
    data: Given,
    *,
    delta: float = 0.5,
    alpha: float = 5.0,
    v: ArrayLike | None = None,
    unbiased: bool = False,
    ridge: float = 0.0,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["l0-mpm-exact"],
    data: Given,
    *,
    delta: float = 0.5,
    big_m: float = 100.0,
    unbiased: bool = False,
    ridge: float = 0.0,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["misclass"],
    data: Given,
    *,
    alpha: float = 5.0,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["misclass-step"],
    data: Given,
    *,
    alpha: float = 5.0,
    y: ArrayLike | None = None,
    z: ArrayLike | None = None,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["misclass-pmm"],
    data: Given,
    *,
    delta: float = 1.0,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["misclass-milp"],
    data: Given,
    *,
    big_m: float = 10000.0,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["misclass-lpec"],
    data: Given,
    *,
    big_m: float | None = None,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["fsv"],
    data: Given,
    *,
    lam: float = 0.05,
    alpha: float = 5.0,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["rlp"],
    data: Given,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["fsv-step"],
    data: Given,
    *,
    lam: float = 0.05,
    alpha: float = 5.0,
    v: ArrayLike | None = None,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["fsv-exact"],
    data: Given,
    *,
    lam: float = 0.05,
    big_m: float = 10000.0,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["fsv-lpec"],
    data: Given,
    *,
    lam: float = 0.05,
    big_m: float | None = None,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["svm"],
    data: Given,
    *,
    c: float = 1.0,
    positive: Sequence[Feature] = (),
    negative: Sequence[Feature] = (),
    lower: Mapping[Feature, float] | None = None,
    upper: Mapping[Feature, float] | None = None,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["svm-dual"],
    data: Given,
    *,
    c: float = 1.0,
    positive: Sequence[Feature] = (),
    negative: Sequence[Feature] = (),
    lower: Mapping[Feature, float] | None = None,
    upper: Mapping[Feature, float] | None = None,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["onsvm"],
    data: Given,
    *,
    c: float = 1.0,
    positive: Sequence[Feature] = (),
    negative: Sequence[Feature] = (),
    lower: Mapping[Feature, float] | None = None,
    upper: Mapping[Feature, float] | None = None,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["l1-hinge-part"],
    data: Given,
    *,
    row_costs: ArrayLike | None = None,
    column_costs: ArrayLike | None = None,
    offset: ArrayLike | None = None,
    center: ArrayLike | None = None,
    radius: float | None = None,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["fsp-sub"],
    data: Given,
    *,
    sigma: ArrayLike | None = None,
    c: float = 1.0,
    positive: Sequence[Feature] = (),
    negative: Sequence[Feature] = (),
    lower: Mapping[Feature, float] | None = None,
    upper: Mapping[Feature, float] | None = None,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["fsp-sub-dual"],
    data: Given,
    *,
    sigma: ArrayLike | None = None,
    c: float = 1.0,
    positive: Sequence[Feature] = (),
    negative: Sequence[Feature] = (),
    lower: Mapping[Feature, float] | None = None,
    upper: Mapping[Feature, float] | None = None,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["fsp-master"],
    data: Given,
    *,
    lam: ArrayLike | None = None,
    cuts: Sequence[ArrayLike] = (),
    m: int | None = None,
    costs: ArrayLike | Mapping[str, float] | None = None,
    budget: float | None = None,
    groups: Sequence[Sequence[Feature]] | Mapping[str, Sequence[Feature]] | str | None = None,
    include: Sequence[Feature] = (),
    exclude: Sequence[Feature] = (),
    implies: Sequence[Sequence[Feature]] = (),
    conflicts: Sequence[Sequence[Feature]] = (),
    positive: Sequence[Feature] = (),
    negative: Sequence[Feature] = (),
    lower: Mapping[Feature, float] | None = None,
    upper: Mapping[Feature, float] | None = None,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["fsp-m"],
    data: Given,
    *,
    c: float = 1.0,
    loss: str = "hinge",
    m: int | None = None,
    costs: ArrayLike | Mapping[str, float] | None = None,
    budget: float | None = None,
    groups: Sequence[Sequence[Feature]] | Mapping[str, Sequence[Feature]] | str | None = None,
    include: Sequence[Feature] = (),
    exclude: Sequence[Feature] = (),
    implies: Sequence[Sequence[Feature]] = (),
    conflicts: Sequence[Sequence[Feature]] = (),
    positive: Sequence[Feature] = (),
    negative: Sequence[Feature] = (),
    lower: Mapping[Feature, float] | None = None,
    upper: Mapping[Feature, float] | None = None,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["fsp-lambda"],
    data: Given,
    *,
    c: float = 1.0,
    loss: str = "hinge",
    lam: ArrayLike = 1.0,
    groups: Sequence[Sequence[Feature]] | Mapping[str, Sequence[Feature]] | str | None = None,
    include: Sequence[Feature] = (),
    exclude: Sequence[Feature] = (),
    implies: Sequence[Sequence[Feature]] = (),
    conflicts: Sequence[Sequence[Feature]] = (),
    positive: Sequence[Feature] = (),
    negative: Sequence[Feature] = (),
    lower: Mapping[Feature, float] | None = None,
    upper: Mapping[Feature, float] | None = None,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["fsp-m-perspective"],
    data: Given,
    *,
    c: float = 1.0,
    relax: bool = False,
    m: int | None = None,
    costs: ArrayLike | Mapping[str, float] | None = None,
    budget: float | None = None,
    groups: Sequence[Sequence[Feature]] | Mapping[str, Sequence[Feature]] | str | None = None,
    include: Sequence[Feature] = (),
    exclude: Sequence[Feature] = (),
    implies: Sequence[Sequence[Feature]] = (),
    conflicts: Sequence[Sequence[Feature]] = (),
    positive: Sequence[Feature] = (),
    negative: Sequence[Feature] = (),
    lower: Mapping[Feature, float] | None = None,
    upper: Mapping[Feature, float] | None = None,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["fsp-m-bigm"],
    data: Given,
    *,
    c: float = 1.0,
    loss: str = "hinge",
    value: float | None = None,
    relax: bool = False,
    m: int | None = None,
    costs: ArrayLike | Mapping[str, float] | None = None,
    budget: float | None = None,
    groups: Sequence[Sequence[Feature]] | Mapping[str, Sequence[Feature]] | str | None = None,
    include: Sequence[Feature] = (),
    exclude: Sequence[Feature] = (),
    implies: Sequence[Sequence[Feature]] = (),
    conflicts: Sequence[Sequence[Feature]] = (),
    positive: Sequence[Feature] = (),
    negative: Sequence[Feature] = (),
    lower: Mapping[Feature, float] | None = None,
    upper: Mapping[Feature, float] | None = None,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["rsvm"],
    data: Given,
    *,
    w_cap: float = 1.0,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["rsvm-dual"],
    data: Given,
    *,
    w_cap: float = 1.0,
    scale: ArrayLike | None = None,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["rsvm-least-norm"],
    data: Given,
    *,
    e_cap: float | None = None,
    scale: ArrayLike | None = None,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["mmop"],
    data: Given,
    *,
    h_cap: float = 1.0,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["mmop-convex"],
    data: Given,
    *,
    h_cap: float = 1.0,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["kernel-scaling"],
    data: Given,
    *,
    w: ArrayLike | None = None,
    b: float = 0.0,
    e_cap: float | None = None,
    c: float = 0.0,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: Literal["kernel-scaling-step"],
    data: Given,
    *,
    w: ArrayLike | None = None,
    b: float = 0.0,
    e_cap: float | None = None,
    c: float = 0.0,
    radius: float = 1.0,
    capacity: float = 1.0,
) -> pyo.ConcreteModel: ...
@overload
def build(
    slug: str,
    data: Given,
    **params: Never,
) -> pyo.ConcreteModel: ...
@overload
def fit(
    name: Literal["gmeb"],
    data: Given | Samples,
    y: ArrayLike | None = ...,
    *,
    r_plus: float = 3.0,
    r_minus: float = 3.0,
    route: str = "auto",
    scale: str = "center",
    solver: str | None = None,
    time_limit: float | None = None,
    options: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    checkpoint: str | Path | None = None,
    resume: str | Path | None = None,
    customise: Mapping[str, Change] | None = None,
    class_weight: str | Mapping[str | int, float] | None = None,
    sample_weight: ArrayLike | None = None,
) -> Fit: ...
@overload
def fit(
    name: Literal["gmeb-penalised"],
    data: Given | Samples,
    y: ArrayLike | None = ...,
    *,
    c_plus: float = 4.0,
    c_minus: float = 4.0,
    scale: str = "center",
    solver: str | None = None,
    time_limit: float | None = None,
    options: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    checkpoint: str | Path | None = None,
    resume: str | Path | None = None,
    customise: Mapping[str, Change] | None = None,
    class_weight: str | Mapping[str | int, float] | None = None,
    sample_weight: ArrayLike | None = None,
) -> Fit: ...
@overload
def fit(
    name: Literal["svm-norm"],
    data: Given | Samples,
    y: ArrayLike | None = ...,
    *,
    c: float = 1.0,
    scale: str = "center",
    solver: str | None = None,
    time_limit: float | None = None,
    options: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    checkpoint: str | Path | None = None,
    resume: str | Path | None = None,
    customise: Mapping[str, Change] | None = None,
    class_weight: str | Mapping[str | int, float] | None = None,
    sample_weight: ArrayLike | None = None,
) -> Fit: ...
@overload
def fit(
    name: Literal["mpm"],
    data: Given | Samples,
    y: ArrayLike | None = ...,
    *,
    scale: str = "standard",
    ridge: float | None = None,
    kernel: str | None = None,
    width: float | None = None,
    solver: str | None = None,
    time_limit: float | None = None,
    options: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    checkpoint: str | Path | None = None,
    resume: str | Path | None = None,
    customise: Mapping[str, Change] | None = None,
    class_weight: str | Mapping[str | int, float] | None = None,
    sample_weight: ArrayLike | None = None,
) -> Fit: ...
@overload
def fit(
    name: Literal["l1-mpm"],
    data: Given | Samples,
    y: ArrayLike | None = ...,
    *,
    delta: float | None = None,
    scale: str = "standard",
    ridge: float | None = None,
    kernel: str | None = None,
    width: float | None = None,
    solver: str | None = None,
    time_limit: float | None = None,
    options: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    checkpoint: str | Path | None = None,
    resume: str | Path | None = None,
    customise: Mapping[str, Change] | None = None,
    class_weight: str | Mapping[str | int, float] | None = None,
    sample_weight: ArrayLike | None = None,
) -> Fit: ...
@overload
def fit(
    name: Literal["l0-mpm"],
    data: Given | Samples,
    y: ArrayLike | None = ...,
    *,
    delta: float | None = None,
    approx: str = "exp",
    alpha: float = 5.0,
    n_starts: int = 1,
    seed: int = 0,
    start: Sequence[float] | None = None,
    tolerance: float | None = None,
    scale: str = "standard",
    ridge: float | None = None,
    kernel: str | None = None,
    width: float | None = None,
    solver: str | None = None,
    time_limit: float | None = None,
    options: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    checkpoint: str | Path | None = None,
    resume: str | Path | None = None,
    customise: Mapping[str, Change] | None = None,
    class_weight: str | Mapping[str | int, float] | None = None,
    sample_weight: ArrayLike | None = None,
) -> Fit: ...
@overload
def fit(
    name: Literal["s-mpm"],
    data: Given | Samples,
    y: ArrayLike | None = ...,
    *,
    lam: float = 0.1,
    theta: float | None = None,
    ridge: float = 0.0,
    scale: str = "standard",
    solver: str | None = None,
    time_limit: float | None = None,
    options: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    checkpoint: str | Path | None = None,
    resume: str | Path | None = None,
    customise: Mapping[str, Change] | None = None,
    class_weight: str | Mapping[str | int, float] | None = None,
    sample_weight: ArrayLike | None = None,
) -> Fit: ...
@overload
def fit(
    name: Literal["misclass"],
    data: Given | Samples,
    y: ArrayLike | None = ...,
    *,
    alpha: float = 5.0,
    scale: str = "standard",
    solver: str | None = None,
    time_limit: float | None = None,
    options: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    checkpoint: str | Path | None = None,
    resume: str | Path | None = None,
    customise: Mapping[str, Change] | None = None,
    class_weight: str | Mapping[str | int, float] | None = None,
    sample_weight: ArrayLike | None = None,
) -> Fit: ...
@overload
def fit(
    name: Literal["pmm"],
    data: Given | Samples,
    y: ArrayLike | None = ...,
    *,
    scale: str = "standard",
    solver: str | None = None,
    time_limit: float | None = None,
    options: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    checkpoint: str | Path | None = None,
    resume: str | Path | None = None,
    customise: Mapping[str, Change] | None = None,
    class_weight: str | Mapping[str | int, float] | None = None,
    sample_weight: ArrayLike | None = None,
) -> Fit: ...
@overload
def fit(
    name: Literal["fsv"],
    data: Given | Samples,
    y: ArrayLike | None = ...,
    *,
    lam: float = 0.05,
    alpha: float = 5.0,
    approx: str = "exp",
    n_starts: int = 1,
    seed: int = 0,
    scale: str = "standard",
    solver: str | None = None,
    time_limit: float | None = None,
    options: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    checkpoint: str | Path | None = None,
    resume: str | Path | None = None,
    customise: Mapping[str, Change] | None = None,
    class_weight: str | Mapping[str | int, float] | None = None,
    sample_weight: ArrayLike | None = None,
) -> Fit: ...
@overload
def fit(
    name: Literal["onsvm"],
    data: Given | Samples,
    y: ArrayLike | None = ...,
    *,
    c: float = 1.0,
    scale: str = "standard",
    solver: str | None = None,
    time_limit: float | None = None,
    options: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    checkpoint: str | Path | None = None,
    resume: str | Path | None = None,
    customise: Mapping[str, Change] | None = None,
    class_weight: str | Mapping[str | int, float] | None = None,
    sample_weight: ArrayLike | None = None,
) -> Fit: ...
@overload
def fit(
    name: Literal["gbd"],
    data: Given | Samples,
    y: ArrayLike | None = ...,
    *,
    c: float = 1.0,
    preset: str | None = None,
    start: str | Sequence[float] | None = None,
    master_solver: str | None = None,
    tolerance: float = 1e-06,
    max_cuts: int = 250,
    scale: str = "standard",
    m: int | None = None,
    costs: ArrayLike | Mapping[str, float] | None = None,
    budget: float | None = None,
    groups: Sequence[Sequence[Feature]] | Mapping[str, Sequence[Feature]] | str | None = None,
    include: Sequence[Feature] = (),
    implies: Sequence[Sequence[Feature]] = (),
    conflicts: Sequence[Sequence[Feature]] = (),
    positive: Sequence[Feature] = (),
    negative: Sequence[Feature] = (),
    lower: Mapping[Feature, float] | None = None,
    upper: Mapping[Feature, float] | None = None,
    solver: str | None = None,
    time_limit: float | None = None,
    options: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    checkpoint: str | Path | None = None,
    resume: str | Path | None = None,
    customise: Mapping[str, Change] | None = None,
    class_weight: str | Mapping[str | int, float] | None = None,
    sample_weight: ArrayLike | None = None,
) -> Fit: ...
@overload
def fit(
    name: Literal["gbd-lambda"],
    data: Given | Samples,
    y: ArrayLike | None = ...,
    *,
    lam: float | Sequence[float] = 1.0,
    c: float = 1.0,
    preset: str | None = None,
    start: str | Sequence[float] | None = None,
    master_solver: str | None = None,
    tolerance: float = 1e-06,
    max_cuts: int = 250,
    scale: str = "standard",
    m: int | None = None,
    costs: ArrayLike | Mapping[str, float] | None = None,
    budget: float | None = None,
    groups: Sequence[Sequence[Feature]] | Mapping[str, Sequence[Feature]] | str | None = None,
    include: Sequence[Feature] = (),
    implies: Sequence[Sequence[Feature]] = (),
    conflicts: Sequence[Sequence[Feature]] = (),
    positive: Sequence[Feature] = (),
    negative: Sequence[Feature] = (),
    lower: Mapping[Feature, float] | None = None,
    upper: Mapping[Feature, float] | None = None,
    solver: str | None = None,
    time_limit: float | None = None,
    options: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    checkpoint: str | Path | None = None,
    resume: str | Path | None = None,
    customise: Mapping[str, Change] | None = None,
    class_weight: str | Mapping[str | int, float] | None = None,
    sample_weight: ArrayLike | None = None,
) -> Fit: ...
@overload
def fit(
    name: Literal["best-subset"],
    data: Given | Samples,
    y: ArrayLike | None = ...,
    *,
    c: float = 1.0,
    loss: str = "hinge",
    initial: Sequence[Feature] | None = None,
    max_nodes: int | None = None,
    jobs: int | None = None,
    tolerance: float = 1e-06,
    scale: str = "standard",
    m: int | None = None,
    costs: ArrayLike | Mapping[str, float] | None = None,
    budget: float | None = None,
    groups: Sequence[Sequence[Feature]] | Mapping[str, Sequence[Feature]] | str | None = None,
    include: Sequence[Feature] = (),
    implies: Sequence[Sequence[Feature]] = (),
    conflicts: Sequence[Sequence[Feature]] = (),
    positive: Sequence[Feature] = (),
    negative: Sequence[Feature] = (),
    lower: Mapping[Feature, float] | None = None,
    upper: Mapping[Feature, float] | None = None,
    solver: str | None = None,
    time_limit: float | None = None,
    options: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    checkpoint: str | Path | None = None,
    resume: str | Path | None = None,
    customise: Mapping[str, Change] | None = None,
    class_weight: str | Mapping[str | int, float] | None = None,
    sample_weight: ArrayLike | None = None,
) -> Fit: ...
@overload
def fit(
    name: Literal["best-subset-penalised"],
    data: Given | Samples,
    y: ArrayLike | None = ...,
    *,
    lam: float | Sequence[float] = 1.0,
    c: float = 1.0,
    loss: str = "hinge",
    initial: Sequence[Feature] | None = None,
    max_nodes: int | None = None,
    jobs: int | None = None,
    tolerance: float = 1e-06,
    scale: str = "standard",
    m: int | None = None,
    costs: ArrayLike | Mapping[str, float] | None = None,
    budget: float | None = None,
    groups: Sequence[Sequence[Feature]] | Mapping[str, Sequence[Feature]] | str | None = None,
    include: Sequence[Feature] = (),
    implies: Sequence[Sequence[Feature]] = (),
    conflicts: Sequence[Sequence[Feature]] = (),
    positive: Sequence[Feature] = (),
    negative: Sequence[Feature] = (),
    lower: Mapping[Feature, float] | None = None,
    upper: Mapping[Feature, float] | None = None,
    solver: str | None = None,
    time_limit: float | None = None,
    options: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    checkpoint: str | Path | None = None,
    resume: str | Path | None = None,
    customise: Mapping[str, Change] | None = None,
    class_weight: str | Mapping[str | int, float] | None = None,
    sample_weight: ArrayLike | None = None,
) -> Fit: ...
@overload
def fit(
    name: Literal["rsvm"],
    data: Given | Samples,
    y: ArrayLike | None = ...,
    *,
    w_cap: float | None = None,
    scale: str = "unit-rows",
    kernel: str | None = None,
    width: float | None = None,
    solver: str | None = None,
    time_limit: float | None = None,
    options: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    checkpoint: str | Path | None = None,
    resume: str | Path | None = None,
    customise: Mapping[str, Change] | None = None,
    class_weight: str | Mapping[str | int, float] | None = None,
    sample_weight: ArrayLike | None = None,
) -> Fit: ...
@overload
def fit(
    name: Literal["mopfs"],
    data: Given | Samples,
    y: ArrayLike | None = ...,
    *,
    w_cap: float | None = None,
    c: float = 0.001,
    scaling: str = "local",
    max_iterations: int = 20,
    scale: str = "unit-rows",
    solver: str | None = None,
    time_limit: float | None = None,
    options: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    checkpoint: str | Path | None = None,
    resume: str | Path | None = None,
    customise: Mapping[str, Change] | None = None,
    class_weight: str | Mapping[str | int, float] | None = None,
    sample_weight: ArrayLike | None = None,
) -> Fit: ...
@overload
def fit(
    name: Literal["svm"],
    data: Given | Samples,
    y: ArrayLike | None = ...,
    *,
    c: float = 1.0,
    scale: str = "standard",
    kernel: str | None = None,
    width: float | None = None,
    solver: str | None = None,
    time_limit: float | None = None,
    options: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    checkpoint: str | Path | None = None,
    resume: str | Path | None = None,
    customise: Mapping[str, Change] | None = None,
    class_weight: str | Mapping[str | int, float] | None = None,
    sample_weight: ArrayLike | None = None,
) -> Fit: ...
@overload
def fit(
    name: Literal["l1-svm"],
    data: Given | Samples,
    y: ArrayLike | None = ...,
    *,
    c: float = 1.0,
    scale: str = "standard",
    solver: str | None = None,
    time_limit: float | None = None,
    options: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    checkpoint: str | Path | None = None,
    resume: str | Path | None = None,
    customise: Mapping[str, Change] | None = None,
    class_weight: str | Mapping[str | int, float] | None = None,
    sample_weight: ArrayLike | None = None,
) -> Fit: ...
@overload
def fit(
    name: Literal["rfe"],
    data: Given | Samples,
    y: ArrayLike | None = ...,
    *,
    m: int | None = None,
    c: float = 1.0,
    step: int = 1,
    scale: str = "standard",
    solver: str | None = None,
    time_limit: float | None = None,
    options: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    checkpoint: str | Path | None = None,
    resume: str | Path | None = None,
    customise: Mapping[str, Change] | None = None,
    class_weight: str | Mapping[str | int, float] | None = None,
    sample_weight: ArrayLike | None = None,
) -> Fit: ...
@overload
def fit(
    name: Literal["vs-ssvm"],
    data: Given | Samples,
    y: ArrayLike | None = ...,
    *,
    n_partitions: int = 20,
    c: float = 1.0,
    scale: str = "unit-rows",
    solver: str | None = None,
    time_limit: float | None = None,
    options: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    checkpoint: str | Path | None = None,
    resume: str | Path | None = None,
    customise: Mapping[str, Change] | None = None,
    class_weight: str | Mapping[str | int, float] | None = None,
    sample_weight: ArrayLike | None = None,
) -> Fit: ...
@overload
def fit(
    name: Literal["infogain"],
    data: Given | Samples,
    y: ArrayLike | None = ...,
    *,
    m: int | None = None,
    c: float = 1.0,
    scale: str = "standard",
    solver: str | None = None,
    time_limit: float | None = None,
    options: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    checkpoint: str | Path | None = None,
    resume: str | Path | None = None,
    customise: Mapping[str, Change] | None = None,
    class_weight: str | Mapping[str | int, float] | None = None,
    sample_weight: ArrayLike | None = None,
) -> Fit: ...
@overload
def fit(
    name: Literal["pearson"],
    data: Given | Samples,
    y: ArrayLike | None = ...,
    *,
    m: int | None = None,
    w_cap: float | None = None,
    scale: str = "unit-rows",
    solver: str | None = None,
    time_limit: float | None = None,
    options: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    checkpoint: str | Path | None = None,
    resume: str | Path | None = None,
    customise: Mapping[str, Change] | None = None,
    class_weight: str | Mapping[str | int, float] | None = None,
    sample_weight: ArrayLike | None = None,
) -> Fit: ...
@overload
def fit(
    name: Literal["fisher"],
    data: Given | Samples,
    y: ArrayLike | None = ...,
    *,
    m: int | None = None,
    w_cap: float | None = None,
    scale: str = "unit-rows",
    solver: str | None = None,
    time_limit: float | None = None,
    options: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    checkpoint: str | Path | None = None,
    resume: str | Path | None = None,
    customise: Mapping[str, Change] | None = None,
    class_weight: str | Mapping[str | int, float] | None = None,
    sample_weight: ArrayLike | None = None,
) -> Fit: ...
@overload
def fit(
    name: Literal["ks"],
    data: Given | Samples,
    y: ArrayLike | None = ...,
    *,
    m: int | None = None,
    w_cap: float | None = None,
    scale: str = "unit-rows",
    solver: str | None = None,
    time_limit: float | None = None,
    options: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    checkpoint: str | Path | None = None,
    resume: str | Path | None = None,
    customise: Mapping[str, Change] | None = None,
    class_weight: str | Mapping[str | int, float] | None = None,
    sample_weight: ArrayLike | None = None,
) -> Fit: ...
@overload
def fit(
    name: str,
    data: Given | Samples,
    y: ArrayLike | None = ...,
    *,
    solver: str | None = None,
    time_limit: float | None = None,
    options: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    checkpoint: str | Path | None = None,
    resume: str | Path | None = None,
    customise: Mapping[str, Change] | None = None,
    class_weight: str | Mapping[str | int, float] | None = None,
    sample_weight: ArrayLike | None = None,
    **params: Never,
) -> Fit: ...
