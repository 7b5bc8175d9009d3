"""Column and constraint generation for l1-hinge programs: the loop, SLA on it, and the bound for all data."""
