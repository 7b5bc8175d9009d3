"""What a package of your own imports beside :mod:`fsopt`: entries, their registration, and the parts of a method.

Stable, as the names of :mod:`fsopt` are: a name here keeps its meaning, or warns for a version before it goes.

==================  ==================================================================================================
a model             :class:`ModelSpec`, :func:`register_model`, :func:`values_of`
a loop              :func:`add_cut` for the master of generalized Benders, in a :class:`fsopt.Session`
a method            :class:`MethodSpec`, :func:`register_method`; its fit takes a :class:`Run` and goes from
                    :func:`preprocess` to :func:`make_fit`, with its evidence in ``details``, or with
                    :func:`unproved`; its check takes a :class:`SavedFit`, such as :func:`check_program`
a solver            :class:`SolverSpec` with its :class:`Package`, :func:`register_solver`; its interface takes a
                    :class:`Program` and :class:`Settings` and gives an :class:`Outcome` with a :class:`Point`, for the
                    :class:`Change` of a session too
a penalty           :class:`PenaltySpec`, :func:`register_penalty`; a :class:`Penalty`, or an :class:`Approximation`
a figure            :func:`new_figure`, empty panels that a script saves and a notebook shows
==================  ==================================================================================================
"""

from fsopt.common import attach

__getattr__, __dir__, __all__ = attach("fsopt", __file__)
