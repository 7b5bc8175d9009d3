"""Model files: readers and writers of their formats, and readers of solution files of other software."""
