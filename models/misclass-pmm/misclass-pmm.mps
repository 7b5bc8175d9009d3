* Source:     Pyomo MPS Writer
* Format:     Free MPS
*
NAME misclass-pmm
OBJSENSE
 MIN
ROWS
 N  objective
 G  c_l_errors_a(0)_
 G  c_l_errors_a(1)_
 G  c_l_errors_a(2)_
 G  c_l_errors_a(3)_
 G  c_l_errors_a(4)_
 G  c_l_errors_b(0)_
 G  c_l_errors_b(1)_
 G  c_l_errors_b(2)_
 G  c_l_errors_b(3)_
 G  c_l_errors_b(4)_
 E  c_e_left_out_
 L  c_u_kept_a(0)_
 L  c_u_kept_a(1)_
 L  c_u_kept_a(2)_
 L  c_u_kept_a(3)_
 L  c_u_kept_a(4)_
 L  c_u_kept_b(0)_
 L  c_u_kept_b(1)_
 L  c_u_kept_b(2)_
 L  c_u_kept_b(3)_
 L  c_u_kept_b(4)_
COLUMNS
     w(0) c_l_errors_a(0)_ 0.59375
     w(0) c_l_errors_a(1)_ 0.578125
     w(0) c_l_errors_a(2)_ 1.15625
     w(0) c_l_errors_a(3)_ -0.28125
     w(0) c_l_errors_a(4)_ 0.609375
     w(0) c_l_errors_b(0)_ -0.578125
     w(0) c_l_errors_b(1)_ 1.546875
     w(0) c_l_errors_b(2)_ -0.203125
     w(0) c_l_errors_b(3)_ -0.328125
     w(0) c_l_errors_b(4)_ -0.046875
     gamma c_l_errors_a(0)_ -1
     gamma c_l_errors_a(1)_ -1
     gamma c_l_errors_a(2)_ -1
     gamma c_l_errors_a(3)_ -1
     gamma c_l_errors_a(4)_ -1
     gamma c_l_errors_b(0)_ 1
     gamma c_l_errors_b(1)_ 1
     gamma c_l_errors_b(2)_ 1
     gamma c_l_errors_b(3)_ 1
     gamma c_l_errors_b(4)_ 1
     y(0) c_l_errors_a(0)_ 1
     y(0) c_u_kept_a(0)_ 1
     y(1) c_l_errors_a(1)_ 1
     y(1) c_u_kept_a(1)_ 1
     y(2) c_l_errors_a(2)_ 1
     y(2) c_u_kept_a(2)_ 1
     y(3) c_l_errors_a(3)_ 1
     y(3) c_u_kept_a(3)_ 1
     y(4) c_l_errors_a(4)_ 1
     y(4) c_u_kept_a(4)_ 1
     z(0) c_l_errors_b(0)_ 1
     z(0) c_u_kept_b(0)_ 1
     z(1) c_l_errors_b(1)_ 1
     z(1) c_u_kept_b(1)_ 1
     z(2) c_l_errors_b(2)_ 1
     z(2) c_u_kept_b(2)_ 1
     z(3) c_l_errors_b(3)_ 1
     z(3) c_u_kept_b(3)_ 1
     z(4) c_l_errors_b(4)_ 1
     z(4) c_u_kept_b(4)_ 1
     r(0) c_e_left_out_ 1
     r(1) c_e_left_out_ 1
     r(2) c_e_left_out_ 1
     r(3) c_e_left_out_ 1
     r(4) c_e_left_out_ 1
     s(0) c_e_left_out_ 1
     s(1) c_e_left_out_ 1
     s(2) c_e_left_out_ 1
     s(3) c_e_left_out_ 1
     s(4) c_e_left_out_ 1
     c(0) objective 1
     c(0) c_u_kept_a(0)_ -1
     c(1) objective 1
     c(1) c_u_kept_a(1)_ -1
     c(2) objective 1
     c(2) c_u_kept_a(2)_ -1
     c(3) objective 1
     c(3) c_u_kept_a(3)_ -1
     c(4) objective 1
     c(4) c_u_kept_a(4)_ -1
     d(0) objective 1
     d(0) c_u_kept_b(0)_ -1
     d(1) objective 1
     d(1) c_u_kept_b(1)_ -1
     d(2) objective 1
     d(2) c_u_kept_b(2)_ -1
     d(3) objective 1
     d(3) c_u_kept_b(3)_ -1
     d(4) objective 1
     d(4) c_u_kept_b(4)_ -1
