"""GMEB by each reading of Table 3 of Peleg & Meir: what decides among radii of equal error, and what is counted."""

import json
from itertools import product

import numpy as np
import pytest
from support import blobs

import fsopt
from fsopt.methods.selection import RULES, UNITS, SelectionRule
from fsopt.papers.gmeb import experiments as gmeb
from fsopt.papers.gmeb.experiments import CHOICES, chosen_scores, tied_fits
from fsopt.papers.gmeb.protocol import candidates
from fsopt.papers.reproduction import RunSettings
from fsopt.studies.store import opened
from fsopt.studies.tuning import cross_validate, tune

WAYS = [f"{rule} {units}" for rule, units in product(RULES, UNITS)]


def made_up(**fits):
    """Return fits by their place: error and number of features by every rule, that of raw relative weights apart."""
    ways = {place: dict.fromkeys(WAYS, other) | {"relative raw": own} for place, (_, own, other) in fits.items()}
    return {place[1:]: (error, ways[place]) for place, (error, _, _) in fits.items()}


def test_the_radii_of_equal_error_are_chosen_by_place_or_by_the_features_that_are_counted():
    found = {"tied": [3, 5, 8], "fits": made_up(k0=(0.5, 9, 9), k3=(0.1, 4, 2), k5=(0.2, 2, 6), k8=(0.3, 2, 5))}
    raw = {"rule": "relative", "units": "raw"}
    scores = {radii: chosen_scores(found, {"radii": radii, **raw}) for radii in CHOICES["radii"]}
    assert scores == {"smallest": (0.1, 4), "largest": (0.3, 2), "fewest features": (0.2, 2), "1, 1": (0.5, 9)}
    scaled = {"radii": "fewest features", "rule": "relative", "units": "scaled"}
    assert chosen_scores(found, scaled) == (0.1, 2)


@pytest.mark.slow
def test_the_scores_are_those_of_the_fits_at_the_radii_of_smallest_error():
    train, test = blobs(24, 3, seed=5, gap=1.0), blobs(60, 3, seed=6, gap=1.0)
    train = train.with_X(train.X * [1.0, 30.0, 0.002])
    options = candidates("gmeb", train.p, points=2)
    found = json.loads(json.dumps(tied_fits(train, test, 2, 2, RunSettings())))  # as a store has it
    means = cross_validate("gmeb", train, options, folds=2).mean(axis=1)
    assert found["tied"] == [k for k, mean in enumerate(means) if mean <= means.min() + 1e-12]
    at = {"smallest": found["tied"][0], "largest": found["tied"][-1], "1, 1": 0}
    assert options[at["smallest"]] == tune("gmeb", train, options, folds=2).params
    counts = set()
    fits = {radii: fsopt.fit("gmeb", train, **options[place]) for radii, place in at.items()}
    for (radii, fit), rule, units in product(fits.items(), RULES, UNITS):
        error, count = chosen_scores(found, {"radii": radii, "rule": rule, "units": units})
        assert error == np.mean(fit.predict(test.X) != test.y)
        assert count == len(SelectionRule(rule, units).select(fit.coef, train.X.std(axis=0)))
        counts.add(count)
    assert len(counts) > 1, "units and rules are to matter here"


def test_a_search_of_table_3_solves_each_draw_once_and_compares_gmeb_alone(monkeypatch):
    calls = []

    def fits(train, test, points, folds, settings):
        calls.append(train.n)
        return {"tied": [1, 2], "fits": made_up(k0=(0.5, 150, 150), k1=(0.13, 5, 90), k2=(0.4, 60, 90))}

    monkeypatch.setattr(gmeb, "gmeb_type1", lambda n, seed: blobs(n, 2))
    monkeypatch.setattr(gmeb, "tied_fits", fits)
    monkeypatch.setattr(gmeb, "_drawn_scores", lambda *rest: pytest.fail("no choice changes another method"))
    with opened(None) as held:
        for radii, ours in (("smallest", [13.0, 5.0]), ("largest", [40.0, 60.0]), ("1, 1", [50.0, 150.0])):
            cells = gmeb.gmeb_table3(RunSettings(store=held, choices={"radii": radii, "rule": "relative"})).cells
            assert [c.ours for c in cells if c.row.startswith("gmeb")] == pytest.approx(5 * ours)
            assert {c.verdict for c in cells if not c.row.startswith("gmeb")} == {"left out"}
        page = gmeb.gmeb_table3(RunSettings(store=held, ends=0.0))
        assert [c.ours for c in page.cells if c.row == "gmeb n=20"] == pytest.approx([13.0, 90.0])
        assert "nearest to this table by --search: radii smallest, rule absolute, units raw;" in page.notes[1]
    assert sorted(calls) == [n for n in (10, 20, 30, 40, 50) for _ in range(10)]
