"""Records of fits as they are read from a file."""

import json
from collections.abc import Mapping

from fsopt.answers.fits import fit_record
from fsopt.answers.saved import numbers

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
