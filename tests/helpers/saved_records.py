"""Records of fits as they are read from a file, and changed ones that no check may verify."""

import copy
import json
from collections.abc import Mapping

import pytest

from fsopt.answers.fits import fit_record
from fsopt.answers.saved import numbers
from fsopt.errors import FileError
from fsopt.verification.verify import verify_record

VOLATILE = ("seconds", "elapsed", "digest")
"""Keys, or beginnings of keys, of a saved fit that differ from run to run: times, and the digest of the record."""


def lasting(record):
    """Return a saved fit without its times, at all depths."""
    if isinstance(record, Mapping):
        return {k: lasting(v) for k, v in record.items() if not k.startswith(VOLATILE)}
    return [lasting(v) for v in record] if isinstance(record, list) else record


def as_read(fit, data):
    """Return the saved record of a fit, as it is read from a file."""
    return numbers(json.loads(json.dumps(fit_record(fit, data=data, source="test"))))


def refuse_all(record, data, forgeries, damages=None):
    """Assert that no forged record is verified; where words of errors are given by name, no other one is an error."""
    for name, forge in forgeries.items():
        forged = copy.deepcopy(record)
        forge(forged)
        assert forged != record, name
        if damages is not None and name in damages:
            with pytest.raises(FileError, match=damages[name]):
                verify_record(forged, data, "test")
            continue
        try:
            found = verify_record(forged, data, "test")
        except FileError:
            assert damages is None, name
        else:
            assert not found.verified, name
