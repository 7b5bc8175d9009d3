"""Ctrl-C in the middle of a question of many fits: it has no answer, whatever the loop that it reached makes of it."""

import dataclasses
import signal

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

import fsopt
from fsopt.common import clock
from fsopt.estimators import FSV
from fsopt.papers.reproduction import Experiment, Reproduction, RunSettings
from fsopt.solvers.spec import Connection
from fsopt.studies.running import opened
from fsopt.studies.tuning import cross_validate, nested_cross_validation, tune

RNG = np.random.default_rng(4)
X = RNG.standard_normal((40, 5)) + np.array([1.0, 0.5, 0.0, 0.0, 0.0]) * np.repeat([[1.0], [-1.0]], 20, axis=0)
DATA = fsopt.Dataset(X, np.repeat([1.0, -1.0], 20), ["a", "b", "c", "d", "e"])
CANDIDATES = [{"lam": 0.05}, {"lam": 0.1}]


def part_of_an_experiment():
    with opened(None) as store:
        settings = RunSettings(store=store)

        def function(settings):
            kept = [settings.part("one", lambda: fsopt.fit("fsv", DATA).objective, k=k) for k in range(2)]
            return Reproduction(notes=(str(kept),))

        try:
            return Experiment("one", "sla", "a part", function, 1.0).run(settings)
        finally:
            # What was interrupted is not kept: the next run computes it.
            assert settings.part("one", lambda: "computed", k=0) == "computed"


QUESTIONS = {
    "tune": lambda: tune("fsv", DATA, CANDIDATES, folds=2),
    "tune on validation data": lambda: tune("fsv", DATA, CANDIDATES, validation=DATA),
    "cross_validate": lambda: cross_validate("fsv", DATA, CANDIDATES, folds=2),
    "nested": lambda: nested_cross_validation("fsv", DATA, CANDIDATES, splits=2, folds=2),
    "necessity": lambda: fsopt.necessity(DATA, m=2),
    "select": lambda: fsopt.select(DATA, folds=2),
    "a search of scikit-learn": lambda: GridSearchCV(FSV(), {"lam": [0.05, 0.1]}, cv=2).fit(DATA.X, DATA.y),
    "part of an experiment": part_of_an_experiment,
}


@pytest.fixture
def interrupted_at(monkeypatch, usual_interruption):
    """A function after which the look at the clock of a number has Ctrl-C; it returns the looks so far."""

    def at(number):
        looks = []

        def looking(look):
            def looked(*args):
                looks.append(1)
                if len(looks) == number:
                    signal.raise_signal(signal.SIGINT)
                return look(*args)

            return looked

        for name in ("check", "expired", "left"):
            monkeypatch.setattr(clock, name, looking(getattr(clock, name)))
        return looks

    return at


def test_a_solver_that_hears_the_interruption_itself_ends_the_question(monkeypatch):
    answer, ends = Connection.solve, iter(["optimal", "optimal"])

    def interrupted(self, *given):
        return dataclasses.replace(answer(self, *given), stop=next(ends, "interrupted"))

    monkeypatch.setattr(Connection, "solve", interrupted)
    assert fsopt.fit("fsv", DATA).stop == "interrupted", "one fit has the answer of its first steps"
    with pytest.raises(KeyboardInterrupt):
        tune("fsv", DATA, CANDIDATES, folds=2)


@pytest.mark.parametrize("name", QUESTIONS)
@pytest.mark.parametrize("number", [2, 5])
def test_an_interrupted_question_has_no_answer(name, number, interrupted_at):
    looks = interrupted_at(number)
    with pytest.raises(KeyboardInterrupt):
        QUESTIONS[name]()
    assert len(looks) >= number
