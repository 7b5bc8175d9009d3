"""Interior points for support vector machines of large data, in numpy, without models."""
