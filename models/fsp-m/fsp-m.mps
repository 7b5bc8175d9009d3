* Source:     Pyomo MPS Writer
* Format:     Free MPS
*
NAME fsp-m
OBJSENSE
 MIN
ROWS
 N  objective
 G  c_l_margin(0)_
 G  c_l_margin(1)_
 G  c_l_margin(2)_
 G  c_l_margin(3)_
 G  c_l_margin(4)_
 G  c_l_margin(5)_
 G  c_l_margin(6)_
 G  c_l_margin(7)_
 G  c_l_margin(8)_
 G  c_l_margin(9)_
 G  c_l_margin(10)_
 G  c_l_margin(11)_
 E  c_e_product(0)_
 E  c_e_product(1)_
 E  c_e_product(2)_
 L  c_u_cardinality_
COLUMNS
     b c_l_margin(0)_ 1
     b c_l_margin(1)_ -1
     b c_l_margin(2)_ 1
     b c_l_margin(3)_ -1
     b c_l_margin(4)_ 1
     b c_l_margin(5)_ -1
     b c_l_margin(6)_ 1
     b c_l_margin(7)_ -1
     b c_l_margin(8)_ 1
     b c_l_margin(9)_ -1
     b c_l_margin(10)_ 1
     b c_l_margin(11)_ -1
     sigma(0) c_u_cardinality_ 1
     sigma(1) c_u_cardinality_ 1
     sigma(2) c_u_cardinality_ 1
     v(0) c_l_margin(0)_ 0.84375
     v(0) c_l_margin(1)_ 1.796875
     v(0) c_l_margin(2)_ -0.03125
     v(0) c_l_margin(3)_ 0.203125
     v(0) c_l_margin(4)_ -0.234375
     v(0) c_l_margin(5)_ -0.09375
     v(0) c_l_margin(6)_ -0.28125
     v(0) c_l_margin(7)_ 0.78125
     v(0) c_l_margin(8)_ -2.21875
     v(0) c_l_margin(9)_ 0.921875
     v(0) c_l_margin(10)_ 2.625
     v(0) c_l_margin(11)_ -1.546875
     v(0) c_e_product(0)_ 1
     v(1) c_l_margin(0)_ 1.328125
     v(1) c_l_margin(1)_ -0.40625
     v(1) c_l_margin(2)_ 1.078125
     v(1) c_l_margin(3)_ 0.46875
     v(1) c_l_margin(4)_ 0.34375
     v(1) c_l_margin(5)_ 0.453125
     v(1) c_l_margin(6)_ 0.25
     v(1) c_l_margin(7)_ -0.796875
     v(1) c_l_margin(8)_ -1.390625
     v(1) c_l_margin(9)_ 0.28125
     v(1) c_l_margin(10)_ -0.609375
     v(1) c_l_margin(11)_ -0.140625
     v(1) c_e_product(1)_ 1
     v(2) c_l_margin(0)_ 0.328125
     v(2) c_l_margin(1)_ -0.453125
     v(2) c_l_margin(2)_ 0.359375
     v(2) c_l_margin(3)_ -0.546875
     v(2) c_l_margin(4)_ -0.484375
     v(2) c_l_margin(5)_ 0.296875
     v(2) c_l_margin(6)_ 0.015625
     v(2) c_l_margin(7)_ -1
     v(2) c_l_margin(8)_ -0.171875
     v(2) c_l_margin(9)_ -0.21875
     v(2) c_l_margin(10)_ -0.375
     v(2) c_l_margin(11)_ -0.65625
     v(2) c_e_product(2)_ 1
     xi(0) objective 1
     xi(0) c_l_margin(0)_ 1
     xi(1) objective 1
     xi(1) c_l_margin(1)_ 1
     xi(2) objective 1
     xi(2) c_l_margin(2)_ 1
     xi(3) objective 1
     xi(3) c_l_margin(3)_ 1
     xi(4) objective 1
     xi(4) c_l_margin(4)_ 1
     xi(5) objective 1
     xi(5) c_l_margin(5)_ 1
     xi(6) objective 1
     xi(6) c_l_margin(6)_ 1
     xi(7) objective 1
     xi(7) c_l_margin(7)_ 1
     xi(8) objective 1
     xi(8) c_l_margin(8)_ 1
     xi(9) objective 1
     xi(9) c_l_margin(9)_ 1
     xi(10) objective 1
     xi(10) c_l_margin(10)_ 1
     xi(11) objective 1
     xi(11) c_l_margin(11)_ 1
     w(0) objective 0
     w(1) objective 0
     w(2) objective 0
RHS
     RHS c_l_margin(0)_ 1
     RHS c_l_margin(1)_ 1
     RHS c_l_margin(2)_ 1
     RHS c_l_margin(3)_ 1
     RHS c_l_margin(4)_ 1
     RHS c_l_margin(5)_ 1
     RHS c_l_margin(6)_ 1
     RHS c_l_margin(7)_ 1
     RHS c_l_margin(8)_ 1
     RHS c_l_margin(9)_ 1
     RHS c_l_margin(10)_ 1
     RHS c_l_margin(11)_ 1
     RHS c_e_product(0)_ 0
     RHS c_e_product(1)_ 0
     RHS c_e_product(2)_ 0
     RHS c_u_cardinality_ 2
BOUNDS
 LO BOUND w(0) -3.4641016151377544
 UP BOUND w(0) 3.4641016151377544
 LO BOUND w(1) -3.4641016151377544
 UP BOUND w(1) 3.4641016151377544
 LO BOUND w(2) -3.4641016151377544
 UP BOUND w(2) 3.4641016151377544
 FR BOUND b
 BV BOUND sigma(0)
 BV BOUND sigma(1)
 BV BOUND sigma(2)
 LO BOUND v(0) -3.4641016151377544
 UP BOUND v(0) 3.4641016151377544
 LO BOUND v(1) -3.4641016151377544
 UP BOUND v(1) 3.4641016151377544
 LO BOUND v(2) -3.4641016151377544
 UP BOUND v(2) 3.4641016151377544
 LO BOUND xi(0) 0
 LO BOUND xi(1) 0
 LO BOUND xi(2) 0
 LO BOUND xi(3) 0
 LO BOUND xi(4) 0
 LO BOUND xi(5) 0
 LO BOUND xi(6) 0
 LO BOUND xi(7) 0
 LO BOUND xi(8) 0
 LO BOUND xi(9) 0
 LO BOUND xi(10) 0
 LO BOUND xi(11) 0
QUADOBJ
     w(0) v(0) 0.5
     w(1) v(1) 0.5
     w(2) v(2) 0.5
QCMATRIX    c_e_product(0)_
     w(0) sigma(0) -0.5
     sigma(0) w(0) -0.5
QCMATRIX    c_e_product(1)_
     w(1) sigma(1) -0.5
     sigma(1) w(1) -0.5
QCMATRIX    c_e_product(2)_
     w(2) sigma(2) -0.5
     sigma(2) w(2) -0.5
ENDATA
