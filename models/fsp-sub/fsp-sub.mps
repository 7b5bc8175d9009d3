* Source:     Pyomo MPS Writer
* Format:     Free MPS
*
NAME fsp-sub
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
 E  c_e_selection(0)_
 E  c_e_selection(1)_
 E  c_e_selection(2)_
 E  c_e_selection(3)_
COLUMNS
     w(0) c_l_margin(0)_ 0.84375
     w(0) c_l_margin(1)_ -0.40625
     w(0) c_l_margin(2)_ 0.859375
     w(0) c_l_margin(3)_ 1.234375
     w(0) c_l_margin(4)_ 0.546875
     w(0) c_l_margin(5)_ 0.484375
     w(0) c_l_margin(6)_ -2.21875
     w(0) c_l_margin(7)_ 0.28125
     w(0) c_l_margin(8)_ 0.125
     w(0) c_l_margin(9)_ 1.015625
     w(0) c_l_margin(10)_ -0.734375
     w(0) c_l_margin(11)_ 0.59375
     w(0) c_l_margin(12)_ 1.09375
     w(0) c_l_margin(13)_ -0.234375
     w(0) c_l_margin(14)_ 1.421875
     w(0) c_l_margin(15)_ 0.453125
     w(0) c_e_selection(0)_ 1
     w(1) c_l_margin(0)_ 1.328125
     w(1) c_l_margin(1)_ 0.046875
     w(1) c_l_margin(2)_ 0.796875
     w(1) c_l_margin(3)_ 0.65625
     w(1) c_l_margin(4)_ 0.203125
     w(1) c_l_margin(5)_ 0.78125
     w(1) c_l_margin(6)_ -1.390625
     w(1) c_l_margin(7)_ 0.28125
     w(1) c_l_margin(8)_ 2.546875
     w(1) c_l_margin(9)_ 2.140625
     w(1) c_l_margin(10)_ -0.1875
     w(1) c_l_margin(11)_ 0.40625
     w(1) c_l_margin(12)_ 1.390625
     w(1) c_l_margin(13)_ 1
     w(1) c_l_margin(14)_ 0.484375
     w(1) c_l_margin(15)_ 0.234375
     w(1) c_e_selection(1)_ 1
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
     w(2) c_e_selection(2)_ 1
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
     w(3) c_e_selection(3)_ 1
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
     u(0) c_e_selection(0)_ -1
     u(2) c_e_selection(2)_ -1
     u(3) c_e_selection(3)_ -0.5
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
     xi(12) objective 1
     xi(12) c_l_margin(12)_ 1
     xi(13) objective 1
     xi(13) c_l_margin(13)_ 1
     xi(14) objective 1
     xi(14) c_l_margin(14)_ 1
     xi(15) objective 1
     xi(15) c_l_margin(15)_ 1
     u(1) objective 0
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
     RHS c_e_selection(0)_ 0
     RHS c_e_selection(1)_ 0
     RHS c_e_selection(2)_ 0
     RHS c_e_selection(3)_ 0
BOUNDS
 FR BOUND w(0)
 FR BOUND w(1)
 FR BOUND w(2)
 FR BOUND w(3)
 FR BOUND b
 FR BOUND u(0)
 FR BOUND u(1)
 FR BOUND u(2)
 FR BOUND u(3)
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
 LO BOUND xi(12) 0
 LO BOUND xi(13) 0
 LO BOUND xi(14) 0
 LO BOUND xi(15) 0
QUADOBJ
     u(0) u(0) 1
     u(1) u(1) 1
     u(2) u(2) 1
     u(3) u(3) 1
ENDATA
