"""From a file or a data frame to a table, and from a table to a data set."""
