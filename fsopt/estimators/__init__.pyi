# The estimators of all methods, written by ``python -m tools.signatures``.

from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import ArrayLike

from fsopt.drivers.run import Progress
from fsopt.estimators.base import SelectingClassifier, WeightedClassifier
from fsopt.models.gbd.feature_lists import Feature

class GMEB(WeightedClassifier):
    """The classifier of smallest generalization error bound (GMEB)."""

    def __init__(
        self,
        *,
        r_plus: float = 3.0,
        r_minus: float = 3.0,
        route: str = "auto",
        scale: str = "center",
        class_weight: Mapping[Any, float] | str | None = None,
        solver: str | None = None,
        time_limit: float | None = None,
        callback: Progress | None = None,
    ) -> None: ...

class GMEBPenalised(SelectingClassifier):
    """The classifier of smallest generalization error bound with penalty weights on its two norm terms."""

    def __init__(
        self,
        *,
        c_plus: float = 4.0,
        c_minus: float = 4.0,
        scale: str = "center",
        solver: str | None = None,
        time_limit: float | None = None,
        callback: Progress | None = None,
    ) -> None: ...

class NormSVM(SelectingClassifier):
    """The support vector machine with an unsquared norm: GMEB without feature scaling."""

    def __init__(
        self,
        *,
        c: float = 1.0,
        scale: str = "center",
        solver: str | None = None,
        time_limit: float | None = None,
        callback: Progress | None = None,
    ) -> None: ...

class MPM(SelectingClassifier):
    """The hyperplane with the largest worst-case accuracy alpha* on both classes (MPM)."""

    def __init__(
        self,
        *,
        scale: str = "standard",
        ridge: float | None = None,
        kernel: str | None = None,
        width: float | None = None,
        solver: str | None = None,
        time_limit: float | None = None,
        callback: Progress | None = None,
    ) -> None: ...

class L1MPM(SelectingClassifier):
    """The hyperplane of smallest 1-norm with worst-case accuracy delta on both classes (L1-MPM)."""

    def __init__(
        self,
        *,
        delta: float | None = None,
        scale: str = "standard",
        ridge: float | None = None,
        kernel: str | None = None,
        width: float | None = None,
        solver: str | None = None,
        time_limit: float | None = None,
        callback: Progress | None = None,
    ) -> None: ...

class L0MPM(SelectingClassifier):
    """The sparse hyperplane with worst-case accuracy delta by DCA (L0-MPM)."""

    def __init__(
        self,
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
        callback: Progress | None = None,
    ) -> None: ...

class SMPM(SelectingClassifier):
    """A sparse biased minimax probability machine, both accuracies weighted (S-MPM, a reconstruction)."""

    def __init__(
        self,
        *,
        lam: float = 0.1,
        theta: float | None = None,
        ridge: float = 0.0,
        scale: str = "standard",
        solver: str | None = None,
        time_limit: float | None = None,
        callback: Progress | None = None,
    ) -> None: ...

class MisclassificationMinimizer(SelectingClassifier):
    """The hyperplane with few misclassified samples by successive linearisation."""

    def __init__(
        self,
        *,
        alpha: float = 5.0,
        scale: str = "standard",
        solver: str | None = None,
        time_limit: float | None = None,
        callback: Progress | None = None,
    ) -> None: ...

class PMM(SelectingClassifier):
    """The hyperplane with few misclassified samples by parametric minimisation (PMM)."""

    def __init__(
        self,
        *,
        scale: str = "standard",
        solver: str | None = None,
        time_limit: float | None = None,
        callback: Progress | None = None,
    ) -> None: ...

class FSV(SelectingClassifier):
    """A hyperplane in few features by concave minimisation (FSV)."""

    def __init__(
        self,
        *,
        lam: float = 0.05,
        alpha: float = 5.0,
        approx: str = "exp",
        n_starts: int = 1,
        seed: int = 0,
        scale: str = "standard",
        class_weight: Mapping[Any, float] | str | None = None,
        solver: str | None = None,
        time_limit: float | None = None,
        callback: Progress | None = None,
    ) -> None: ...

class ONSVM(WeightedClassifier):
    """The one-norm support vector machine, a linear program whose vertices are sparse."""

    def __init__(
        self,
        *,
        c: float = 1.0,
        scale: str = "standard",
        class_weight: Mapping[Any, float] | str | None = None,
        solver: str | None = None,
        time_limit: float | None = None,
        callback: Progress | None = None,
    ) -> None: ...

class GBD(WeightedClassifier):
    """The best support vector machine with a limited number of features, by generalized Benders cuts (GBD-M)."""

    def __init__(
        self,
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
        class_weight: Mapping[Any, float] | str | None = None,
        solver: str | None = None,
        time_limit: float | None = None,
        callback: Progress | None = None,
    ) -> None: ...

class GBDLambda(WeightedClassifier):
    """The best support vector machine with a penalty weight on each feature, by generalized Benders cuts."""

    def __init__(
        self,
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
        class_weight: Mapping[Any, float] | str | None = None,
        solver: str | None = None,
        time_limit: float | None = None,
        callback: Progress | None = None,
    ) -> None: ...

