"""The verifier of proof files, by the standard library alone: this folder needs nothing else of the package."""
