* Source:     Pyomo MPS Writer
* Format:     Free MPS
*
NAME fsv-exact
OBJSENSE
 MIN
ROWS
 N  objective
 G  c_l_errors_a(0)_
 G  c_l_errors_a(1)_
 G  c_l_errors_a(2)_
 G  c_l_errors_a(3)_
 G  c_l_errors_a(4)_
 G  c_l_errors_a(5)_
 G  c_l_errors_a(6)_
 G  c_l_errors_a(7)_
 G  c_l_errors_b(0)_
 G  c_l_errors_b(1)_
 G  c_l_errors_b(2)_
 G  c_l_errors_b(3)_
 G  c_l_errors_b(4)_
 G  c_l_errors_b(5)_
 G  c_l_errors_b(6)_
 G  c_l_errors_b(7)_
 L  c_u_above(0)_
 L  c_u_above(1)_
 L  c_u_above(2)_
 L  c_u_above(3)_
 G  c_l_below(0)_
 G  c_l_below(1)_
 G  c_l_below(2)_
 G  c_l_below(3)_
COLUMNS
     w(0) c_l_errors_a(0)_ 0.84375
     w(0) c_l_errors_a(1)_ 0.859375
     w(0) c_l_errors_a(2)_ 0.546875
     w(0) c_l_errors_a(3)_ -2.21875
     w(0) c_l_errors_a(4)_ 0.125
     w(0) c_l_errors_a(5)_ -0.734375
     w(0) c_l_errors_a(6)_ 1.09375
     w(0) c_l_errors_a(7)_ 1.421875
     w(0) c_l_errors_b(0)_ -0.40625
     w(0) c_l_errors_b(1)_ 1.234375
     w(0) c_l_errors_b(2)_ 0.484375
     w(0) c_l_errors_b(3)_ 0.28125
     w(0) c_l_errors_b(4)_ 1.015625
     w(0) c_l_errors_b(5)_ 0.59375
     w(0) c_l_errors_b(6)_ -0.234375
     w(0) c_l_errors_b(7)_ 0.453125
     w(0) c_u_above(0)_ 1
     w(0) c_l_below(0)_ 1
     w(1) c_l_errors_a(0)_ 1.328125
     w(1) c_l_errors_a(1)_ 0.796875
     w(1) c_l_errors_a(2)_ 0.203125
     w(1) c_l_errors_a(3)_ -1.390625
     w(1) c_l_errors_a(4)_ 2.546875
     w(1) c_l_errors_a(5)_ -0.1875
     w(1) c_l_errors_a(6)_ 1.390625
     w(1) c_l_errors_a(7)_ 0.484375
     w(1) c_l_errors_b(0)_ 0.046875
     w(1) c_l_errors_b(1)_ 0.65625
     w(1) c_l_errors_b(2)_ 0.78125
     w(1) c_l_errors_b(3)_ 0.28125
     w(1) c_l_errors_b(4)_ 2.140625
     w(1) c_l_errors_b(5)_ 0.40625
     w(1) c_l_errors_b(6)_ 1
     w(1) c_l_errors_b(7)_ 0.234375
     w(1) c_u_above(1)_ 1
     w(1) c_l_below(1)_ 1
     w(2) c_l_errors_a(0)_ 0.328125
     w(2) c_l_errors_a(1)_ 0.03125
     w(2) c_l_errors_a(2)_ -0.78125
     w(2) c_l_errors_a(3)_ -0.171875
     w(2) c_l_errors_a(4)_ 0.640625
     w(2) c_l_errors_a(5)_ -0.078125
     w(2) c_l_errors_a(6)_ 0.328125
     w(2) c_l_errors_a(7)_ -1.25
     w(2) c_l_errors_b(0)_ 0.53125
     w(2) c_l_errors_b(1)_ 0.484375
     w(2) c_l_errors_b(2)_ -1.296875
     w(2) c_l_errors_b(3)_ -2.125
     w(2) c_l_errors_b(4)_ -0.171875
     w(2) c_l_errors_b(5)_ -0.03125
     w(2) c_l_errors_b(6)_ -0.875
     w(2) c_l_errors_b(7)_ 0.984375
     w(2) c_u_above(2)_ 1
     w(2) c_l_below(2)_ 1
     w(3) c_l_errors_a(0)_ -1.296875
     w(3) c_l_errors_a(1)_ 0.546875
     w(3) c_l_errors_a(2)_ -0.25
     w(3) c_l_errors_a(3)_ -0.421875
     w(3) c_l_errors_a(4)_ 0.65625
     w(3) c_l_errors_a(5)_ -0.9375
     w(3) c_l_errors_a(6)_ -0.8125
     w(3) c_l_errors_a(7)_ -0.3125
     w(3) c_l_errors_b(0)_ -0.578125
     w(3) c_l_errors_b(1)_ -0.59375
     w(3) c_l_errors_b(2)_ -1
     w(3) c_l_errors_b(3)_ 1.109375
     w(3) c_l_errors_b(4)_ -0.109375
     w(3) c_l_errors_b(5)_ 0.5
     w(3) c_l_errors_b(6)_ 1.078125
     w(3) c_l_errors_b(7)_ 1.109375
     w(3) c_u_above(3)_ 1
     w(3) c_l_below(3)_ 1
     gamma c_l_errors_a(0)_ -1
     gamma c_l_errors_a(1)_ -1
     gamma c_l_errors_a(2)_ -1
     gamma c_l_errors_a(3)_ -1
     gamma c_l_errors_a(4)_ -1
     gamma c_l_errors_a(5)_ -1
     gamma c_l_errors_a(6)_ -1
     gamma c_l_errors_a(7)_ -1
     gamma c_l_errors_b(0)_ 1
     gamma c_l_errors_b(1)_ 1
     gamma c_l_errors_b(2)_ 1
     gamma c_l_errors_b(3)_ 1
     gamma c_l_errors_b(4)_ 1
     gamma c_l_errors_b(5)_ 1
     gamma c_l_errors_b(6)_ 1
     gamma c_l_errors_b(7)_ 1
     y(0) objective 0.11874999999999999
     y(0) c_l_errors_a(0)_ 1
     y(1) objective 0.11874999999999999
     y(1) c_l_errors_a(1)_ 1
     y(2) objective 0.11874999999999999
     y(2) c_l_errors_a(2)_ 1
     y(3) objective 0.11874999999999999
     y(3) c_l_errors_a(3)_ 1
     y(4) objective 0.11874999999999999
     y(4) c_l_errors_a(4)_ 1
     y(5) objective 0.11874999999999999
     y(5) c_l_errors_a(5)_ 1
     y(6) objective 0.11874999999999999
     y(6) c_l_errors_a(6)_ 1
     y(7) objective 0.11874999999999999
     y(7) c_l_errors_a(7)_ 1
     z(0) objective 0.11874999999999999
     z(0) c_l_errors_b(0)_ 1
     z(1) objective 0.11874999999999999
     z(1) c_l_errors_b(1)_ 1
     z(2) objective 0.11874999999999999
     z(2) c_l_errors_b(2)_ 1
     z(3) objective 0.11874999999999999
     z(3) c_l_errors_b(3)_ 1
     z(4) objective 0.11874999999999999
     z(4) c_l_errors_b(4)_ 1
     z(5) objective 0.11874999999999999
     z(5) c_l_errors_b(5)_ 1
     z(6) objective 0.11874999999999999
     z(6) c_l_errors_b(6)_ 1
     z(7) objective 0.11874999999999999
     z(7) c_l_errors_b(7)_ 1
     t(0) objective 0.050000000000000003
     t(0) c_u_above(0)_ -10000
     t(0) c_l_below(0)_ 10000
     t(1) objective 0.050000000000000003
     t(1) c_u_above(1)_ -10000
     t(1) c_l_below(1)_ 10000
     t(2) objective 0.050000000000000003
     t(2) c_u_above(2)_ -10000
     t(2) c_l_below(2)_ 10000
     t(3) objective 0.050000000000000003
     t(3) c_u_above(3)_ -10000
     t(3) c_l_below(3)_ 10000
