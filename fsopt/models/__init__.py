"""The papers' problems as Pyomo models: one builder each, and their registry."""
