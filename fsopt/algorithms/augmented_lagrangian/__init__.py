"""The method of multipliers for support vector machines of large data: the driver, and its minimisations."""
