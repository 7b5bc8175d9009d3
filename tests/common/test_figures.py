"""Figures without a backend, and errors without a traceback, as a notebook shows them.

Texts of other people lose their commands to terminals, and nothing else.
"""

import pickle
import sys
import unicodedata

from IPython.core.formatters import PNGFormatter
from IPython.core.interactiveshell import InteractiveShell

from fsopt.common.figures import history_figure, new_figure
from fsopt.common.texts import one_line, printable
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


def test_a_name_keeps_its_letters_and_loses_its_commands_alone():
    kept = "größe 面 שלום \u200f é\u0301 [a]"
    assert printable(kept + "\t\n") == kept + "\t\n"
    assert one_line(kept + "\t\n") == kept + "\\x09\\x0a"
    assert printable("a\x1b[2Jb\x00\x7f\x85\r") == "a\\x1b[2Jb\\x00\\x7f\\x85\\x0d"
    assert printable("gnp.\u202etxt\u2066\u2029") == "gnp.\\u202etxt\\u2066\\u2029"


def test_all_controls_of_unicode_and_all_that_turn_the_direction_are_among_them():
    turning = ("LRE", "RLE", "PDF", "LRO", "RLO", "LRI", "RLI", "FSI", "PDI", "B")
    told, others = [], []
    for sign in map(chr, range(sys.maxunicode + 1)):
        tells = unicodedata.category(sign) in ("Cc", "Zl", "Zp") or unicodedata.bidirectional(sign) in turning
        (told if tells else others).append(sign)
    assert one_line("".join(others)) == "".join(others)
    assert all(one_line(sign) != sign for sign in told)


def test_iterations_are_whole_on_the_axis():
    records = [{"iteration": k, "objective": 1.0 / k} for k in (1, 2, 3)]
    ticks = history_figure(records).axes[0].get_xticks()
    assert ticks.tolist() == ticks.round().tolist()
