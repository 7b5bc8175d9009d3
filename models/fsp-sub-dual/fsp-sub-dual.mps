* Source:     Pyomo MPS Writer
* Format:     Free MPS
*
NAME fsp-sub-dual
OBJSENSE
 MAX
ROWS
 N  objective
 E  c_e_expansion(0)_
 E  c_e_expansion(1)_
 E  c_e_expansion(2)_
 E  c_e_expansion(3)_
 E  c_e_balance_
 E  c_e_selection(0)_
 E  c_e_selection(1)_
 E  c_e_selection(2)_
 E  c_e_selection(3)_
COLUMNS
     alpha(0) objective 1
     alpha(0) c_e_expansion(0)_ 0.84375
     alpha(0) c_e_expansion(1)_ 1.328125
     alpha(0) c_e_expansion(2)_ 0.328125
     alpha(0) c_e_expansion(3)_ -1.296875
     alpha(0) c_e_balance_ 1
     alpha(1) objective 1
     alpha(1) c_e_expansion(0)_ -0.40625
     alpha(1) c_e_expansion(1)_ 0.046875
     alpha(1) c_e_expansion(2)_ 0.53125
     alpha(1) c_e_expansion(3)_ -0.578125
     alpha(1) c_e_balance_ -1
     alpha(2) objective 1
     alpha(2) c_e_expansion(0)_ 0.859375
     alpha(2) c_e_expansion(1)_ 0.796875
     alpha(2) c_e_expansion(2)_ 0.03125
     alpha(2) c_e_expansion(3)_ 0.546875
     alpha(2) c_e_balance_ 1
     alpha(3) objective 1
     alpha(3) c_e_expansion(0)_ 1.234375
     alpha(3) c_e_expansion(1)_ 0.65625
     alpha(3) c_e_expansion(2)_ 0.484375
     alpha(3) c_e_expansion(3)_ -0.59375
     alpha(3) c_e_balance_ -1
     alpha(4) objective 1
     alpha(4) c_e_expansion(0)_ 0.546875
     alpha(4) c_e_expansion(1)_ 0.203125
     alpha(4) c_e_expansion(2)_ -0.78125
     alpha(4) c_e_expansion(3)_ -0.25
     alpha(4) c_e_balance_ 1
     alpha(5) objective 1
     alpha(5) c_e_expansion(0)_ 0.484375
     alpha(5) c_e_expansion(1)_ 0.78125
     alpha(5) c_e_expansion(2)_ -1.296875
     alpha(5) c_e_expansion(3)_ -1
     alpha(5) c_e_balance_ -1
     alpha(6) objective 1
     alpha(6) c_e_expansion(0)_ -2.21875
     alpha(6) c_e_expansion(1)_ -1.390625
     alpha(6) c_e_expansion(2)_ -0.171875
     alpha(6) c_e_expansion(3)_ -0.421875
     alpha(6) c_e_balance_ 1
     alpha(7) objective 1
     alpha(7) c_e_expansion(0)_ 0.28125
     alpha(7) c_e_expansion(1)_ 0.28125
     alpha(7) c_e_expansion(2)_ -2.125
     alpha(7) c_e_expansion(3)_ 1.109375
     alpha(7) c_e_balance_ -1
     alpha(8) objective 1
     alpha(8) c_e_expansion(0)_ 0.125
     alpha(8) c_e_expansion(1)_ 2.546875
     alpha(8) c_e_expansion(2)_ 0.640625
     alpha(8) c_e_expansion(3)_ 0.65625
     alpha(8) c_e_balance_ 1
     alpha(9) objective 1
     alpha(9) c_e_expansion(0)_ 1.015625
     alpha(9) c_e_expansion(1)_ 2.140625
     alpha(9) c_e_expansion(2)_ -0.171875
     alpha(9) c_e_expansion(3)_ -0.109375
     alpha(9) c_e_balance_ -1
     alpha(10) objective 1
     alpha(10) c_e_expansion(0)_ -0.734375
     alpha(10) c_e_expansion(1)_ -0.1875
     alpha(10) c_e_expansion(2)_ -0.078125
     alpha(10) c_e_expansion(3)_ -0.9375
     alpha(10) c_e_balance_ 1
     alpha(11) objective 1
     alpha(11) c_e_expansion(0)_ 0.59375
     alpha(11) c_e_expansion(1)_ 0.40625
     alpha(11) c_e_expansion(2)_ -0.03125
     alpha(11) c_e_expansion(3)_ 0.5
     alpha(11) c_e_balance_ -1
     alpha(12) objective 1
     alpha(12) c_e_expansion(0)_ 1.09375
     alpha(12) c_e_expansion(1)_ 1.390625
     alpha(12) c_e_expansion(2)_ 0.328125
     alpha(12) c_e_expansion(3)_ -0.8125
     alpha(12) c_e_balance_ 1
     alpha(13) objective 1
     alpha(13) c_e_expansion(0)_ -0.234375
     alpha(13) c_e_expansion(1)_ 1
     alpha(13) c_e_expansion(2)_ -0.875
     alpha(13) c_e_expansion(3)_ 1.078125
     alpha(13) c_e_balance_ -1
     alpha(14) objective 1
     alpha(14) c_e_expansion(0)_ 1.421875
     alpha(14) c_e_expansion(1)_ 0.484375
     alpha(14) c_e_expansion(2)_ -1.25
     alpha(14) c_e_expansion(3)_ -0.3125
     alpha(14) c_e_balance_ 1
     alpha(15) objective 1
     alpha(15) c_e_expansion(0)_ 0.453125
     alpha(15) c_e_expansion(1)_ 0.234375
     alpha(15) c_e_expansion(2)_ 0.984375
     alpha(15) c_e_expansion(3)_ 1.109375
     alpha(15) c_e_balance_ -1
     q(0) c_e_expansion(0)_ -1
     q(0) c_e_selection(0)_ -1
     q(1) c_e_expansion(1)_ -1
     q(2) c_e_expansion(2)_ -1
     q(2) c_e_selection(2)_ -1
     q(3) c_e_expansion(3)_ -1
     q(3) c_e_selection(3)_ -0.70710678118654757
     v(0) c_e_selection(0)_ 1
     v(1) c_e_selection(1)_ 1
     v(2) c_e_selection(2)_ 1
     v(3) c_e_selection(3)_ 1
