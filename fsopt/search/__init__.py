"""Tree searches on one frontier of open nodes: branch and Benders for selections, branch and bound for integers."""
