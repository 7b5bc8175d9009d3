r"""
Features that a required worst-case accuracy costs
==================================================

Number of features (left) and 1-norm of the weights (right, in standardised units) against the worst-case accuracy delta
that :doc:`l1-mpm </methods/l1-mpm>` guarantees for every distribution with the moments of the data. The dotted line is
the largest feasible delta. Program (12)-(15) of :doc:`Yang & Ju </mpm>`.
"""

import matplotlib.pyplot as plt

import fsopt

data = fsopt.load_dataset("wdbc")
deltas = [0.3, 0.5, 0.6, 0.7, 0.74, 0.76, 0.77]
fits = [fsopt.fit("l1-mpm", data, delta=delta) for delta in deltas]
print(dict(zip(deltas, [len(fit.support) for fit in fits], strict=True)))

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
left.plot(deltas, [len(fit.support) for fit in fits], marker="o")
left.set(xlabel="required worst-case accuracy delta", ylabel="features")
right.plot(deltas, [fit.objective for fit in fits], marker="o")
right.set(xlabel="required worst-case accuracy delta", ylabel="1-norm of the weights")
for axes in (left, right):
    axes.axvline(fits[0].details["alpha_limit"], linestyle=":", color="grey")
