"""A user's script with a mistake in each line that is marked."""

import fsopt

data = fsopt.load_dataset("wdbc")
model = fsopt.build("gmeb-dual", data, r_plus=3.0, r_minus=3.0)
fsopt.solve(model, time_limt=3.0)  # a misspelt keyword
fsopt.sovle(model)  # a misspelt name
status: int = fsopt.solve(model).status  # another type of result
fsopt.fit("l0-mpm", data, delta=0.7, alpa=5.0)  # a misspelt parameter of a method
fsopt.build("gmeb-dual", data, r_pluss=3.0)  # a misspelt parameter of a model
fsopt.fit("svm", data, c="one")  # a parameter of another type
fsopt.load_dataset(3)  # a number in place of a path or a data frame
fsopt.load_dataset("wdbc", targt="label")  # a misspelt keyword of a table
fsopt.fit("svm", 3, [1, -1])  # a number in place of samples
