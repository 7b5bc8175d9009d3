r"""
What a penalty weight on features buys
======================================

Number of features (circles, left axis) and training accuracy in percent (crosses, right axis) against the penalty
weight lambda (logarithmic, no unit) of :doc:`fsv </methods/fsv>`, program (21) of :doc:`Mangasarian </sla>`.
"""

import matplotlib.pyplot as plt

import fsopt

data = fsopt.load_dataset("wdbc")
weights = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2]
fits = [fsopt.fit("fsv", data, lam=weight) for weight in weights]
for weight, fit in zip(weights, fits, strict=True):
    print(weight, len(fit.support), round(fit.scores(data)["accuracy"], 3))

figure, axes = plt.subplots()
axes.semilogx(weights, [len(fit.support) for fit in fits], marker="o")
axes.set(xlabel="penalty weight lambda", ylabel="features (circles)")
other = axes.twinx()
other.semilogx(weights, [100 * fit.scores(data)["accuracy"] for fit in fits], "--", marker="x", color="#D55E00")
other.set_ylabel("training accuracy, % (crosses)")
