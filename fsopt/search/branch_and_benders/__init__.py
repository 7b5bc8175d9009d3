"""Branch and Benders: Aytug's selection problem by branch and bound over Boolean relaxations, with a pool of cuts.

``problem`` states the problem; ``nodes`` prepares the program of a node, ``relaxation``, for ``interior_point`` by
``newton`` or for ``first_order_nodes``; ``cuts`` and, of sparse data, ``coverage`` bound it; ``incumbents`` and
``local_search`` find selections; ``tree`` records nodes, ``evidence`` replays them, ``proof_cuts`` thins their cuts;
``search`` is the loop, ``root`` its beginning, ``tasks`` its subtrees, ``compiled``, ``kernels`` numba, ``driver`` all.
"""
