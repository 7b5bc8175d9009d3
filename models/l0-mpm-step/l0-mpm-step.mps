* Source:     Pyomo MPS Writer
* Format:     Free MPS
*
NAME l0-mpm-step
OBJSENSE
 MIN
ROWS
 N  objective
 E  c_e_spread1(0)_
 E  c_e_spread1(1)_
 E  c_e_spread1(2)_
 E  c_e_spread1(3)_
 E  c_e_spread1(4)_
 E  c_e_spread1(5)_
 E  c_e_spread1(6)_
 E  c_e_spread1(7)_
 L  c_u_deviation1_
 E  c_e_spread2(0)_
 E  c_e_spread2(1)_
 E  c_e_spread2(2)_
 E  c_e_spread2(3)_
 E  c_e_spread2(4)_
 E  c_e_spread2(5)_
 E  c_e_spread2(6)_
 E  c_e_spread2(7)_
 L  c_u_deviation2_
 E  c_e_split(0)_
 E  c_e_split(1)_
 E  c_e_split(2)_
 E  c_e_split(3)_
 E  c_e_split(4)_
 E  c_e_split(5)_
 E  c_e_split(6)_
 E  c_e_split(7)_
 E  c_e_mean1_
 E  c_e_mean2_
 G  c_l_accuracy1_
 G  c_l_accuracy2_
