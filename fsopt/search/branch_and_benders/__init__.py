"""Branch and Benders: Aytug's selection problem by branch and bound over Boolean relaxations, with a pool of cuts.

``problem`` states the problem; ``nodes`` prepares the program of a node, ``relaxation``, which ``interior_point`` by
``newton`` or ``first_order_nodes`` solves; ``cuts`` and, of sparse samples, ``coverage`` bound it; ``incumbents`` and
``local_search`` find selections; ``tree`` records nodes, ``evidence`` packs and replays them, ``proof_cuts`` thins
their cuts for a proof; ``search`` is the loop, ``root`` its beginning, ``tasks`` its subtrees, ``compiled`` and
``kernels`` its numba, ``driver`` the whole.
"""
