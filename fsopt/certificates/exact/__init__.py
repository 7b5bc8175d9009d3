"""Claims that are verified exactly: every number of a proof is rational, and no tolerance decides anything."""
