"""Models of Yang & Ju: minimax probability machines, classes known by mean and covariance only."""
