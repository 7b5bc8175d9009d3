"""Branch and Benders: Aytug's selection problem by branch and bound over Boolean relaxations, with a pool of cuts.

``problem`` states the problem, ``interior_point`` solves the relaxation of a node by the steps of ``newton``, ``cuts``
makes valid bounds from any multipliers, ``nodes`` prepares the programs of nodes, ``incumbents`` finds selections,
``local_search`` among their neighbours, ``tree`` keeps the evidence, ``search`` is the loop over nodes, ``root`` its
beginning, ``tasks`` the seam of parallel subtrees, ``driver`` the whole.
"""
