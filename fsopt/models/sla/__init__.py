"""Models of Mangasarian: few errors or few features, as concave minimisation over polyhedra."""
