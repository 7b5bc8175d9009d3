* Source:     Pyomo MPS Writer
* Format:     Free MPS
*
NAME mmop
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
 E  c_e_image(0)_
 E  c_e_image(1)_
 L  c_u_capacity_
 L  c_u_square(0)_
 L  c_u_square(1)_
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
 L  c_u_product_
COLUMNS
     s(0) c_u_square(0)_ -1
     s(0) c_u_ball(0)_ 0.7119140625
     s(0) c_u_ball(1)_ 0.029541015625
     s(0) c_u_ball(2)_ 1.9775390625
     s(0) c_u_ball(3)_ 1.0634765625
     s(0) c_u_ball(4)_ 0.738525390625
     s(0) c_u_ball(5)_ 0.2197265625
     s(0) c_u_ball(6)_ 0.054931640625
     s(0) c_u_ball(7)_ 0.968994140625
     s(0) c_u_ball(8)_ 0.299072265625
     s(0) c_u_ball(9)_ 1.6416015625
     s(0) c_u_ball(10)_ 0.265869140625
     s(0) c_u_ball(11)_ 0.635009765625
     s(1) c_u_square(1)_ -1
     s(1) c_u_ball(0)_ 1.763916015625
     s(1) c_u_ball(1)_ 3.228759765625
     s(1) c_u_ball(2)_ 0.908447265625
     s(1) c_u_ball(3)_ 0.006103515625
     s(1) c_u_ball(4)_ 0.635009765625
     s(1) c_u_ball(5)_ 0.002197265625
     s(1) c_u_ball(6)_ 0.1181640625
     s(1) c_u_ball(7)_ 0.0087890625
     s(1) c_u_ball(8)_ 0.041259765625
     s(1) c_u_ball(9)_ 0.5625
     s(1) c_u_ball(10)_ 0.0478515625
     s(1) c_u_ball(11)_ 0.25
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
     u(0) c_e_image(0)_ 1
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
     u(1) c_e_image(1)_ 1
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
     W c_u_capacity_ -1
     W c_u_product_ 1
     w(0) objective 0
     w(1) objective 0
     sigma(0) objective 0
     sigma(1) objective 0
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
     RHS c_e_image(0)_ 0
     RHS c_e_image(1)_ 0
     RHS c_u_capacity_ 0
     RHS c_u_square(0)_ 0
     RHS c_u_square(1)_ 0
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
     RHS c_u_product_ 1
BOUNDS
 LO BOUND w(0) -1
 UP BOUND w(0) 1
 LO BOUND w(1) -1
 UP BOUND w(1) 1
 LO BOUND sigma(0) 0
 UP BOUND sigma(0) 0.71111111111111114
 LO BOUND sigma(1) 0
 UP BOUND sigma(1) 0.55652173913043479
 LO BOUND s(0) 0
 LO BOUND s(1) 0
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
 LO BOUND W 0
QCMATRIX    c_e_image(0)_
     w(0) sigma(0) -0.5
     sigma(0) w(0) -0.5
QCMATRIX    c_e_image(1)_
     w(1) sigma(1) -0.5
     sigma(1) w(1) -0.5
QCMATRIX    c_u_capacity_
     w(0) w(0) 1
     w(1) w(1) 1
QCMATRIX    c_u_square(0)_
     sigma(0) sigma(0) 1
QCMATRIX    c_u_square(1)_
     sigma(1) sigma(1) 1
ENDATA