COLUMNS
     w(0) c_e_spread1(0)_ 0.065600726770236345
     w(0) c_e_spread1(1)_ -0.039360436062141804
     w(0) c_e_spread1(2)_ -0.18851577271867917
     w(0) c_e_spread1(3)_ 0.15398907441855478
     w(0) c_e_spread1(4)_ 0.01588228121805722
     w(0) c_e_spread1(5)_ 0.22028033515479359
     w(0) c_e_spread1(6)_ -0.10565169679838063
     w(0) c_e_spread1(7)_ -0.12222451198244033
     w(0) c_e_spread2(0)_ 0.13948786113250253
     w(0) c_e_spread2(1)_ -0.94879366928741815
     w(0) c_e_spread2(2)_ -0.4239878551255275
     w(0) c_e_spread2(3)_ 0.33836164334121899
     w(0) c_e_spread2(4)_ -0.27483251846899015
     w(0) c_e_spread2(5)_ 0.17263349150062193
     w(0) c_e_spread2(6)_ 0.44332280617359715
     w(0) c_e_spread2(7)_ 0.55380824073399515
     w(0) c_e_split(0)_ 1
     w(0) c_e_mean1_ 0.658203125
     w(0) c_e_mean2_ 0.53515625
     w(1) c_e_spread1(0)_ 0.11255703645840551
     w(1) c_e_spread1(1)_ -0.28519052795902744
     w(1) c_e_spread1(2)_ 0.54345023124395786
     w(1) c_e_spread1(3)_ 0.1346541233704851
     w(1) c_e_spread1(4)_ -0.34595751696724636
     w(1) c_e_spread1(5)_ -0.11393810439041048
     w(1) c_e_spread1(6)_ -0.16918082167060949
     w(1) c_e_spread1(7)_ 0.1236055799144453
     w(1) c_e_spread2(0)_ 0.20301698600473139
     w(1) c_e_spread2(1)_ -0.57038105591805488
     w(1) c_e_spread2(2)_ -0.14501213286052242
     w(1) c_e_spread2(3)_ 0.092531551444333365
     w(1) c_e_spread2(4)_ 0.36322086611730858
     w(1) c_e_spread2(5)_ 0.26378397501295031
     w(1) c_e_spread2(6)_ 0.23616261637285083
     w(1) c_e_spread2(7)_ -0.44332280617359715
     w(1) c_e_split(1)_ 1
     w(1) c_e_mean1_ 1.009765625
     w(1) c_e_mean2_ 0.77734375
     w(2) c_e_spread1(0)_ 0.21613713135877868
     w(2) c_e_spread1(1)_ -0.17608616133063437
     w(2) c_e_spread1(2)_ 0.32662256591917671
     w(2) c_e_spread1(3)_ 0.21613713135877868
     w(2) c_e_spread1(4)_ 0.18299150099065925
     w(2) c_e_spread1(5)_ -0.47439683464370908
     w(2) c_e_spread1(6)_ -0.40258130217945037
     w(2) c_e_spread1(7)_ 0.11117596852640053
     w(2) c_e_spread2(0)_ 0.17401455943262692
     w(2) c_e_spread2(1)_ 0.10219902696836819
     w(2) c_e_spread2(2)_ 0.13534465733648759
     w(2) c_e_spread2(3)_ -0.27897572226500505
     w(2) c_e_spread2(4)_ 0.25135436362490554
     w(2) c_e_spread2(5)_ 0.47232523274570165
     w(2) c_e_spread2(6)_ -0.14639320079252741
     w(2) c_e_spread2(7)_ -0.70986891705055744
     w(2) c_e_split(2)_ 1
     w(2) c_e_mean1_ -0.283203125
     w(2) c_e_mean2_ 0.4609375
     w(3) c_e_spread1(0)_ -0.37979368130136826
     w(3) c_e_spread1(1)_ -0.0096674755240348294
     w(3) c_e_spread1(2)_ 0.31074028470111947
     w(3) c_e_spread1(3)_ -0.20854125773275131
     w(3) c_e_spread1(4)_ 0.34941018679725883
     w(3) c_e_spread1(5)_ -0.34112377920522896
     w(3) c_e_spread1(6)_ 0.19473057841270155
     w(3) c_e_spread1(7)_ 0.084245143852303514
     w(3) c_e_spread2(0)_ 0.23270994654283839
     w(3) c_e_spread2(1)_ -0.10979490059439556
     w(3) c_e_spread2(2)_ -0.29209586761905232
     w(3) c_e_spread2(3)_ -0.071124998498256237
     w(3) c_e_spread2(4)_ 0.35424392455927622
     w(3) c_e_spread2(5)_ 0.12774878371046025
     w(3) c_e_spread2(6)_ -0.4964939215557887
     w(3) c_e_spread2(7)_ 0.25480703345491801
     w(3) c_e_split(3)_ 1
     w(3) c_e_mean1_ -0.22265625
     w(3) c_e_mean2_ 0.111328125
     w(4) c_e_spread1(0)_ 0.36460193404931357
     w(4) c_e_spread1(1)_ 0.049718445552179122
     w(4) c_e_spread1(2)_ -0.13810679320049754
     w(4) c_e_spread1(3)_ 0.3038349450410946
     w(4) c_e_spread1(4)_ -0.54137862934595038
     w(4) c_e_spread1(5)_ 0.35907766232129362
     w(4) c_e_spread1(6)_ -0.18782523875267668
     w(4) c_e_spread1(7)_ -0.20992232566475627
     w(4) c_e_spread2(0)_ -0.40534343804346035
     w(4) c_e_spread2(1)_ -0.068362862634246291
     w(4) c_e_spread2(2)_ -0.17884829719464435
     w(4) c_e_spread2(3)_ -0.12912985164246521
     w(4) c_e_spread2(4)_ -0.26723664484296278
     w(4) c_e_spread2(5)_ -0.17884829719464435
     w(4) c_e_spread2(6)_ 0.47301576671170414
     w(4) c_e_spread2(7)_ 0.75475362484071917
     w(4) c_e_split(4)_ 1
     w(4) c_e_mean1_ -0.125
     w(4) c_e_mean2_ -0.412109375
     w(5) c_e_spread1(0)_ 0.1470837347585299
     w(5) c_e_spread1(1)_ -0.11255703645840551
     w(5) c_e_spread1(2)_ -0.59316867679613694
     w(5) c_e_spread1(3)_ -0.18989684065068413
     w(5) c_e_spread1(4)_ 0.075268202294271169
     w(5) c_e_spread1(5)_ 0.22994781067882844
     w(5) c_e_spread1(6)_ 0.29071479968704733
     w(5) c_e_spread1(7)_ 0.15260800648654979
     w(5) c_e_spread2(0)_ 0.052480581416189068
     w(5) c_e_spread2(1)_ 0.18506310288866673
     w(5) c_e_spread2(2)_ 0.14086892906450751
     w(5) c_e_spread2(3)_ 0.20163591807272643
     w(5) c_e_spread2(4)_ -0.41708251546550262
     w(5) c_e_spread2(5)_ 0.013810679320049755
     w(5) c_e_spread2(6)_ 0.06905339660024877
     w(5) c_e_spread2(7)_ -0.24583009189688565
     w(5) c_e_split(5)_ 1
     w(5) c_e_mean1_ 0.037109375
     w(5) c_e_mean2_ 0.3046875
     w(6) c_e_spread1(0)_ -0.24237742206687321
     w(6) c_e_spread1(1)_ 0.40396237011145536
     w(6) c_e_spread1(2)_ 0.0062148056940223902
     w(6) c_e_spread1(3)_ 0.25480703345491801
     w(6) c_e_spread1(4)_ 0.37634101147135585
     w(6) c_e_spread1(5)_ -0.28104732416301254
     w(6) c_e_spread1(6)_ -0.09874635713835575
     w(6) c_e_spread1(7)_ -0.4191541173635101
     w(6) c_e_spread2(0)_ -0.15813227821456971
     w(6) c_e_spread2(1)_ 0.76442110036475397
     w(6) c_e_spread2(2)_ 0.024168688810087071
     w(6) c_e_spread2(3)_ -0.33490897351120658
     w(6) c_e_spread2(4)_ -0.025549756742092047
     w(6) c_e_spread2(5)_ 0.38877062285940062
     w(6) c_e_spread2(6)_ -0.22994781067882844
     w(6) c_e_spread2(7)_ -0.4288215928875449
     w(6) c_e_split(6)_ 1
     w(6) c_e_mean1_ 0.154296875
     w(6) c_e_mean2_ 0.037109375
     w(7) c_e_spread1(0)_ 0.13120145354047269
     w(7) c_e_spread1(1)_ 0.28035679019701004
     w(7) c_e_spread1(2)_ -0.034526698300124385
     w(7) c_e_spread1(3)_ -0.45437134962963693
     w(7) c_e_spread1(4)_ -0.17815776322864185
     w(7) c_e_spread1(5)_ -0.073196600396263703
     w(7) c_e_spread1(6)_ 0.1643470839085921
     w(7) c_e_spread1(7)_ 0.1643470839085921
     w(7) c_e_spread2(0)_ 0.3908422247574081
     w(7) c_e_spread2(1)_ -0.21130339359676126
     w(7) c_e_spread2(2)_ 0.0041432037960149265
     w(7) c_e_spread2(3)_ -0.21130339359676126
     w(7) c_e_spread2(4)_ 0.020716018980074632
     w(7) c_e_spread2(5)_ -0.61457522974221412
     w(7) c_e_spread2(6)_ 0.23063834464483091
     w(7) c_e_spread2(7)_ 0.3908422247574081
     w(7) c_e_split(7)_ 1
     w(7) c_e_mean1_ 0.20703125
     w(7) c_e_mean2_ 0.51171875
     w_plus(0) objective 0.5
     w_plus(0) c_e_split(0)_ -1
     w_plus(1) objective 9
     w_plus(1) c_e_split(1)_ -1
     w_plus(2) objective 5
     w_plus(2) c_e_split(2)_ -1
     w_plus(3) objective 5
     w_plus(3) c_e_split(3)_ -1
     w_plus(4) objective 2.5
     w_plus(4) c_e_split(4)_ -1
     w_plus(5) objective 5
     w_plus(5) c_e_split(5)_ -1
     w_plus(6) objective 5
     w_plus(6) c_e_split(6)_ -1
     w_plus(7) objective 6
     w_plus(7) c_e_split(7)_ -1
     w_minus(0) objective 9.5
     w_minus(0) c_e_split(0)_ 1
     w_minus(1) objective 1
     w_minus(1) c_e_split(1)_ 1
     w_minus(2) objective 5
     w_minus(2) c_e_split(2)_ 1
     w_minus(3) objective 5
     w_minus(3) c_e_split(3)_ 1
     w_minus(4) objective 7.5
     w_minus(4) c_e_split(4)_ 1
     w_minus(5) objective 5
     w_minus(5) c_e_split(5)_ 1
     w_minus(6) objective 5
     w_minus(6) c_e_split(6)_ 1
     w_minus(7) objective 4
     w_minus(7) c_e_split(7)_ 1
     b c_e_mean1_ -1
     b c_e_mean2_ 1
     m1 c_e_mean1_ -1
     m1 c_l_accuracy1_ 1
     m2 c_e_mean2_ -1
     m2 c_l_accuracy2_ 1
     u1(0) c_e_spread1(0)_ -1
     u1(1) c_e_spread1(1)_ -1
     u1(2) c_e_spread1(2)_ -1
     u1(3) c_e_spread1(3)_ -1
     u1(4) c_e_spread1(4)_ -1
     u1(5) c_e_spread1(5)_ -1
     u1(6) c_e_spread1(6)_ -1
     u1(7) c_e_spread1(7)_ -1
     t1 c_l_accuracy1_ -1
     u2(0) c_e_spread2(0)_ -1
     u2(1) c_e_spread2(1)_ -1
     u2(2) c_e_spread2(2)_ -1
     u2(3) c_e_spread2(3)_ -1
     u2(4) c_e_spread2(4)_ -1
     u2(5) c_e_spread2(5)_ -1
     u2(6) c_e_spread2(6)_ -1
     u2(7) c_e_spread2(7)_ -1
     t2 c_l_accuracy2_ -1