class BestSubsetSVM(WeightedClassifier):
    """The best support vector machine with a limited number of features, by branch and Benders."""

    def __init__(
        self,
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
        class_weight: Mapping[Any, float] | str | None = None,
        time_limit: float | None = None,
        callback: Progress | None = None,
    ) -> None: ...

class BestSubsetPenalisedSVM(WeightedClassifier):
    """The best support vector machine with a penalty weight on each feature, by branch and Benders."""

    def __init__(
        self,
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
        class_weight: Mapping[Any, float] | str | None = None,
        time_limit: float | None = None,
        callback: Progress | None = None,
    ) -> None: ...

class RSVM(WeightedClassifier):
    """The rigorous support vector machine (RSVM), which selects nothing."""

    def __init__(
        self,
        *,
        w_cap: float | None = None,
        scale: str = "unit-rows",
        kernel: str | None = None,
        width: float | None = None,
        class_weight: Mapping[Any, float] | str | None = None,
        solver: str | None = None,
        time_limit: float | None = None,
        callback: Progress | None = None,
    ) -> None: ...

class MOPFS(SelectingClassifier):
    """The multi-objective feature selection machine (MOPFS)."""

    def __init__(
        self,
        *,
        w_cap: float | None = None,
        c: float = 0.001,
        scaling: str = "local",
        max_iterations: int = 20,
        scale: str = "unit-rows",
        solver: str | None = None,
        time_limit: float | None = None,
        callback: Progress | None = None,
    ) -> None: ...

class SVM(WeightedClassifier):
    """The support vector machine (C-SVM), the baseline that selects nothing."""

    def __init__(
        self,
        *,
        c: float = 1.0,
        scale: str = "standard",
        kernel: str | None = None,
        width: float | None = None,
        class_weight: Mapping[Any, float] | str | None = None,
        solver: str | None = None,
        time_limit: float | None = None,
        callback: Progress | None = None,
    ) -> None: ...

class L1SVM(WeightedClassifier):
    """The one-norm support vector machine of Peleg & Meir, which selects weights above a share of the largest."""

    def __init__(
        self,
        *,
        c: float = 1.0,
        scale: str = "standard",
        class_weight: Mapping[Any, float] | str | None = None,
        solver: str | None = None,
        time_limit: float | None = None,
        callback: Progress | None = None,
    ) -> None: ...

class RFE(WeightedClassifier):
    """Support vector machines on ever fewer features, down to m (RFE)."""

    def __init__(
        self,
        *,
        m: int | None = None,
        c: float = 1.0,
        step: int = 1,
        scale: str = "standard",
        class_weight: Mapping[Any, float] | str | None = None,
        solver: str | None = None,
        time_limit: float | None = None,
        callback: Progress | None = None,
    ) -> None: ...

class VSSSVM(SelectingClassifier):
    """A support vector machine on all features that sparse SVMs on random parts of the samples use (VS-SSVM)."""

    def __init__(
        self,
        *,
        n_partitions: int = 20,
        c: float = 1.0,
        scale: str = "unit-rows",
        class_weight: Mapping[Any, float] | str | None = None,
        solver: str | None = None,
        time_limit: float | None = None,
        callback: Progress | None = None,
    ) -> None: ...

class InfoGainFilter(WeightedClassifier):
    """A support vector machine on the features of largest information gain."""

    def __init__(
        self,
        *,
        m: int | None = None,
        c: float = 1.0,
        scale: str = "standard",
        class_weight: Mapping[Any, float] | str | None = None,
        solver: str | None = None,
        time_limit: float | None = None,
        callback: Progress | None = None,
    ) -> None: ...

class PearsonFilter(WeightedClassifier):
    """A support vector machine on the features of largest absolute correlation with the label."""

    def __init__(
        self,
        *,
        m: int | None = None,
        w_cap: float | None = None,
        scale: str = "unit-rows",
        class_weight: Mapping[Any, float] | str | None = None,
        solver: str | None = None,
        time_limit: float | None = None,
        callback: Progress | None = None,
    ) -> None: ...

class FisherFilter(WeightedClassifier):
    """A support vector machine on the features of largest Fisher criterion."""

    def __init__(
        self,
        *,
        m: int | None = None,
        w_cap: float | None = None,
        scale: str = "unit-rows",
        class_weight: Mapping[Any, float] | str | None = None,
        solver: str | None = None,
        time_limit: float | None = None,
        callback: Progress | None = None,
    ) -> None: ...

class KSFilter(WeightedClassifier):
    """A support vector machine on the features of largest Kolmogorov-Smirnov distance of the classes."""

    def __init__(
        self,
        *,
        m: int | None = None,
        w_cap: float | None = None,
        scale: str = "unit-rows",
        class_weight: Mapping[Any, float] | str | None = None,
        solver: str | None = None,
        time_limit: float | None = None,
        callback: Progress | None = None,
    ) -> None: ...
