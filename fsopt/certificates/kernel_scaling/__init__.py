"""Problem (15) of Bi: recognised in the arrays of a program, and bounded from below by cuts, in numpy alone."""
