"""Concave approximations of the number of nonzeros of w, each a difference of convex functions; one file each."""
