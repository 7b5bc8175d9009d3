"""Figures without a backend, and errors without a traceback, as a notebook shows them."""

import pickle

from IPython.core.formatters import PNGFormatter
from IPython.core.interactiveshell import InteractiveShell

from fsopt.common.figures import new_figure
from fsopt.errors import PackageError


def test_a_notebook_shows_a_figure_without_a_backend():
    figure = new_figure(2)
    figure.axes[1].plot([1, 2])
    for one in (figure, pickle.loads(pickle.dumps(figure))):
        assert PNGFormatter()(one).startswith(b"\x89PNG")


def test_a_notebook_shows_an_error_of_the_user_in_one_line(capsys):
    shell = InteractiveShell()
    shell.user_ns["error"] = PackageError("plots need matplotlib, which is not installed", "pip install fsopt[plot]")
    assert not shell.run_cell("def f():\n    raise error\nf()").success
    said = "package: plots need matplotlib, which is not installed: pip install fsopt[plot]"
    assert capsys.readouterr().out.strip() == said
