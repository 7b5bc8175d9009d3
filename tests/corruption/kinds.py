"""All kinds of change: each module enters its own."""

from __future__ import annotations

from corruption import changes, claim_changes, classifier_changes, file_changes, question_changes

MODULES = (claim_changes, classifier_changes, question_changes, file_changes)
FIT_KINDS, SOLVE_KINDS = changes.FIT_KINDS, changes.SOLVE_KINDS
