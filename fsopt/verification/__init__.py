"""Verification of answers: of fits, of solves, and exactly."""
