r"""
Other selections that are as good
=================================

All selections of two features whose objective value is within 10 % of the optimum, and the features of each.
"""

import fsopt

others = fsopt.alternatives(fsopt.load_dataset("wdbc"), 2, within=0.1)
print(others.summary())
figure = others.plot()
