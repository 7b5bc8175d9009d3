r"""
Methods side by side
====================

Accuracy in cross-validation, in percent, with its standard deviation over the folds. The grey line is what the larger
class alone has; the sentence of the summary says which methods noise does not tell apart from the best.
"""

import fsopt

if __name__ == "__main__":  # the methods run in processes of their own, which read this file
    table = fsopt.compare(fsopt.load_dataset("wdbc"), methods=["gmeb", "l1-mpm", "fsv", "l1-svm", "pearson"], folds=3)
    print(table.summary())
    figure = table.plot()
