"""A small package of a user: a model with a penalty of its own, and the method that fits it."""
