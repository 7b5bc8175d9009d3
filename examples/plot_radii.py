r"""
Error and number of features over two radii
===========================================

Share of misclassified training samples, and number of selected features, over the radii R+ and R- (no unit) of
:doc:`Peleg & Meir </gmeb>`: small radii give few features. One compiled model, nine solves.
"""

import fsopt

path = fsopt.radius_path(fsopt.load_dataset("wdbc"), (1.0, 3.0, 10.0))
print(path.summary())
figure = path.plot()
