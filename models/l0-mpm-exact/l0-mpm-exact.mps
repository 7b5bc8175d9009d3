* Source:     Pyomo MPS Writer
* Format:     Free MPS
*
NAME l0-mpm-exact
OBJSENSE
 MIN
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
 E  c_e_split(0)_
 E  c_e_split(1)_
 E  c_e_split(2)_
 E  c_e_split(3)_
 E  c_e_mean1_
 E  c_e_mean2_
 G  c_l_accuracy1_
 G  c_l_accuracy2_
 L  c_u_selected(0)_
 L  c_u_selected(1)_
 L  c_u_selected(2)_
 L  c_u_selected(3)_
COLUMNS
     w(0) c_e_spread1(0)_ -1.093281769815909
     w(0) c_e_spread2(0)_ -0.52859451721378292
     w(0) c_e_split(0)_ 1
     w(0) c_e_mean1_ -0.096354166666666671
     w(0) c_e_mean2_ 0.53385416666666663
     w(1) c_e_spread1(0)_ -0.88047985664020489
     w(1) c_e_spread1(1)_ 0.85952692005795617
     w(1) c_e_spread2(0)_ -0.4293058356595133
     w(1) c_e_spread2(1)_ -0.52665588513154116
     w(1) c_e_split(1)_ 1
     w(1) c_e_mean1_ 0.54947916666666663
     w(1) c_e_mean2_ 0.71875
     w(2) c_e_spread1(0)_ -0.059797424445105274
     w(2) c_e_spread1(1)_ 0.36619456452252341
     w(2) c_e_spread1(2)_ 0.23763808468154579
     w(2) c_e_spread2(0)_ -0.11229794930152764
     w(2) c_e_spread2(1)_ 0.01976443915424736
     w(2) c_e_spread2(2)_ -0.96021334061207209
     w(2) c_e_split(2)_ 1
     w(2) c_e_mean1_ -0.005208333333333333
     w(2) c_e_mean2_ -0.43489583333333331
     w(3) c_e_spread1(0)_ -0.1191296199655858
     w(3) c_e_spread1(1)_ 0.27203333904038085
     w(3) c_e_spread1(2)_ -0.20780040848164921
     w(3) c_e_spread1(3)_ 0.6136389614103136
     w(3) c_e_spread2(0)_ 0.039707774830141429
     w(3) c_e_spread2(1)_ 0.10500257818041384
     w(3) c_e_spread2(2)_ 0.3349937036669367
     w(3) c_e_spread2(3)_ 0.62653400745063503
     w(3) c_e_split(3)_ 1
     w(3) c_e_mean1_ -0.28385416666666669
     w(3) c_e_mean2_ -0.11197916666666667
     w_plus(0) c_e_split(0)_ -1
     w_plus(0) c_u_selected(0)_ 1
     w_plus(1) c_e_split(1)_ -1
     w_plus(1) c_u_selected(1)_ 1
     w_plus(2) c_e_split(2)_ -1
     w_plus(2) c_u_selected(2)_ 1
     w_plus(3) c_e_split(3)_ -1
     w_plus(3) c_u_selected(3)_ 1
     w_minus(0) c_e_split(0)_ 1
     w_minus(0) c_u_selected(0)_ 1
     w_minus(1) c_e_split(1)_ 1
     w_minus(1) c_u_selected(1)_ 1
     w_minus(2) c_e_split(2)_ 1
     w_minus(2) c_u_selected(2)_ 1
     w_minus(3) c_e_split(3)_ 1
     w_minus(3) c_u_selected(3)_ 1
     b c_e_mean1_ -1
     b c_e_mean2_ 1
     m1 c_e_mean1_ -1
     m1 c_l_accuracy1_ 1
     m2 c_e_mean2_ -1
     m2 c_l_accuracy2_ 1
     t(0) objective 1
     t(0) c_u_selected(0)_ -100
     t(1) objective 1
     t(1) c_u_selected(1)_ -100
     t(2) objective 1
     t(2) c_u_selected(2)_ -100
     t(3) objective 1
     t(3) c_u_selected(3)_ -100
     u1(0) c_e_spread1(0)_ -1
     u1(1) c_e_spread1(1)_ -1
     u1(2) c_e_spread1(2)_ -1
     u1(3) c_e_spread1(3)_ -1
     t1 c_l_accuracy1_ -0.81649658092772603
     u2(0) c_e_spread2(0)_ -1
     u2(1) c_e_spread2(1)_ -1
     u2(2) c_e_spread2(2)_ -1
     u2(3) c_e_spread2(3)_ -1
     t2 c_l_accuracy2_ -0.81649658092772603
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
     RHS c_e_split(0)_ 0
     RHS c_e_split(1)_ 0
     RHS c_e_split(2)_ 0
     RHS c_e_split(3)_ 0
     RHS c_e_mean1_ 0
     RHS c_e_mean2_ 0
     RHS c_l_accuracy1_ 0
     RHS c_l_accuracy2_ 0
     RHS c_u_selected(0)_ 0
     RHS c_u_selected(1)_ 0
     RHS c_u_selected(2)_ 0
     RHS c_u_selected(3)_ 0
BOUNDS
 FR BOUND w(0)
 FR BOUND w(1)
 FR BOUND w(2)
 FR BOUND w(3)
 LO BOUND w_plus(0) 0
 LO BOUND w_plus(1) 0
 LO BOUND w_plus(2) 0
 LO BOUND w_plus(3) 0
 LO BOUND w_minus(0) 0
 LO BOUND w_minus(1) 0
 LO BOUND w_minus(2) 0
 LO BOUND w_minus(3) 0
 FR BOUND b
 LO BOUND m1 1
 LO BOUND m2 1
 BV BOUND t(0)
 BV BOUND t(1)
 BV BOUND t(2)
 BV BOUND t(3)
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
