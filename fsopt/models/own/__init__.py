"""Models of no paper, one in each module; the registry names them as ``own.<slug with underscores>``."""