RHS
     RHS c_l_errors_a(0)_ 1
     RHS c_l_errors_a(1)_ 1
     RHS c_l_errors_a(2)_ 1
     RHS c_l_errors_a(3)_ 1
     RHS c_l_errors_a(4)_ 1
     RHS c_l_errors_a(5)_ 1
     RHS c_l_errors_a(6)_ 1
     RHS c_l_errors_a(7)_ 1
     RHS c_l_errors_b(0)_ 1
     RHS c_l_errors_b(1)_ 1
     RHS c_l_errors_b(2)_ 1
     RHS c_l_errors_b(3)_ 1
     RHS c_l_errors_b(4)_ 1
     RHS c_l_errors_b(5)_ 1
     RHS c_l_errors_b(6)_ 1
     RHS c_l_errors_b(7)_ 1
     RHS c_u_above(0)_ 0
     RHS c_u_above(1)_ 0
     RHS c_u_above(2)_ 0
     RHS c_u_above(3)_ 0
     RHS c_l_below(0)_ 0
     RHS c_l_below(1)_ 0
     RHS c_l_below(2)_ 0
     RHS c_l_below(3)_ 0
BOUNDS
 FR BOUND w(0)
 FR BOUND w(1)
 FR BOUND w(2)
 FR BOUND w(3)
 FR BOUND gamma
 LO BOUND y(0) 0
 LO BOUND y(1) 0
 LO BOUND y(2) 0
 LO BOUND y(3) 0
 LO BOUND y(4) 0
 LO BOUND y(5) 0
 LO BOUND y(6) 0
 LO BOUND y(7) 0
 LO BOUND z(0) 0
 LO BOUND z(1) 0
 LO BOUND z(2) 0
 LO BOUND z(3) 0
 LO BOUND z(4) 0
 LO BOUND z(5) 0
 LO BOUND z(6) 0
 LO BOUND z(7) 0
 BV BOUND t(0)
 BV BOUND t(1)
 BV BOUND t(2)
 BV BOUND t(3)
ENDATA
