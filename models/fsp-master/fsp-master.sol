fsp-master: optimum 1.49040985107 by highs

Options
3
0
1
0
4
0
5
5
1.49040985107
0.0
1.0
1.0
0.0
objno 0 0
