r"""
Incumbent and lower bound of an exact search
============================================

Objective value (no unit) of the incumbent, and the lower bound, against seconds; the search ends where they meet.
By :doc:`best-subset </methods/best-subset>` with three features.
"""

import fsopt

fit = fsopt.fit("best-subset", fsopt.load_dataset("wdbc"), m=3, tolerance=1e-3)
print(fit.status, fit.objective, fit.bound, fit.features)
figure = fit.plot()
