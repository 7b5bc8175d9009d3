"""Ctrl-C: the first one is a question of a loop, the second one ends it, and afterwards all is as before."""

import signal
import threading

import pytest

from fsopt.drivers.interruption import deferred_interruption


def test_the_first_interruption_is_deferred_and_the_second_one_is_not(usual_interruption):
    with deferred_interruption() as asked:
        assert not asked()
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            pytest.fail("the first one is not deferred")
        assert asked()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_handler_of_the_caller_stays(usual_interruption):
    calls = []
    signal.signal(signal.SIGINT, lambda number, frame: calls.append(number))
    with deferred_interruption() as asked:
        signal.raise_signal(signal.SIGINT)
        assert not asked()
    assert calls == [signal.SIGINT]


def test_another_thread_sets_no_handler(usual_interruption):
    found = []

    def run():
        with deferred_interruption() as asked:
            found.append((asked(), signal.getsignal(signal.SIGINT)))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert found == [(False, signal.default_int_handler)]
