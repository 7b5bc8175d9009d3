"""Experiments: methods side by side under cross-validation."""
