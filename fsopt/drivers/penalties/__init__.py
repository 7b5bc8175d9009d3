"""Approximations of the number of nonzeros of w, each as a difference of convex functions for DCA."""
