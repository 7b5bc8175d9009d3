"""The tables that are made from the registries: none is stale, and a new entry is in the table of its kind."""

import dataclasses

import pytest
from support import ROOT

import fsopt
from fsopt.library import tables


@pytest.mark.parametrize("name", tables.PLACES)
def test_the_tables_of_a_file_are_those_of_the_registries(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    assert text == tables.written(text, tables.PLACES[name]), "run 'make instances'"


def test_a_new_entry_makes_the_table_stale(monkeypatch):
    before = [make() for made in tables.PLACES.values() for make in made.values()]
    spec = dataclasses.replace(fsopt.SOLVERS["scs"], name="newcomer", package="newcomer")
    monkeypatch.setitem(fsopt.SOLVERS.shipped, "newcomer", spec)
    monkeypatch.setitem(fsopt.METHODS.shipped, "mine", dataclasses.replace(fsopt.METHODS["svm"], name="mine"))
    after = [make() for made in tables.PLACES.values() for make in made.values()]
    assert [new.replace("newcomer", "scs") != old for new, old in zip(after, before, strict=True)] == [True] * 3
    assert "`svm` `mine`" not in before[0]
    assert "| `newcomer` | LP, QP, SOCP, SDP | global | yes |" in after[1]
    assert '"newcomer.*"' in after[2]


def test_entries_of_the_users_own_are_in_no_table(monkeypatch):
    before = tables.papers()
    monkeypatch.setitem(fsopt.METHODS.own, "mine", dataclasses.replace(fsopt.METHODS["svm"], name="mine"))
    assert tables.papers() == before


def test_a_file_without_its_mark_is_refused():
    with pytest.raises(RuntimeError, match="'solvers, written by make instances' is not there"):
        tables.written("no table", {"solvers": tables.solvers})
