"""Models of Mangasarian: concave minimisation over polyhedra, by successive linearisation."""
