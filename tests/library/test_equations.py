"""Equations of components in LaTeX: as they are written by hand, complete, and with words left as they are."""

from __future__ import annotations

import itertools
import re

from support import ROOT

import fsopt
from tools.equations import latex, with_mathematics

BY_HAND = {
    "(16) s_j^2 <= 4 mu_1 (mu_+ v+_j + mu_- v-_j)": (
        r"(16) $s_{j}^{2} \le 4 \mu_{1} (\mu_{+} {v^+}_{j} + \mu_{-} {v^-}_{j})$"
    ),
    "(17) s = X'Y mu; its multiplier is w": r"(17) $s = X'Y \mu$; its multiplier is w",
    "(11), conflicts: sum of sigma over a group <= 1": "(11), conflicts: sum of sigma over a group <= 1",
    "kappa(beta) = sqrt(beta / (1 - beta))": r"$\kappa (\beta) = \sqrt{\beta / (1 - \beta)}$",
    "(34) ||u_2|| <= t_2": r"(34) $\Vert u_{2}\Vert \le t_{2}$",
    "(16) 0 <= u complements -r + e >= 0": r"(16) $0 \le u \perp -r + e \ge 0$",
    "(15) [[diag(sigma), w], [w', 1]] >= 0, entry by entry": (
        r"(15) $[[\mathrm{diag} (\sigma), w], [w', 1]] \ge 0$, entry by entry"
    ),
    "w = w+ - w-, weights": r"$w = {w^+} - {w^-}$, weights",
}


def test_a_doc_is_as_written_by_hand_and_what_has_words_is_no_formula():
    assert {doc: with_mathematics(doc) for doc in BY_HAND} == BY_HAND
    assert latex("linearisation of RW") is None
    assert latex("a # b") is None


def test_no_formula_of_a_page_is_left_to_markdown():
    """An index or a power outside mathematics would be emphasis, or be shown as its characters."""
    pages = [(ROOT / "models" / slug / "README.md").read_text(encoding="utf-8") for slug in fsopt.MODELS]
    kinds = r"^\| `\w+` \| (?:variable|parameter|objective|constraint|complementarity) \| .*$"
    found = [re.findall(kinds, page, re.M) for page in pages]
    assert all(found)
    for line in itertools.chain(*found):
        equation = line.split(" | ")[3]
        words = re.sub(r"\$[^$]*\$", "", equation)
        assert not re.search(r"\w_\w|[<>]=.*_|_.*_", words), equation
        for formula in re.findall(r"\$([^$]*)\$", equation):
            assert formula.count("{") == formula.count("}")
