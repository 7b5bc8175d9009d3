* Source:     Pyomo MPS Writer
* Format:     Free MPS
*
NAME mmop-convex
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
 L  c_u_capacity_
 L  c_u_ball(0)_
 L  c_u_ball(1)_
 L  c_u_ball(2)_
 L  c_u_ball(3)_
 L  c_u_ball(4)_
 L  c_u_ball(5)_
 L  c_u_ball(6)_
 L  c_u_ball(7)_
 L  c_u_ball(8)_
 L  c_u_ball(9)_
 L  c_u_ball(10)_
 L  c_u_ball(11)_
 L  c_u_ball(12)_
 L  c_u_ball(13)_
 L  c_u_ball(14)_
 L  c_u_ball(15)_
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
     s(0) c_u_ball(0)_ 0.7119140625
     s(0) c_u_ball(1)_ 0.1650390625
     s(0) c_u_ball(2)_ 0.738525390625
     s(0) c_u_ball(3)_ 1.523681640625
     s(0) c_u_ball(4)_ 0.299072265625
     s(0) c_u_ball(5)_ 0.234619140625
     s(0) c_u_ball(6)_ 4.9228515625
     s(0) c_u_ball(7)_ 0.0791015625
     s(0) c_u_ball(8)_ 0.015625
     s(0) c_u_ball(9)_ 1.031494140625
     s(0) c_u_ball(10)_ 0.539306640625
     s(0) c_u_ball(11)_ 0.3525390625
     s(0) c_u_ball(12)_ 1.1962890625
     s(0) c_u_ball(13)_ 0.054931640625
     s(0) c_u_ball(14)_ 2.021728515625
     s(0) c_u_ball(15)_ 0.205322265625
     s(1) c_u_ball(0)_ 1.763916015625
     s(1) c_u_ball(1)_ 0.002197265625
     s(1) c_u_ball(2)_ 0.635009765625
     s(1) c_u_ball(3)_ 0.4306640625
     s(1) c_u_ball(4)_ 0.041259765625
     s(1) c_u_ball(5)_ 0.6103515625
     s(1) c_u_ball(6)_ 1.933837890625
     s(1) c_u_ball(7)_ 0.0791015625
     s(1) c_u_ball(8)_ 6.486572265625
     s(1) c_u_ball(9)_ 4.582275390625
     s(1) c_u_ball(10)_ 0.03515625
     s(1) c_u_ball(11)_ 0.1650390625
     s(1) c_u_ball(12)_ 1.933837890625
     s(1) c_u_ball(13)_ 1
     s(1) c_u_ball(14)_ 0.234619140625
     s(1) c_u_ball(15)_ 0.054931640625
     s(2) c_u_ball(0)_ 0.107666015625
     s(2) c_u_ball(1)_ 0.2822265625
     s(2) c_u_ball(2)_ 0.0009765625
     s(2) c_u_ball(3)_ 0.234619140625
     s(2) c_u_ball(4)_ 0.6103515625
     s(2) c_u_ball(5)_ 1.681884765625
     s(2) c_u_ball(6)_ 0.029541015625
     s(2) c_u_ball(7)_ 4.515625
     s(2) c_u_ball(8)_ 0.410400390625
     s(2) c_u_ball(9)_ 0.029541015625
     s(2) c_u_ball(10)_ 0.006103515625
     s(2) c_u_ball(11)_ 0.0009765625
     s(2) c_u_ball(12)_ 0.107666015625
     s(2) c_u_ball(13)_ 0.765625
     s(2) c_u_ball(14)_ 1.5625
     s(2) c_u_ball(15)_ 0.968994140625
     s(3) c_u_ball(0)_ 1.681884765625
     s(3) c_u_ball(1)_ 0.334228515625
     s(3) c_u_ball(2)_ 0.299072265625
     s(3) c_u_ball(3)_ 0.3525390625
     s(3) c_u_ball(4)_ 0.0625
     s(3) c_u_ball(5)_ 1
     s(3) c_u_ball(6)_ 0.177978515625
     s(3) c_u_ball(7)_ 1.230712890625
     s(3) c_u_ball(8)_ 0.4306640625
     s(3) c_u_ball(9)_ 0.011962890625
     s(3) c_u_ball(10)_ 0.87890625
     s(3) c_u_ball(11)_ 0.25
     s(3) c_u_ball(12)_ 0.66015625
     s(3) c_u_ball(13)_ 1.162353515625
     s(3) c_u_ball(14)_ 0.09765625
     s(3) c_u_ball(15)_ 1.230712890625
     t(0) c_u_capacity_ 1
     t(1) c_u_capacity_ 1
     t(2) c_u_capacity_ 1
     t(3) c_u_capacity_ 1
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
     RHS c_u_capacity_ 1
     RHS c_u_ball(0)_ 1
     RHS c_u_ball(1)_ 1
     RHS c_u_ball(2)_ 1
     RHS c_u_ball(3)_ 1
     RHS c_u_ball(4)_ 1
     RHS c_u_ball(5)_ 1
     RHS c_u_ball(6)_ 1
     RHS c_u_ball(7)_ 1
     RHS c_u_ball(8)_ 1
     RHS c_u_ball(9)_ 1
     RHS c_u_ball(10)_ 1
     RHS c_u_ball(11)_ 1
     RHS c_u_ball(12)_ 1
     RHS c_u_ball(13)_ 1
     RHS c_u_ball(14)_ 1
     RHS c_u_ball(15)_ 1
BOUNDS
 FR BOUND w(0)
 FR BOUND w(1)
 FR BOUND w(2)
 FR BOUND w(3)
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
 LO BOUND xi(12) 0
 LO BOUND xi(13) 0
 LO BOUND xi(14) 0
 LO BOUND xi(15) 0
 LO BOUND s(0) 0
 LO BOUND s(1) 0
 LO BOUND s(2) 0
 LO BOUND s(3) 0
 LO BOUND t(0) 0
 LO BOUND t(1) 0
 LO BOUND t(2) 0
 LO BOUND t(3) 0
QCMATRIX    c_u_perspective(0)_
     w(0) w(0) 1
     s(0) t(0) -0.5
     t(0) s(0) -0.5
QCMATRIX    c_u_perspective(1)_
     w(1) w(1) 1
     s(1) t(1) -0.5
     t(1) s(1) -0.5
QCMATRIX    c_u_perspective(2)_
     w(2) w(2) 1
     s(2) t(2) -0.5
     t(2) s(2) -0.5
QCMATRIX    c_u_perspective(3)_
     w(3) w(3) 1
     s(3) t(3) -0.5
     t(3) s(3) -0.5
ENDATA
