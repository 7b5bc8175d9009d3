"""Models of Peleg & Meir: feature selection by minimising a generalization error bound (GMEB)."""
