"""The experiments of the five papers: their protocols, tables and figures."""
