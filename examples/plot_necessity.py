r"""
Which features the optimum needs
================================

Objective value (no unit) of two of ten features: of the optimum, and for each feature without it, if the optimum
has it, or with it. A value far above the optimum is that of a feature that the best selection needs, or one that spoils
it.
"""

import fsopt

needed = fsopt.necessity(fsopt.load_dataset("wdbc").columns(slice(0, 10)), 2)
print(needed.summary())
figure = needed.plot()