RHS
     RHS c_l_errors_a(0)_ 1
     RHS c_l_errors_a(1)_ 1
     RHS c_l_errors_a(2)_ 1
     RHS c_l_errors_a(3)_ 1
     RHS c_l_errors_a(4)_ 1
     RHS c_l_errors_b(0)_ 1
     RHS c_l_errors_b(1)_ 1
     RHS c_l_errors_b(2)_ 1
     RHS c_l_errors_b(3)_ 1
     RHS c_l_errors_b(4)_ 1
     RHS c_e_left_out_ 1
     RHS c_u_kept_a(0)_ 0
     RHS c_u_kept_a(1)_ 0
     RHS c_u_kept_a(2)_ 0
     RHS c_u_kept_a(3)_ 0
     RHS c_u_kept_a(4)_ 0
     RHS c_u_kept_b(0)_ 0
     RHS c_u_kept_b(1)_ 0
     RHS c_u_kept_b(2)_ 0
     RHS c_u_kept_b(3)_ 0
     RHS c_u_kept_b(4)_ 0
BOUNDS
 FR BOUND w(0)
 FR BOUND gamma
 LO BOUND y(0) 0
 LO BOUND y(1) 0
 LO BOUND y(2) 0
 LO BOUND y(3) 0
 LO BOUND y(4) 0
 LO BOUND z(0) 0
 LO BOUND z(1) 0
 LO BOUND z(2) 0
 LO BOUND z(3) 0
 LO BOUND z(4) 0
 LO BOUND r(0) 0
 UP BOUND r(0) 1
 LO BOUND r(1) 0
 UP BOUND r(1) 1
 LO BOUND r(2) 0
 UP BOUND r(2) 1
 LO BOUND r(3) 0
 UP BOUND r(3) 1
 LO BOUND r(4) 0
 UP BOUND r(4) 1
 LO BOUND s(0) 0
 UP BOUND s(0) 1
 LO BOUND s(1) 0
 UP BOUND s(1) 1
 LO BOUND s(2) 0
 UP BOUND s(2) 1
 LO BOUND s(3) 0
 UP BOUND s(3) 1
 LO BOUND s(4) 0
 UP BOUND s(4) 1
 LO BOUND c(0) 0
 LO BOUND c(1) 0
 LO BOUND c(2) 0
 LO BOUND c(3) 0
 LO BOUND c(4) 0
 LO BOUND d(0) 0
 LO BOUND d(1) 0
 LO BOUND d(2) 0
 LO BOUND d(3) 0
 LO BOUND d(4) 0
QCMATRIX    c_u_kept_a(0)_
     y(0) r(0) -0.5
     r(0) y(0) -0.5
QCMATRIX    c_u_kept_a(1)_
     y(1) r(1) -0.5
     r(1) y(1) -0.5
QCMATRIX    c_u_kept_a(2)_
     y(2) r(2) -0.5
     r(2) y(2) -0.5
QCMATRIX    c_u_kept_a(3)_
     y(3) r(3) -0.5
     r(3) y(3) -0.5
QCMATRIX    c_u_kept_a(4)_
     y(4) r(4) -0.5
     r(4) y(4) -0.5
QCMATRIX    c_u_kept_b(0)_
     z(0) s(0) -0.5
     s(0) z(0) -0.5
QCMATRIX    c_u_kept_b(1)_
     z(1) s(1) -0.5
     s(1) z(1) -0.5
QCMATRIX    c_u_kept_b(2)_
     z(2) s(2) -0.5
     s(2) z(2) -0.5
QCMATRIX    c_u_kept_b(3)_
     z(3) s(3) -0.5
     s(3) z(3) -0.5
QCMATRIX    c_u_kept_b(4)_
     z(4) s(4) -0.5
     s(4) z(4) -0.5
ENDATA
