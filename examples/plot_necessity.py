r"""
Which features the optimum needs
================================

Objective value (no unit) above the optimum of two of ten features: without one of them (to the right), and with it (to
the left). A long bar to the right is a feature that the best selection needs, one to the left a feature that spoils it.
"""

import fsopt

needed = fsopt.necessity(fsopt.load_dataset("wdbc").columns(slice(0, 10)), 2)
print(needed.summary())
figure = needed.plot()
