"""Problem (15) of Bi, and its lower bounds by cuts, in numpy alone."""
