"""A night's run: every unit once and no process left, whatever is killed.

``FSOPT_SOAK`` has the seconds: ``make soak`` takes half an hour, for studies of 2,000 units over processes and Dask
by turns. Without it, a few units are run over processes, and two things happen to them.
"""

import os
import sys
import time
from pathlib import Path

import pytest
from soak.campaign import Soak, Tally, finished, free_address, lasting

SECONDS = float(os.environ.get("FSOPT_SOAK", "0"))
SEEDS, FOLDS, PACE, MOST = (80, 5, 15.0, 45) if SECONDS else (1, 4, 3.0, 2)
MOST_GROWTH = 30.0
"""Megabytes by which a process may grow once it has loaded everything."""


def table(tallies: dict[str, Tally], units: int) -> str:
    """Return the figures of a campaign as a table."""
    lines = [f"| {units} units each | {' | '.join(tallies)} |", "| --- |" + " ---: |" * len(tallies)]
    for name in dict.fromkeys(name for tally in tallies.values() for name in tally):
        lines.append(f"| {name} | {' | '.join(f'{tally[name]:.4g}' for tally in tallies.values())} |")
    return "\n".join(lines)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.skipif(sys.platform != "linux", reason="processes are found in /proc")
def test_a_study_that_is_killed_again_and_again_ends_as_the_one_in_peace(tmp_path: Path) -> None:
    soak = Soak(tmp_path, SEEDS, FOLDS, PACE, MOST)
    until = time.monotonic() + SECONDS
    whole, tally = soak.undisturbed()
    wanted, tallies = lasting(whole), {"in peace": tally}
    assert len(wanted) == len(finished(whole)) == soak.units
    number = 0
    while number == 0 or time.monotonic() < until:
        number += 1
        places: dict[str, tuple[tuple[str, ...], str | None]]
        places = {f"processes {number}": (("worker", "kill", "full", "worker", "interrupt"), None)}
        if SECONDS:
            kinds = ("worker", "scheduler", "full", "kill", "worker", "interrupt")
            places[f"Dask {number}"] = (kinds, free_address())
        for name, (kinds, address) in places.items():
            store = tmp_path / f"{name.replace(' ', '-')}.sqlite"
            tallies[name] = soak.disturbed(store, kinds, address)
            assert lasting(store) == wanted
            print("\n" + table(tallies, soak.units), flush=True)
    growths = [more for tally in tallies.values() for name, more in tally.items() if name.startswith("growth")]
    assert max(growths, default=0.0) < MOST_GROWTH
    names = {path.name for path in tmp_path.iterdir() if path.suffix not in (".log", ".toml")}
    assert names == {"whole.sqlite", *(f"{name.replace(' ', '-')}.sqlite" for name in tallies if name != "in peace")}
