"""Branch and bound over convex relaxations, whose tree is evidence."""
