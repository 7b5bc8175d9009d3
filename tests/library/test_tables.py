"""The tables that are made from the registries: none is stale, and a new entry is in the table of its kind."""

import dataclasses

import pytest
from support import ROOT

import fsopt
from tools import tables


@pytest.mark.parametrize("name", tables.PLACES)
def test_the_tables_of_a_file_are_those_of_the_registries(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    assert text == tables.written(text, tables.PLACES[name]), "run 'make instances'"


def test_entries_of_the_users_own_are_in_no_table(monkeypatch):
    before = tables.papers()
    monkeypatch.setitem(fsopt.METHODS.own, "mine", dataclasses.replace(fsopt.METHODS["svm"], name="mine"))
    assert tables.papers() == before
