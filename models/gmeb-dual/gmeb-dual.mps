* Source:     Pyomo MPS Writer
* Format:     Free MPS
*
NAME gmeb-dual
OBJSENSE
 MAX
ROWS
 N  objective
 E  c_e_expansion(0)_
 E  c_e_expansion(1)_
 E  c_e_expansion(2)_
 E  c_e_expansion(3)_
 E  c_e_balance_
 L  c_u_cone(0)_
 L  c_u_cone(1)_
 L  c_u_cone(2)_
 L  c_u_cone(3)_
COLUMNS
     mu(0) objective 1
     mu(0) c_e_expansion(0)_ 0.84375
     mu(0) c_e_expansion(1)_ 1.328125
     mu(0) c_e_expansion(2)_ 0.328125
     mu(0) c_e_expansion(3)_ -1.296875
     mu(0) c_e_balance_ 1
     mu(1) objective 1
     mu(1) c_e_expansion(0)_ -0.40625
     mu(1) c_e_expansion(1)_ 0.046875
     mu(1) c_e_expansion(2)_ 0.53125
     mu(1) c_e_expansion(3)_ -0.578125
     mu(1) c_e_balance_ -1
     mu(2) objective 1
     mu(2) c_e_expansion(0)_ 0.859375
     mu(2) c_e_expansion(1)_ 0.796875
     mu(2) c_e_expansion(2)_ 0.03125
     mu(2) c_e_expansion(3)_ 0.546875
     mu(2) c_e_balance_ 1
     mu(3) objective 1
     mu(3) c_e_expansion(0)_ 1.234375
     mu(3) c_e_expansion(1)_ 0.65625
     mu(3) c_e_expansion(2)_ 0.484375
     mu(3) c_e_expansion(3)_ -0.59375
     mu(3) c_e_balance_ -1
     mu(4) objective 1
     mu(4) c_e_expansion(0)_ 0.546875
     mu(4) c_e_expansion(1)_ 0.203125
     mu(4) c_e_expansion(2)_ -0.78125
     mu(4) c_e_expansion(3)_ -0.25
     mu(4) c_e_balance_ 1
     mu(5) objective 1
     mu(5) c_e_expansion(0)_ 0.484375
     mu(5) c_e_expansion(1)_ 0.78125
     mu(5) c_e_expansion(2)_ -1.296875
     mu(5) c_e_expansion(3)_ -1
     mu(5) c_e_balance_ -1
     mu(6) objective 1
     mu(6) c_e_expansion(0)_ -2.21875
     mu(6) c_e_expansion(1)_ -1.390625
     mu(6) c_e_expansion(2)_ -0.171875
     mu(6) c_e_expansion(3)_ -0.421875
     mu(6) c_e_balance_ 1
     mu(7) objective 1
     mu(7) c_e_expansion(0)_ 0.28125
     mu(7) c_e_expansion(1)_ 0.28125
     mu(7) c_e_expansion(2)_ -2.125
     mu(7) c_e_expansion(3)_ 1.109375
     mu(7) c_e_balance_ -1
     mu(8) objective 1
     mu(8) c_e_expansion(0)_ 0.125
     mu(8) c_e_expansion(1)_ 2.546875
     mu(8) c_e_expansion(2)_ 0.640625
     mu(8) c_e_expansion(3)_ 0.65625
     mu(8) c_e_balance_ 1
     mu(9) objective 1
     mu(9) c_e_expansion(0)_ 1.015625
     mu(9) c_e_expansion(1)_ 2.140625
     mu(9) c_e_expansion(2)_ -0.171875
     mu(9) c_e_expansion(3)_ -0.109375
     mu(9) c_e_balance_ -1
     mu(10) objective 1
     mu(10) c_e_expansion(0)_ -0.734375
     mu(10) c_e_expansion(1)_ -0.1875
     mu(10) c_e_expansion(2)_ -0.078125
     mu(10) c_e_expansion(3)_ -0.9375
     mu(10) c_e_balance_ 1
     mu(11) objective 1
     mu(11) c_e_expansion(0)_ 0.59375
     mu(11) c_e_expansion(1)_ 0.40625
     mu(11) c_e_expansion(2)_ -0.03125
     mu(11) c_e_expansion(3)_ 0.5
     mu(11) c_e_balance_ -1
     mu(12) objective 1
     mu(12) c_e_expansion(0)_ 1.09375
     mu(12) c_e_expansion(1)_ 1.390625
     mu(12) c_e_expansion(2)_ 0.328125
     mu(12) c_e_expansion(3)_ -0.8125
     mu(12) c_e_balance_ 1
     mu(13) objective 1
     mu(13) c_e_expansion(0)_ -0.234375
     mu(13) c_e_expansion(1)_ 1
     mu(13) c_e_expansion(2)_ -0.875
     mu(13) c_e_expansion(3)_ 1.078125
     mu(13) c_e_balance_ -1
     mu(14) objective 1
     mu(14) c_e_expansion(0)_ 1.421875
     mu(14) c_e_expansion(1)_ 0.484375
     mu(14) c_e_expansion(2)_ -1.25
     mu(14) c_e_expansion(3)_ -0.3125
     mu(14) c_e_balance_ 1
     mu(15) objective 1
     mu(15) c_e_expansion(0)_ 0.453125
     mu(15) c_e_expansion(1)_ 0.234375
     mu(15) c_e_expansion(2)_ 0.984375
     mu(15) c_e_expansion(3)_ 1.109375
     mu(15) c_e_balance_ -1
     mu1 objective -1
     mu_plus objective -3
     mu_minus objective -3
     s(0) c_e_expansion(0)_ -1
     s(1) c_e_expansion(1)_ -1
     s(2) c_e_expansion(2)_ -1
     s(3) c_e_expansion(3)_ -1
