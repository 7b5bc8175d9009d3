"""Problem (15) of Bi by linear programs: the loop, its search, and what proves its bound."""
