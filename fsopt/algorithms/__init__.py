"""Algorithms that call no solver: branch and Benders, interior points, warm support vector machines, elimination."""
