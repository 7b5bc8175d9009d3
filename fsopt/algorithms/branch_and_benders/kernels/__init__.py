"""Parts of the search that numba compiles where it is installed; each has a twin in numpy, which the tests compare."""