RHS
     RHS c_e_expansion(0)_ 0
     RHS c_e_expansion(1)_ 0
     RHS c_e_expansion(2)_ 0
     RHS c_e_expansion(3)_ 0
     RHS c_e_balance_ 0
     RHS c_e_selection(0)_ 0
     RHS c_e_selection(1)_ 0
     RHS c_e_selection(2)_ 0
     RHS c_e_selection(3)_ 0
BOUNDS
 LO BOUND alpha(0) 0
 UP BOUND alpha(0) 1
 LO BOUND alpha(1) 0
 UP BOUND alpha(1) 1
 LO BOUND alpha(2) 0
 UP BOUND alpha(2) 1
 LO BOUND alpha(3) 0
 UP BOUND alpha(3) 1
 LO BOUND alpha(4) 0
 UP BOUND alpha(4) 1
 LO BOUND alpha(5) 0
 UP BOUND alpha(5) 1
 LO BOUND alpha(6) 0
 UP BOUND alpha(6) 1
 LO BOUND alpha(7) 0
 UP BOUND alpha(7) 1
 LO BOUND alpha(8) 0
 UP BOUND alpha(8) 1
 LO BOUND alpha(9) 0
 UP BOUND alpha(9) 1
 LO BOUND alpha(10) 0
 UP BOUND alpha(10) 1
 LO BOUND alpha(11) 0
 UP BOUND alpha(11) 1
 LO BOUND alpha(12) 0
 UP BOUND alpha(12) 1
 LO BOUND alpha(13) 0
 UP BOUND alpha(13) 1
 LO BOUND alpha(14) 0
 UP BOUND alpha(14) 1
 LO BOUND alpha(15) 0
 UP BOUND alpha(15) 1
 FR BOUND q(0)
 FR BOUND q(1)
 FR BOUND q(2)
 FR BOUND q(3)
 FR BOUND v(0)
 FR BOUND v(1)
 FR BOUND v(2)
 FR BOUND v(3)
QUADOBJ
     v(0) v(0) -1
     v(1) v(1) -1
     v(2) v(2) -1
     v(3) v(3) -1
ENDATA
