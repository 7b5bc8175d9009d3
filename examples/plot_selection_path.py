r"""
The best selection for every number of features
===============================================

Smallest objective value of a support vector machine (no unit) against the number of features, on ten features of the
Wisconsin breast cancer data at C = 1. Where the lower bound meets the value, no other selection of that size is better.
Programs: :doc:`Aytug </gbd>`.
"""

import fsopt

path = fsopt.selection_path(fsopt.load_dataset("wdbc").columns(slice(0, 10)), m=[1, 2, 3, 4, 5], tolerance=1e-3)
print(path.objective, path.bound)
figure = path.plot()
