"""The papers' problems as Pyomo models: one builder in each module, and their registry."""
