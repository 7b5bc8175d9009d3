* Source:     Pyomo MPS Writer
* Format:     Free MPS
*
NAME gmeb-penalised
OBJSENSE
 MIN
ROWS
 N  objective
 L  c_u_unit_norm_
 E  c_e_product(0)_
 E  c_e_product(1)_
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
 L  c_u_moment_plus_
 L  c_u_moment_minus_
COLUMNS
     u(0) c_e_product(0)_ 1
     u(0) c_l_margin(0)_ 0.84375
     u(0) c_l_margin(1)_ 0.171875
     u(0) c_l_margin(2)_ 1.40625
     u(0) c_l_margin(3)_ 1.03125
     u(0) c_l_margin(4)_ 0.859375
     u(0) c_l_margin(5)_ 0.46875
     u(0) c_l_margin(6)_ -0.234375
     u(0) c_l_margin(7)_ 0.984375
     u(0) c_l_margin(8)_ 0.546875
     u(0) c_l_margin(9)_ 1.28125
     u(0) c_l_margin(10)_ 0.515625
     u(0) c_l_margin(11)_ -0.796875
     u(1) c_e_product(1)_ 1
     u(1) c_l_margin(0)_ 1.328125
     u(1) c_l_margin(1)_ 1.796875
     u(1) c_l_margin(2)_ 0.953125
     u(1) c_l_margin(3)_ -0.078125
     u(1) c_l_margin(4)_ 0.796875
     u(1) c_l_margin(5)_ -0.046875
     u(1) c_l_margin(6)_ 0.34375
     u(1) c_l_margin(7)_ -0.09375
     u(1) c_l_margin(8)_ 0.203125
     u(1) c_l_margin(9)_ 0.75
     u(1) c_l_margin(10)_ 0.21875
     u(1) c_l_margin(11)_ -0.5
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
     xi(0) objective 0.083333333333333329
     xi(0) c_l_margin(0)_ 1
     xi(1) objective 0.083333333333333329
     xi(1) c_l_margin(1)_ 1
     xi(2) objective 0.083333333333333329
     xi(2) c_l_margin(2)_ 1
     xi(3) objective 0.083333333333333329
     xi(3) c_l_margin(3)_ 1
     xi(4) objective 0.083333333333333329
     xi(4) c_l_margin(4)_ 1
     xi(5) objective 0.083333333333333329
     xi(5) c_l_margin(5)_ 1
     xi(6) objective 0.083333333333333329
     xi(6) c_l_margin(6)_ 1
     xi(7) objective 0.083333333333333329
     xi(7) c_l_margin(7)_ 1
     xi(8) objective 0.083333333333333329
     xi(8) c_l_margin(8)_ 1
     xi(9) objective 0.083333333333333329
     xi(9) c_l_margin(9)_ 1
     xi(10) objective 0.083333333333333329
     xi(10) c_l_margin(10)_ 1
     xi(11) objective 0.083333333333333329
     xi(11) c_l_margin(11)_ 1
     t_plus objective 0.05103103630798287
     t_minus objective 0.05103103630798287
     w(0) objective 0
     w(1) objective 0
     sigma(0) objective 0
     sigma(1) objective 0
RHS
     RHS c_u_unit_norm_ 1
     RHS c_e_product(0)_ 0
     RHS c_e_product(1)_ 0
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
     RHS c_u_moment_plus_ 0
     RHS c_u_moment_minus_ 0
BOUNDS
 FR BOUND w(0)
 FR BOUND w(1)
 LO BOUND sigma(0) 0
 LO BOUND sigma(1) 0
 FR BOUND u(0)
 FR BOUND u(1)
 FR BOUND b
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
 LO BOUND t_plus 0
 LO BOUND t_minus 0
QCMATRIX    c_u_unit_norm_
     w(0) w(0) 1
     w(1) w(1) 1
QCMATRIX    c_e_product(0)_
     w(0) sigma(0) -0.5
     sigma(0) w(0) -0.5
QCMATRIX    c_e_product(1)_
     w(1) sigma(1) -0.5
     sigma(1) w(1) -0.5
QCMATRIX    c_u_moment_plus_
     sigma(0) sigma(0) 0.67464192708333337
     sigma(1) sigma(1) 0.58577473958333337
     t_plus t_plus -1
QCMATRIX    c_u_moment_minus_
     sigma(0) sigma(0) 0.75972493489583337
     sigma(1) sigma(1) 0.6763916015625
     t_minus t_minus -1
ENDATA