RHS
     RHS c_e_spread1(0)_ 0
     RHS c_e_spread1(1)_ 0
     RHS c_e_spread1(2)_ 0
     RHS c_e_spread1(3)_ 0
     RHS c_e_spread1(4)_ 0
     RHS c_e_spread1(5)_ 0
     RHS c_e_spread1(6)_ 0
     RHS c_e_spread1(7)_ 0
     RHS c_u_deviation1_ 0
     RHS c_e_spread2(0)_ 0
     RHS c_e_spread2(1)_ 0
     RHS c_e_spread2(2)_ 0
     RHS c_e_spread2(3)_ 0
     RHS c_e_spread2(4)_ 0
     RHS c_e_spread2(5)_ 0
     RHS c_e_spread2(6)_ 0
     RHS c_e_spread2(7)_ 0
     RHS c_u_deviation2_ 0
     RHS c_e_split(0)_ 0
     RHS c_e_split(1)_ 0
     RHS c_e_split(2)_ 0
     RHS c_e_split(3)_ 0
     RHS c_e_split(4)_ 0
     RHS c_e_split(5)_ 0
     RHS c_e_split(6)_ 0
     RHS c_e_split(7)_ 0
     RHS c_e_mean1_ 0
     RHS c_e_mean2_ 0
     RHS c_l_accuracy1_ 0
     RHS c_l_accuracy2_ 0
