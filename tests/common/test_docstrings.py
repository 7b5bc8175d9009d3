"""Keywords in common: signature and docstring of a function that hands them on."""

from __future__ import annotations

import inspect

from fsopt.common.docstrings import section, with_keywords_of


def inner(*, a: int = 1, b: str | None = None) -> str:
    """Return something.

    Parameters
    ----------
    a : int, default 1
        The first.
    b : str, optional
        The second,
        on two lines.

    Returns
    -------
    str
    """
    return f"{a}{b}"


@with_keywords_of(inner)
def outer(x: int, **keywords) -> str:
    """Return it, too.

    Returns
    -------
    str
        Not shared.
    """
    return inner(**keywords) * x


def other(*, c: float = 2.0, **keywords) -> str:
    """Return another.

    Parameters
    ----------
    c : float, default 2.0
        Its own.

    Returns
    -------
    str
    """
    return inner(**keywords) * int(c)


def test_the_keywords_of_another_function_have_their_defaults_and_texts():
    assert str(inspect.signature(outer)) == "(x: 'int', *, a: 'int' = 1, b: 'str | None' = None) -> 'str'"
    assert section(outer.__doc__, "Parameters") == section(inspect.getdoc(inner), "Parameters")
    assert section(inspect.getdoc(outer), "Returns") == "str\n    Not shared."
    assert outer.__doc__.startswith("Return it, too.\n\nParameters\n---")
    assert outer(2, b="x") == "1x1x"


def test_own_keywords_come_first_and_those_left_out_are_not_there():
    named = with_keywords_of(inner, without=("a",))(other)
    assert list(inspect.signature(named).parameters) == ["c", "b"]
    own, second = "c : float, default 2.0\n    Its own.", "b : str, optional\n    The second,\n    on two lines."
    assert section(named.__doc__, "Parameters") == f"{own}\n{second}"
