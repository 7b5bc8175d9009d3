"""The claims of saved fits with exact intervals: programs and points from a hyperplane and its multipliers."""
