"""Studies of methods on data: comparison under cross-validation, tuning, solution paths and Pareto fronts."""
