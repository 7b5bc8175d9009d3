"""Drivers: loops over solves, one function each, that own their status and bound."""