BOUNDS
 FR BOUND w(0)
 FR BOUND w(1)
 FR BOUND w(2)
 FR BOUND w(3)
 FR BOUND w(4)
 FR BOUND w(5)
 FR BOUND w(6)
 FR BOUND w(7)
 LO BOUND w_plus(0) 0
 LO BOUND w_plus(1) 0
 LO BOUND w_plus(2) 0
 LO BOUND w_plus(3) 0
 LO BOUND w_plus(4) 0
 LO BOUND w_plus(5) 0
 LO BOUND w_plus(6) 0
 LO BOUND w_plus(7) 0
 LO BOUND w_minus(0) 0
 LO BOUND w_minus(1) 0
 LO BOUND w_minus(2) 0
 LO BOUND w_minus(3) 0
 LO BOUND w_minus(4) 0
 LO BOUND w_minus(5) 0
 LO BOUND w_minus(6) 0
 LO BOUND w_minus(7) 0
 FR BOUND b
 LO BOUND m1 1
 LO BOUND m2 1
 FR BOUND u1(0)
 FR BOUND u1(1)
 FR BOUND u1(2)
 FR BOUND u1(3)
 FR BOUND u1(4)
 FR BOUND u1(5)
 FR BOUND u1(6)
 FR BOUND u1(7)
 LO BOUND t1 0
 FR BOUND u2(0)
 FR BOUND u2(1)
 FR BOUND u2(2)
 FR BOUND u2(3)
 FR BOUND u2(4)
 FR BOUND u2(5)
 FR BOUND u2(6)
 FR BOUND u2(7)
 LO BOUND t2 0
QCMATRIX    c_u_deviation1_
     u1(0) u1(0) 1
     u1(1) u1(1) 1
     u1(2) u1(2) 1
     u1(3) u1(3) 1
     u1(4) u1(4) 1
     u1(5) u1(5) 1
     u1(6) u1(6) 1
     u1(7) u1(7) 1
     t1 t1 -1
QCMATRIX    c_u_deviation2_
     u2(0) u2(0) 1
     u2(1) u2(1) 1
     u2(2) u2(2) 1
     u2(3) u2(3) 1
     u2(4) u2(4) 1
     u2(5) u2(5) 1
     u2(6) u2(6) 1
     u2(7) u2(7) 1
     t2 t2 -1
ENDATA
