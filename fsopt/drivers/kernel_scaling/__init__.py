"""Kernel scaling, problem (15) of Bi: the driver, the linear programs behind it, the certificates of its answers."""
