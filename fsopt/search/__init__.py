"""The exact search for best subsets: branch and Benders."""
