"""The three panels of a selection: scores by number of features, shares of the halves, and the calibration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from fsopt.analysis.held_out_paths import Choice
from fsopt.common.figures import BLUE, ORANGE
from fsopt.typing import Mask, Vector

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_BARS = 20
"""Features in the picture of the halves."""


def draw_scores(axes: Axes, numbers: Sequence[int], choice: Choice, word: str) -> None:
    """Draw the mean score of each number of features with one standard error, and the number that was chosen."""
    mean = "mean of the folds"
    axes.errorbar(numbers, choice.means, yerr=choice.errors, fmt="o-", color=BLUE, capsize=2, label=mean)
    level = choice.means[choice.best] - choice.errors[choice.best]
    axes.axhline(level, color="tab:gray", linestyle="--", label="best less one error")
    axes.axvline(choice.m, color=ORANGE, label=f"{choice.m} features")
    axes.set(xlabel="number of features", ylabel=word)
    axes.locator_params(axis="x", integer=True)
    axes.legend(fontsize="small")


def draw_shares(axes: Axes, shares: Mapping[str, float], selected: Sequence[str], chance: float) -> None:
    """Draw the share of the halves that select each feature, those of the selection in colour."""
    names = sorted(shares, key=lambda name: -shares[name])
    names = [name for name in names if shares[name] > 0][:MOST_BARS][::-1]
    axes.barh(
        range(len(names)), [shares[name] for name in names], color=[BLUE if n in selected else "0.7" for n in names]
    )
    axes.set_yticks(range(len(names)), [name.replace("$", r"\$") for name in names], fontsize="small")
    axes.axvline(chance, color=ORANGE, linestyle="--", label="expected of noise")
    axes.set(xlabel="share of the halves", xlim=(0.0, 1.0))
    axes.legend(fontsize="small", loc="lower center", bbox_to_anchor=(0.5, 1.0))  # bars may fill the frame


def draw_calibration(axes: Axes, positive: Mask, probability: Vector) -> None:
    """Draw the share of positive samples among those of like held-out probability."""
    from sklearn.calibration import calibration_curve

    share, mean = calibration_curve(positive, probability, n_bins=8, strategy="quantile")
    axes.plot([0, 1], [0, 1], color="tab:gray", linestyle="--", label="perfect")
    axes.plot(mean, share, "o-", color=BLUE, label="held-out samples")
    axes.set(xlabel="probability", ylabel="share of positive samples")
    axes.legend(fontsize="small")
