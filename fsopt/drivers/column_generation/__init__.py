"""Column and constraint generation for l1-hinge programs: the driver, its steps, SLA by it, bounds for all data."""
