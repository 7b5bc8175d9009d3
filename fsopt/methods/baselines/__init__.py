"""Baselines: methods of other authors, with which the five papers compare theirs."""
