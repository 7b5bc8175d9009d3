* Source:     Pyomo MPS Writer
* Format:     Free MPS
*
NAME s-mpm
OBJSENSE
 MAX
ROWS
 N  objective
 E  c_e_spread1(0)_
 E  c_e_spread1(1)_
 L  c_u_deviation1_
 E  c_e_spread2(0)_
 E  c_e_spread2(1)_
 L  c_u_deviation2_
 L  c_u_length_
 E  c_e_split(0)_
 E  c_e_split(1)_
COLUMNS
     w(0) objective 0.578125
     w(0) c_e_spread1(0)_ -1.0455039996486144
     w(0) c_e_spread2(0)_ -0.93889869619610711
     w(0) c_e_split(0)_ 1
     w(1) objective 0.94140625
     w(1) c_e_spread1(0)_ -0.70835245718557005
     w(1) c_e_spread1(1)_ 0.29440265472333865
     w(1) c_e_spread2(0)_ 0.22825645967033042
     w(1) c_e_spread2(1)_ -0.76697165248682841
     w(1) c_e_split(1)_ 1
     u1(0) c_e_spread1(0)_ -1
     u1(1) c_e_spread1(1)_ -1
     t1 c_u_length_ 1
     u2(0) c_e_spread2(0)_ -1
     u2(1) c_e_spread2(1)_ -1
     t2 objective -1
     w_plus(0) objective -0.10000000000000001
     w_plus(0) c_e_split(0)_ -1
     w_plus(1) objective -0.10000000000000001
     w_plus(1) c_e_split(1)_ -1
     w_minus(0) objective -0.10000000000000001
     w_minus(0) c_e_split(0)_ 1
     w_minus(1) objective -0.10000000000000001
     w_minus(1) c_e_split(1)_ 1
RHS
     RHS c_e_spread1(0)_ 0
     RHS c_e_spread1(1)_ 0
     RHS c_u_deviation1_ 0
     RHS c_e_spread2(0)_ 0
     RHS c_e_spread2(1)_ 0
     RHS c_u_deviation2_ 0
     RHS c_u_length_ 1
     RHS c_e_split(0)_ 0
     RHS c_e_split(1)_ 0
BOUNDS
 FR BOUND w(0)
 FR BOUND w(1)
 FR BOUND u1(0)
 FR BOUND u1(1)
 LO BOUND t1 0
 FR BOUND u2(0)
 FR BOUND u2(1)
 LO BOUND t2 0
 LO BOUND w_plus(0) 0
 LO BOUND w_plus(1) 0
 LO BOUND w_minus(0) 0
 LO BOUND w_minus(1) 0
QCMATRIX    c_u_deviation1_
     u1(0) u1(0) 1
     u1(1) u1(1) 1
     t1 t1 -1
QCMATRIX    c_u_deviation2_
     u2(0) u2(0) 1
     u2(1) u2(1) 1
     t2 t2 -1
ENDATA
