"""Writers of model files: Pyomo's own formats, the Conic Benchmark Format and SDPA's sparse format."""
