"""The pictures of the gallery: the docstring of each function is its title and caption."""

from __future__ import annotations

import fsopt


def path():
    """The best hyperplane for every number of features

    Smallest objective value of a support vector machine (hinge loss in units of the margin, no unit) against the number
    of features, on the Wisconsin breast cancer data at C = 1. Where the lower bound meets the value, the selection is
    proved to be the best one. Programs: [Aytug](/gbd.md).
    """
    found = fsopt.selection_path(fsopt.load_dataset("wdbc"), m=[1, 2, 3, 4], tolerance=1e-3)
    return found.plot()


def incumbent():
    """Incumbent and lower bound of an exact search

    Left: objective value (no unit) of the incumbent and lower bound against seconds; the search ends where they meet.
    Right: nodes that were solved, and nodes still open. Method [gbd](/methods/gbd.md) with three features.
    """
    fit = fsopt.fit("gbd", fsopt.load_dataset("wdbc"), m=3, tolerance=1e-3)
    return fit.plot()


def front():
    """The front of loss and capacity

    Minimum hinge loss (no unit) against the capacity W, the bound on the squared norm of the weights: every point
    below the line is impossible. Program (13) of [Bi](/mop.md).
    """
    return fsopt.pareto_front(fsopt.load_dataset("wdbc"), (0.3, 1.0, 3.0, 10.0, 30.0)).plot()


def radii():
    """Error and number of features over two radii

    Share of misclassified training samples, and number of selected features, over the radii R+ and R- of
    [Peleg & Meir](/gmeb.md) (no unit): small radii give few features. One compiled model, nine solves.
    """
    return fsopt.radius_path(fsopt.load_dataset("wdbc"), (1.0, 3.0, 10.0)).plot()


def penalty():
    """What a penalty weight on features buys

    Number of features (circles, left axis) and training accuracy in percent (crosses, right axis) against the penalty
    weight lambda (logarithmic, no unit) of `fsv`: between 0.02 and 0.1 half of the features cost no accuracy.
    Program (21) of [Mangasarian](/sla.md).
    """
    from fsopt.common.figures import ORANGE, new_figure

    data, weights = fsopt.load_dataset("wdbc"), [0.005, 0.01, 0.02, 0.05, 0.1, 0.2]
    fits = [fsopt.fit("fsv", data, lam=weight) for weight in weights]
    figure = new_figure(1)
    axes = figure.axes[0]
    axes.semilogx(weights, [len(fit.support) for fit in fits], marker="o")
    axes.set(xlabel="penalty weight lambda", ylabel="features (circles)")
    other = axes.twinx()
    other.semilogx(weights, [100 * fit.scores(data)["accuracy"] for fit in fits], "--", marker="x", color=ORANGE)
    other.set_ylabel("training accuracy, % (crosses)")
    return figure


def worst_case():
    """The price of a required worst-case accuracy

    Number of features (left) and 1-norm of the weights (right, in standardised units) against the worst-case accuracy
    delta that `l1-mpm` guarantees for every distribution with the moments of the data. The dotted line is the largest
    feasible delta, `alpha*` = 0.775. Program (12)-(15) of [Yang & Ju](/mpm.md).
    """
    from fsopt.common.figures import new_figure

    data, deltas = fsopt.load_dataset("wdbc"), [0.3, 0.5, 0.6, 0.7, 0.74, 0.76, 0.77]
    fits = [fsopt.fit("l1-mpm", data, delta=delta) for delta in deltas]
    figure = new_figure(2)
    for axes, values, label in zip(
        figure.axes,
        ([len(fit.support) for fit in fits], [fit.objective for fit in fits]),
        ("features", "1-norm of the weights"),
        strict=True,
    ):
        axes.plot(deltas, values, marker="o")
        axes.axvline(fits[0].details["alpha_limit"], linestyle=":", color="grey")
        axes.set(xlabel="required worst-case accuracy delta", ylabel=label)
    return figure


def needed():
    """Which features the optimum needs

    Objective value (no unit) above the optimum of two features: without a feature (to the right), and with it (to the
    left). A long bar to the right is a feature that the best selection needs, one to the left a feature that spoils
    it. `fsopt.necessity`, with lower bounds for both.
    """
    return fsopt.necessity(fsopt.load_dataset("wdbc"), 2).plot()
