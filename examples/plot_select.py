r"""
How many features, which, how good, and how sure
================================================

The whole question at once, here with five features: log-loss by number of features, the share of halves of the data
that select each feature, and the calibration of the probabilities. What each rests on:
:doc:`/howto/select-features`.
"""

import fsopt

if __name__ == "__main__":
    answer = fsopt.select(fsopt.load_dataset("wdbc").columns(slice(0, 5)), folds=2)
    print(answer.summary())
    figure = answer.plot()
