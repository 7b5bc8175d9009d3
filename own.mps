* Source:     Pyomo MPS Writer
* Format:     Free MPS
*
NAME unknown
OBJSENSE
 MAX
ROWS
 N  o
 L  c_u_c_
COLUMNS
     x o 1
     x c_u_c_ 1
RHS
     RHS c_u_c_ 7.5
BOUNDS
 LI BOUND x 0
 UI BOUND x 10E20
ENDATA
