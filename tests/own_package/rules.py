"""Changes of models by a user."""


def at_most_one_of_the_first_three(model):
    """Add a rule on the selection to the master problem."""
    import pyomo.environ as pyo

    model.own_rule = pyo.Constraint(expr=sum(model.sigma[j] for j in range(3)) <= 1, doc="own rule")


def returns_something(model):
    """Return what must not be returned."""
    return model


BOTH = {"fsp-master": at_most_one_of_the_first_three}