RHS
     RHS c_e_expansion(0)_ 0
     RHS c_e_expansion(1)_ 0
     RHS c_e_expansion(2)_ 0
     RHS c_e_expansion(3)_ 0
     RHS c_e_balance_ 0
     RHS c_u_cone(0)_ 0
     RHS c_u_cone(1)_ 0
     RHS c_u_cone(2)_ 0
     RHS c_u_cone(3)_ 0
BOUNDS
 LO BOUND mu(0) 0
 UP BOUND mu(0) 1
 LO BOUND mu(1) 0
 UP BOUND mu(1) 1
 LO BOUND mu(2) 0
 UP BOUND mu(2) 1
 LO BOUND mu(3) 0
 UP BOUND mu(3) 1
 LO BOUND mu(4) 0
 UP BOUND mu(4) 1
 LO BOUND mu(5) 0
 UP BOUND mu(5) 1
 LO BOUND mu(6) 0
 UP BOUND mu(6) 1
 LO BOUND mu(7) 0
 UP BOUND mu(7) 1
 LO BOUND mu(8) 0
 UP BOUND mu(8) 1
 LO BOUND mu(9) 0
 UP BOUND mu(9) 1
 LO BOUND mu(10) 0
 UP BOUND mu(10) 1
 LO BOUND mu(11) 0
 UP BOUND mu(11) 1
 LO BOUND mu(12) 0
 UP BOUND mu(12) 1
 LO BOUND mu(13) 0
 UP BOUND mu(13) 1
 LO BOUND mu(14) 0
 UP BOUND mu(14) 1
 LO BOUND mu(15) 0
 UP BOUND mu(15) 1
 LO BOUND mu1 0
 LO BOUND mu_plus 0
 LO BOUND mu_minus 0
 FR BOUND s(0)
 FR BOUND s(1)
 FR BOUND s(2)
 FR BOUND s(3)
QCMATRIX    c_u_cone(0)_
     mu1 mu_plus -2.611328125
     mu_plus mu1 -2.611328125
     mu1 mu_minus -0.91168212890625
     mu_minus mu1 -0.91168212890625
     s(0) s(0) 1
QCMATRIX    c_u_cone(1)_
     mu1 mu_plus -3.26605224609375
     mu_plus mu1 -3.26605224609375
     mu1 mu_minus -1.73114013671875
     mu_minus mu1 -1.73114013671875
     s(1) s(1) 1
QCMATRIX    c_u_cone(2)_
     mu1 mu_plus -0.70880126953125
     mu_plus mu1 -0.70880126953125
     mu1 mu_minus -2.119873046875
     mu_minus mu1 -2.119873046875
     s(2) s(2) 1
QCMATRIX    c_u_cone(3)_
     mu1 mu_plus -1.07220458984375
     mu_plus mu1 -1.07220458984375
     mu1 mu_minus -1.39312744140625
     mu_minus mu1 -1.39312744140625
     s(3) s(3) 1
ENDATA
