* Source:     Pyomo MPS Writer
* Format:     Free MPS
*
NAME fsp-master
OBJSENSE
 MIN
ROWS
 N  objective
 L  c_u_cardinality_
 G  c_l_cuts(1)_
 G  c_l_cuts(2)_
 G  c_l_cuts(3)_
COLUMNS
     sigma(0) c_u_cardinality_ 1
     sigma(0) c_l_cuts(1)_ 0.22439765930175781
     sigma(0) c_l_cuts(2)_ 0.08251953125
     sigma(0) c_l_cuts(3)_ 0.23365020751953125
     sigma(1) c_u_cardinality_ 1
     sigma(1) c_l_cuts(1)_ 0.89759063720703125
     sigma(1) c_l_cuts(2)_ 0.22834014892578125
     sigma(1) c_l_cuts(3)_ 0.62623786926269531
     sigma(2) c_u_cardinality_ 1
     sigma(2) c_l_cuts(1)_ 0.093156814575195312
     sigma(2) c_l_cuts(2)_ 0.28125
     sigma(2) c_l_cuts(3)_ 0.0053577423095703125
     sigma(3) c_u_cardinality_ 1
     sigma(3) c_l_cuts(1)_ 0.013458251953125
     sigma(3) c_l_cuts(2)_ 0.19287872314453125
     sigma(3) c_l_cuts(3)_ 0.01831817626953125
     theta objective 1
     theta c_l_cuts(1)_ 1
     theta c_l_cuts(2)_ 1
     theta c_l_cuts(3)_ 1
RHS
     RHS c_u_cardinality_ 2
     RHS c_l_cuts(1)_ 2
     RHS c_l_cuts(2)_ 2
     RHS c_l_cuts(3)_ 1.5
BOUNDS
 BV BOUND sigma(0)
 BV BOUND sigma(1)
 BV BOUND sigma(2)
 BV BOUND sigma(3)
 LO BOUND theta 0
ENDATA
