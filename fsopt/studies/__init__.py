"""Studies: methods side by side under cross-validation, tuning, paths and fronts."""
