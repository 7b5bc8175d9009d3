r"""
The front of loss and capacity
==============================

Minimum hinge loss (no unit) against the capacity W, the bound on the squared norm of the weights: every point below the
line is impossible. Program (13) of :doc:`Bi </mop>`.
"""

import fsopt

front = fsopt.pareto_front(fsopt.load_dataset("wdbc"), (0.3, 1.0, 3.0, 10.0, 30.0))
print(front.summary())
figure = front.plot()
