"""Models of Yang & Ju: minimax probability machines (MPM), which know each class by its mean and covariance only."""
