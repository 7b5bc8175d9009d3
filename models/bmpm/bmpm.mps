* Source:     Pyomo MPS Writer
* Format:     Free MPS
*
NAME bmpm
OBJSENSE
 MAX
ROWS
 N  objective
 E  c_e_spread1(0)_
 E  c_e_spread1(1)_
 E  c_e_spread1(2)_
 E  c_e_spread1(3)_
 L  c_u_deviation1_
 E  c_e_spread2(0)_
 E  c_e_spread2(1)_
 E  c_e_spread2(2)_
 E  c_e_spread2(3)_
 L  c_u_deviation2_
 L  c_u_length_
COLUMNS
     w(0) objective 0.40625
     w(0) c_e_spread1(0)_ 0.41796875
     w(0) c_e_spread1(1)_ 0.42578125
     w(0) c_e_spread1(2)_ 0.26953125
     w(0) c_e_spread1(3)_ -1.11328125
     w(0) c_e_spread2(0)_ 0.40234375
     w(0) c_e_spread2(1)_ -0.41796875
     w(0) c_e_spread2(2)_ -0.04296875
     w(0) c_e_spread2(3)_ 0.05859375
     w(1) objective 0.67578125
     w(1) c_e_spread1(0)_ 0.546875
     w(1) c_e_spread1(1)_ 0.28125
     w(1) c_e_spread1(2)_ -0.015625
     w(1) c_e_spread1(3)_ -0.8125
     w(1) c_e_spread2(0)_ 0.197265625
     w(1) c_e_spread2(1)_ -0.107421875
     w(1) c_e_spread2(2)_ -0.169921875
     w(1) c_e_spread2(3)_ 0.080078125
     w(2) objective -0.75
     w(2) c_e_spread1(0)_ 0.23828125
     w(2) c_e_spread1(1)_ 0.08984375
     w(2) c_e_spread1(2)_ -0.31640625
     w(2) c_e_spread1(3)_ -0.01171875
     w(2) c_e_spread2(0)_ -0.56640625
     w(2) c_e_spread2(1)_ -0.54296875
     w(2) c_e_spread2(2)_ 0.34765625
     w(2) c_e_spread2(3)_ 0.76171875
     w(3) objective -0.62109375
     w(3) c_e_spread1(0)_ -0.470703125
     w(3) c_e_spread1(1)_ 0.451171875
     w(3) c_e_spread1(2)_ 0.052734375
     w(3) c_e_spread1(3)_ -0.033203125
     w(3) c_e_spread2(0)_ 0.15625
     w(3) c_e_spread2(1)_ 0.1640625
     w(3) c_e_spread2(2)_ 0.3671875
     w(3) c_e_spread2(3)_ -0.6875
     u1(0) c_e_spread1(0)_ -1
     u1(1) c_e_spread1(1)_ -1
     u1(2) c_e_spread1(2)_ -1
     u1(3) c_e_spread1(3)_ -1
     t1 c_u_length_ 1
     u2(0) c_e_spread2(0)_ -1
     u2(1) c_e_spread2(1)_ -1
     u2(2) c_e_spread2(2)_ -1
     u2(3) c_e_spread2(3)_ -1
     t2 objective -1
RHS
     RHS c_e_spread1(0)_ 0
     RHS c_e_spread1(1)_ 0
     RHS c_e_spread1(2)_ 0
     RHS c_e_spread1(3)_ 0
     RHS c_u_deviation1_ 0
     RHS c_e_spread2(0)_ 0
     RHS c_e_spread2(1)_ 0
     RHS c_e_spread2(2)_ 0
     RHS c_e_spread2(3)_ 0
     RHS c_u_deviation2_ 0
     RHS c_u_length_ 1
BOUNDS
 FR BOUND w(0)
 FR BOUND w(1)
 FR BOUND w(2)
 FR BOUND w(3)
 FR BOUND u1(0)
 FR BOUND u1(1)
 FR BOUND u1(2)
 FR BOUND u1(3)
 LO BOUND t1 0
 FR BOUND u2(0)
 FR BOUND u2(1)
 FR BOUND u2(2)
 FR BOUND u2(3)
 LO BOUND t2 0
QCMATRIX    c_u_deviation1_
     u1(0) u1(0) 1
     u1(1) u1(1) 1
     u1(2) u1(2) 1
     u1(3) u1(3) 1
     t1 t1 -1
QCMATRIX    c_u_deviation2_
     u2(0) u2(0) 1
     u2(1) u2(1) 1
     u2(2) u2(2) 1
     u2(3) u2(3) 1
     t2 t2 -1
ENDATA
