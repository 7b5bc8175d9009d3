* Source:     Pyomo MPS Writer
* Format:     Free MPS
*
NAME gmeb-hard-margin
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
 G  c_l_margin(12)_
 G  c_l_margin(13)_
 G  c_l_margin(14)_
 G  c_l_margin(15)_
 L  c_u_perspective(0)_
 L  c_u_perspective(1)_
 L  c_u_perspective(2)_
 L  c_u_perspective(3)_
 L  c_u_moment_plus_
 L  c_u_moment_minus_
COLUMNS
     w(0) c_l_margin(0)_ 2.34375
     w(0) c_l_margin(1)_ 1.09375
     w(0) c_l_margin(2)_ 2.359375
     w(0) c_l_margin(3)_ 2.734375
     w(0) c_l_margin(4)_ 2.046875
     w(0) c_l_margin(5)_ 1.984375
     w(0) c_l_margin(6)_ -0.71875
     w(0) c_l_margin(7)_ 1.78125
     w(0) c_l_margin(8)_ 1.625
     w(0) c_l_margin(9)_ 2.515625
     w(0) c_l_margin(10)_ 0.765625
     w(0) c_l_margin(11)_ 2.09375
     w(0) c_l_margin(12)_ 2.59375
     w(0) c_l_margin(13)_ 1.265625
     w(0) c_l_margin(14)_ 2.921875
     w(0) c_l_margin(15)_ 1.953125
     w(1) c_l_margin(0)_ 2.828125
     w(1) c_l_margin(1)_ 1.546875
     w(1) c_l_margin(2)_ 2.296875
     w(1) c_l_margin(3)_ 2.15625
     w(1) c_l_margin(4)_ 1.703125
     w(1) c_l_margin(5)_ 2.28125
     w(1) c_l_margin(6)_ 0.109375
     w(1) c_l_margin(7)_ 1.78125
     w(1) c_l_margin(8)_ 4.046875
     w(1) c_l_margin(9)_ 3.640625
     w(1) c_l_margin(10)_ 1.3125
     w(1) c_l_margin(11)_ 1.90625
     w(1) c_l_margin(12)_ 2.890625
     w(1) c_l_margin(13)_ 2.5
     w(1) c_l_margin(14)_ 1.984375
     w(1) c_l_margin(15)_ 1.734375
     w(2) c_l_margin(0)_ 0.328125
     w(2) c_l_margin(1)_ 0.53125
     w(2) c_l_margin(2)_ 0.03125
     w(2) c_l_margin(3)_ 0.484375
     w(2) c_l_margin(4)_ -0.78125
     w(2) c_l_margin(5)_ -1.296875
     w(2) c_l_margin(6)_ -0.171875
     w(2) c_l_margin(7)_ -2.125
     w(2) c_l_margin(8)_ 0.640625
     w(2) c_l_margin(9)_ -0.171875
     w(2) c_l_margin(10)_ -0.078125
     w(2) c_l_margin(11)_ -0.03125
     w(2) c_l_margin(12)_ 0.328125
     w(2) c_l_margin(13)_ -0.875
     w(2) c_l_margin(14)_ -1.25
     w(2) c_l_margin(15)_ 0.984375
     w(3) c_l_margin(0)_ -1.296875
     w(3) c_l_margin(1)_ -0.578125
     w(3) c_l_margin(2)_ 0.546875
     w(3) c_l_margin(3)_ -0.59375
     w(3) c_l_margin(4)_ -0.25
     w(3) c_l_margin(5)_ -1
     w(3) c_l_margin(6)_ -0.421875
     w(3) c_l_margin(7)_ 1.109375
     w(3) c_l_margin(8)_ 0.65625
     w(3) c_l_margin(9)_ -0.109375
     w(3) c_l_margin(10)_ -0.9375
     w(3) c_l_margin(11)_ 0.5
     w(3) c_l_margin(12)_ -0.8125
     w(3) c_l_margin(13)_ 1.078125
     w(3) c_l_margin(14)_ -0.3125
     w(3) c_l_margin(15)_ 1.109375
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
     b c_l_margin(12)_ 1
     b c_l_margin(13)_ -1
     b c_l_margin(14)_ 1
     b c_l_margin(15)_ -1
     sigma(0) c_u_moment_plus_ 4.2822265625
     sigma(0) c_u_moment_minus_ 3.989044189453125
     sigma(1) c_u_moment_plus_ 5.822479248046875
     sigma(1) c_u_moment_minus_ 5.195648193359375
     sigma(2) c_u_moment_plus_ 0.354400634765625
     sigma(2) c_u_moment_minus_ 1.0599365234375
     sigma(3) c_u_moment_plus_ 0.536102294921875
     sigma(3) c_u_moment_minus_ 0.696563720703125
     t(0) objective 1
     t(1) objective 1
     t(2) objective 1
     t(3) objective 1
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
     RHS c_l_margin(12)_ 1
     RHS c_l_margin(13)_ 1
     RHS c_l_margin(14)_ 1
     RHS c_l_margin(15)_ 1
     RHS c_u_perspective(0)_ 0
     RHS c_u_perspective(1)_ 0
     RHS c_u_perspective(2)_ 0
     RHS c_u_perspective(3)_ 0
     RHS c_u_moment_plus_ 3
     RHS c_u_moment_minus_ 3
BOUNDS
 FR BOUND w(0)
 FR BOUND w(1)
 FR BOUND w(2)
 FR BOUND w(3)
 FR BOUND b
 LO BOUND sigma(0) 0
 LO BOUND sigma(1) 0
 LO BOUND sigma(2) 0
 LO BOUND sigma(3) 0
 LO BOUND t(0) 0
 LO BOUND t(1) 0
 LO BOUND t(2) 0
 LO BOUND t(3) 0
QCMATRIX    c_u_perspective(0)_
     w(0) w(0) 1
     sigma(0) t(0) -0.5
     t(0) sigma(0) -0.5
QCMATRIX    c_u_perspective(1)_
     w(1) w(1) 1
     sigma(1) t(1) -0.5
     t(1) sigma(1) -0.5
QCMATRIX    c_u_perspective(2)_
     w(2) w(2) 1
     sigma(2) t(2) -0.5
     t(2) sigma(2) -0.5
QCMATRIX    c_u_perspective(3)_
     w(3) w(3) 1
     sigma(3) t(3) -0.5
     t(3) sigma(3) -0.5
ENDATA
