"""Texts of other people lose their commands to terminals, and nothing else."""

from __future__ import annotations

import sys
import unicodedata

from fsopt.common.texts import one_line, printable


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
