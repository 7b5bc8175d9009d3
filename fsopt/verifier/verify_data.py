"""The programs of statements, with a code of their own: their shape, and from data every coefficient of them.

This file has the standard library alone and no import of fsopt. ``compare`` builds the program of a claim from the
statement; a coefficient of a data set that is not at hand stays open. With data each one is derived in rational numbers
from the file: exactly where the features are taken as they are, else up to ``ROUNDING`` of the largest entry of its
feature, since the program of the proof has features that were centred and scaled in floating point. docs/exact.md has
the programs and what is compared.
"""

from __future__ import annotations

import csv
import hashlib
import math
import struct
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

Near = tuple[Fraction, Fraction]  # a number and how far from it another one may be
ZERO, ONE = Fraction(0), Fraction(1)
ANY = None  # a number that nothing is known of
ROUNDING = Fraction(1, 2**40)
BITS = 2**100
SLACK = Fraction(1, 10**9)  # relative, of constraints on selections
CONSTANT = Fraction(1, 10**12)  # standard deviation of a constant feature, relative to its largest entry


class Different(Exception):
    """A program or a data set is not that of the statement."""


def same(holds: bool, reason: str) -> None:
    """Raise Different with a reason where a condition does not hold."""
    if not holds:
        raise Different(reason)


def root(value: Fraction) -> Fraction:
    """Return the square root of a number >= 0, rounded to 100 significant bits."""
    if not value:
        return ZERO
    shift = max(0, 104 - (value.numerator.bit_length() - value.denominator.bit_length()) // 2)
    return Fraction(math.isqrt((value.numerator << 2 * shift) // value.denominator), 1 << shift)


def short(value: Fraction) -> Fraction:
    """Return a number rounded to a multiple of 2^-100 of its power of two."""
    if not value or value.denominator.bit_length() < 200:
        return value
    shift = max(0, 104 - value.numerator.bit_length() + value.denominator.bit_length())
    return Fraction((value.numerator << shift) // value.denominator, 1 << shift)


# -- data ----------------------------------------------------------------------------------------------------------


class Samples:
    """The samples and labels of a file.

    The canonical data are the text ``(n, p)``, then the samples one after another, then the labels -1 and +1, as
    doubles in little-endian byte order; their SHA-256 is in the statement.
    """

    def __init__(self, X: list[list[float]], y: list[int]) -> None:
        self.X, self.y = X, y

    @classmethod
    def of_file(cls, path: str, statement: Mapping[str, Any]) -> Samples:
        """Return the data of a CSV file: numbers, and one column of two labels wherever it stands.

        The label column and the class +1 are those with which the SHA-256 is that of the statement.
        """
        data = statement["data"]
        same(not data["weighted"], "its samples have weights, which no file of data has here")
        try:
            with open(path, encoding="utf-8-sig", newline="") as file:
                first = file.readline()
                file.seek(0)
                lines = [line for line in csv.reader(file, delimiter=max(",;\t", key=first.count)) if line]
        except csv.Error as error:
            raise Different(f"the file of data is no table: {error}") from None
        except UnicodeError:
            raise ValueError(f"the data '{path}' are no text: give the CSV file of 'fsopt data write'") from None
        lines = lines[len(lines) - data["samples"] :]  # without a line of names
        wide = data["features"] + 1
        same(len(lines) == data["samples"] > 0, f"the file has other than {data['samples']} samples")
        same(all(len(line) == wide for line in lines), f"the file has other than {wide} columns")
        for place in (wide - 1, *range(wide - 1)):
            labels = sorted({line[place] for line in lines})
            if len(labels) == 2:
                try:
                    X = [[float(v) for v in (*line[:place], *line[place + 1 :])] for line in lines]
                except ValueError:
                    continue
                for positive in labels[::-1]:
                    table = cls(X, [1 if line[place] == positive else -1 for line in lines])
                    if table.digest() == data["sha256"]:
                        return table
        raise Different("the data of the file are not those of the statement: their SHA-256 is another one")

    def digest(self) -> str:
        """Return the SHA-256 of the canonical data."""
        found = hashlib.sha256(repr((len(self.X), len(self.X[0]))).encode())
        for row in self.X:
            found.update(struct.pack(f"<{len(row)}d", *row))
        found.update(struct.pack(f"<{len(self.y)}d", *self.y))
        return found.hexdigest()


class Features:
    """The features of a claim: samples and features of the table, centred and scaled; all open without a table.

    Attributes
    ----------
    z : z_ij as a number and how far from it a coefficient may be.
    y : labels.
    reach : feature -> its largest entry, in its unit.
    """

    def __init__(self, statement: Mapping[str, Any], claim: Mapping[str, Any], table: Samples | None) -> None:
        data = statement["data"]
        rows, columns = claim["rows"], claim["columns"]
        same(increasing(rows, data["samples"]) and increasing(columns, data["features"]), "its rows are no samples")
        self.n = data["samples"] if rows is None else len(rows)
        self.p = data["features"] if columns is None else len(columns)
        self.known, self.positive = table is not None, data["positive"]
        same(self.n > 0 and self.p > 0 and self.positive <= data["samples"], "it has no samples, or no features")
        if table is None:
            return
        taken = range(data["samples"]) if rows is None else rows
        self.y = [table.y[i] for i in taken]
        same(table.y.count(1) == self.positive, "the samples of class +1 are not as many as stated")
        raw = [[Fraction(table.X[i][j]) for i in taken] for j in range(data["features"])]
        scaled = [standard(column, statement["scale"]) for column in raw]
        kept = list(range(len(raw))) if columns is None else columns
        if claim["units"] == "rms":
            varying = [j for j, column in enumerate(raw) if not constant(column)]
            same(kept == varying, "its features are not those that vary")
        if statement["scale"] == "unit-rows":
            self._unit_rows([s[0] for s in scaled], [s[1] for s in scaled])
        else:
            self.z = [[(v, s[2]) for v in s[0]] for s in scaled]
            self.reach = [s[1] for s in scaled]
        self.z, self.reach = [self.z[j] for j in kept], [self.reach[j] for j in kept]
        if claim["units"] == "rms":
            for j, column in enumerate(self.z):
                unit = root(sum((v * v for v, _ in column), ZERO) / self.n)
                self.reach[j] /= unit
                self.z[j] = [(short(v / unit), ROUNDING * self.reach[j]) for v, _ in column]

    def _unit_rows(self, columns: list[list[Fraction]], reach: list[Fraction]) -> None:
        """Divide each sample by its norm."""
        norms = [root(sum((column[i] ** 2 for column in columns), ZERO)) or ONE for i in range(self.n)]
        most = max(reach)
        self.z = [
            [(short(v / norm), 4 * ROUNDING * most / norm) for v, norm in zip(column, norms, strict=True)]
            for column in columns
        ]
        self.reach = [most / min(norms)] * len(columns)

    def entry(self, i: int, j: int, sign: int = 0) -> Near | None:
        """Return y_i z_ij, or z_ij times a sign."""
        if not self.known:
            return ANY
        value, tolerance = self.z[j][i]
        return (sign or self.y[i]) * value, tolerance

    def count(self, side: int) -> int:
        """Return the number of samples of a class."""
        positive: int = self.positive
        return positive if side > 0 else self.n - positive

    def members(self, side: int) -> list[int]:
        """Return the samples of a class; without data as many open ones."""
        if not self.known:
            return [0] * self.count(side)
        return [i for i, label in enumerate(self.y) if label == side]

    def mean(self, j: int, side: int, sign: int = 1) -> Near | None:
        """Return the mean of a feature over a class."""
        if not self.known:
            return ANY
        members = self.members(side)
        return sign * sum((self.z[j][i][0] for i in members), ZERO) / len(members), 4 * ROUNDING * self.reach[j]

    def moment(self, j: int, side: int) -> Near | None:
        """Return the second moment of a feature over a class."""
        if not self.known:
            return ANY
        members = self.members(side)
        value = sum((self.z[j][i][0] ** 2 for i in members), ZERO) / len(members)
        return value, 16 * ROUNDING * self.reach[j] ** 2


def increasing(places: list[int] | None, count: int) -> bool:
    """Return whether places are increasing and below a count."""
    return places is None or (places == sorted(set(places)) and max(places, default=0) < count)


def constant(column: list[Fraction]) -> bool:
    """Return whether a feature is constant up to rounding."""
    return spread(column) <= (CONSTANT * max(map(abs, column))) ** 2


def spread(column: list[Fraction]) -> Fraction:
    """Return the variance of a feature."""
    mean = sum(column, ZERO) / len(column)
    return sum(((v - mean) ** 2 for v in column), ZERO) / len(column)


def standard(column: list[Fraction], scale: str) -> tuple[list[Fraction], Fraction, Fraction]:
    """Return a feature after preprocessing, its largest entry in that unit, and the tolerance of its entries."""
    same(scale in ("none", "center", "standard", "unit-rows"), f"the scale {scale!r} is unknown")
    most = max(map(abs, column))
    if scale == "none":
        return column, most, ZERO
    mean = sum(column, ZERO) / len(column)
    unit = ONE if scale == "center" or constant(column) else root(spread(column))
    return [short((v - mean) / unit) for v in column], most / unit, ROUNDING * most / unit


# -- programs ------------------------------------------------------------------------------------------------------


class Sketch:
    """A program whose numbers are known up to a tolerance, or not at all.

    Attributes
    ----------
    factors : rows, mean, and the covariance that the square of these rows must have.
    open_costs : columns whose costs are those of concave terms.
    slopes : the terms f (1 - e^-kt): f, k and the columns of t.
    """

    def __init__(self) -> None:
        self.cost: list[Near | None] = []
        self.lb: list[int | None] = []
        self.quadratic: set[int] = set()
        self.rows: list[tuple[dict[int, Near | None], Near | None, Near | None]] = []
        self.cones: list[tuple[Any, Any, list[int]]] = []
        self.slopes: list[tuple[Fraction, Fraction, tuple[int, ...]]] = []
        self.factors: list[tuple[range, range, int, Features, Mapping[str, Any]]] = []

    def add(self, count: int, lb: int | None = None, cost: Near | Fraction | int = 0) -> range:
        """Add variables."""
        start = len(self.cost)
        near = cost if isinstance(cost, tuple) else (Fraction(cost), ZERO)
        self.cost += [near] * count
        self.lb += [lb] * count
        return range(start, start + count)

    def plane(self, at: Features) -> tuple[range, int]:
        """Add the variables w and b of a hyperplane."""
        w = self.add(at.p)
        return w, self.add(1)[0]

    def row(self, terms: Mapping[int, Any], lo: Any = None, hi: Any = None) -> None:
        """Add a row; numbers that are no pairs are exact."""

        def near(v: Any) -> Near | None:
            return v if v is ANY or isinstance(v, tuple) else (Fraction(v), ZERO)

        self.rows.append(({j: near(v) for j, v in terms.items()}, near(lo), near(hi)))

    def margins(self, at: Features, w: range, b: int, xi: range) -> None:
        """Add the rows y_i (w'z_i + b) + xi_i >= 1."""
        for i, slack in enumerate(xi):
            label = at.y[i] if at.known else ANY
            self.row({**{j: at.entry(i, k) for k, j in enumerate(w)}, b: label, slack: 1}, 1)

    def errors(self, at: Features, w: range, gamma: int, sides: tuple[range, range]) -> None:
        """Add the rows y >= -Aw + gamma + 1 and z >= Bw - gamma + 1."""
        for side, slacks in zip((1, -1), sides, strict=True):
            for i, slack in zip(at.members(side), slacks, strict=True):
                self.row({**{j: at.entry(i, k, side) for k, j in enumerate(w)}, gamma: -side, slack: 1}, 1)

    def deviations(self, at: Features, given: Mapping[str, Any], w: range, costs: tuple[Any, Any]) -> list[int]:
        """Add u_k = F_k w and t_k >= ||F_k w|| of both classes, F_k'F_k the covariance; return the two t."""
        heads = []
        for side, cost in zip((1, -1), costs, strict=True):
            size = at.count(side) + (at.p if given["ridge"] else 0)
            u = self.add(min(size, at.p))
            (t,) = self.add(1, 0, cost)
            heads.append(t)
            start = len(self.rows)
            for place in u:
                self.row({**dict.fromkeys(w, ANY), place: -1}, 0, 0)
            self.cones.append((t, t, list(u)))
            if at.known:
                self.factors.append((range(start, start + len(u)), w, side, at, given))
        return heads


def values(given: Mapping[str, Any], *names: str) -> list[Fraction]:
    """Return parameters as numbers."""
    same(all(isinstance(given[k], (int, float)) and math.isfinite(given[k]) for k in names), "a parameter is no number")
    return [Fraction(given[k]) for k in names]


def near(value: Fraction) -> Near:
    """Return a number that floating point may have rounded."""
    return value, abs(value) * ROUNDING


def svm(s: Sketch, at: Features, given: Mapping[str, Any]) -> None:
    """Sketch min w'w / 2 + C e'xi."""
    (c,) = values(given, "c")
    w, b = s.plane(at)
    xi = s.add(at.n, 0, c)
    s.quadratic |= set(w)
    s.margins(at, w, b, xi)


def onsvm(s: Sketch, at: Features, given: Mapping[str, Any]) -> None:
    """Sketch min e'(w+ + w-) + C e'xi, w = w+ - w-."""
    (c,) = values(given, "c")
    w, b = s.plane(at)
    plus, minus = s.add(at.p, 0, 1), s.add(at.p, 0, 1)
    s.margins(at, w, b, s.add(at.n, 0, c))
    split(s, w, plus, minus)


def split(s: Sketch, w: range, plus: range, minus: range) -> None:
    """Add the rows w - w+ + w- = 0."""
    for j, k, m in zip(w, plus, minus, strict=True):
        s.row({j: 1, k: -1, m: 1}, 0, 0)


def rsvm(s: Sketch, at: Features, given: Mapping[str, Any]) -> None:
    """Sketch min e'xi, w'w <= W."""
    (cap,) = values(given, "w_cap")
    w, b = s.plane(at)
    xi = s.add(at.n, 0, 1)
    s.margins(at, w, b, xi)
    s.cones.append((cap, ONE, list(w)))


def svm_norm(s: Sketch, at: Features, given: Mapping[str, Any]) -> None:
    """Sketch min t / 2 + C e'xi, ||w|| <= t."""
    (c,) = values(given, "c")
    w, b = s.plane(at)
    (t,), xi = s.add(1, 0, Fraction(1, 2)), s.add(at.n, 0, c)
    s.margins(at, w, b, xi)
    s.cones.append((t, t, list(w)))


def fsp_sub(s: Sketch, at: Features, given: Mapping[str, Any]) -> None:
    """Sketch min u'u / 2 + C e'xi, w_j = sigma_j u_j."""
    (c,), sigma = values(given, "c"), given["sigma"]
    same(isinstance(sigma, list) and len(sigma) == at.p and set(sigma) <= {0, 1}, "sigma is no selection")
    w, b = s.plane(at)
    u, xi = s.add(at.p), s.add(at.n, 0, c)
    s.quadratic |= set(u)
    s.margins(at, w, b, xi)
    for j, k, chosen in zip(w, u, sigma, strict=True):
        s.row({j: 1, k: -int(chosen)}, 0, 0)


def gmeb_primal(s: Sketch, at: Features, given: Mapping[str, Any]) -> None:
    """Sketch min e'xi, w_j^2 <= sigma_j t_j, e't <= 1, v+'sigma <= R+, v-'sigma <= R-."""
    w, b = s.plane(at)
    sigma, t = s.add(at.p, 0), s.add(at.p, 0)
    xi = s.add(at.n, 0, 1)
    s.margins(at, w, b, xi)
    s.cones += [(k, m, [j]) for j, k, m in zip(w, sigma, t, strict=True)]
    s.row(dict.fromkeys(t, 1), None, 1)
    for side, name in ((1, "r_plus"), (-1, "r_minus")):
        if given[name] is not None:
            (radius,) = values(given, name)
            s.row({k: at.moment(j, side) for j, k in enumerate(sigma)}, None, radius)


def misclass_step(s: Sketch, at: Features, given: Mapping[str, Any]) -> None:
    """Sketch min sum of 1 - e^-alpha y and 1 - e^-alpha z, or its linearisation at 0."""
    (alpha,) = values(given, "alpha")
    w, gamma = s.plane(at)
    y, z = s.add(at.positive, 0, alpha), s.add(at.n - at.positive, 0, alpha)
    s.slopes = [(ONE, alpha, (j,)) for j in (*y, *z)]
    s.errors(at, w, gamma, (y, z))


def fsv_step(s: Sketch, at: Features, given: Mapping[str, Any]) -> None:
    """Sketch min (1 - lambda)(e'y / m + e'z / k) + lambda sum of 1 - e^-alpha v, or its linearisation at 0."""
    lam, alpha = values(given, "lam", "alpha")
    w, gamma = s.plane(at)
    m, k = at.positive, at.n - at.positive
    y, z = s.add(m, 0, near((1 - lam) / max(m, 1))), s.add(k, 0, near((1 - lam) / max(k, 1)))
    v = s.add(at.p, 0, near(lam * alpha))
    s.slopes = [(lam, alpha, (j,)) for j in v]
    s.errors(at, w, gamma, (y, z))
    for sign in (-1, 1):
        for j, size in zip(w, v, strict=True):
            s.row({j: sign, size: 1}, 0)


def mpm(s: Sketch, at: Features, given: Mapping[str, Any]) -> None:
    """Sketch min ||F1 w|| + ||F2 w||, w'(mu1 - mu2) = 1."""
    w = s.add(at.p)
    s.deviations(at, given, w, (1, 1))
    s.row({j: difference(at, k) for k, j in enumerate(w)}, 1, 1)


def difference(at: Features, j: int) -> Near | None:
    """Return mu1 - mu2 of a feature."""
    first, second = at.mean(j, 1), at.mean(j, -1)
    return ANY if first is None or second is None else (first[0] - second[0], first[1] + second[1])


def kappa(share: Fraction) -> Fraction:
    """Return sqrt(delta / (1 - delta))."""
    same(0 <= share < 1, "a share is outside [0, 1)")
    return root(share / (1 - share))


def s_mpm(s: Sketch, at: Features, given: Mapping[str, Any]) -> None:
    """Sketch max w'(mu1 - mu2) - kappa ||F2 w|| - lambda ||w||_1, ||F1 w|| <= 1."""
    beta, lam = values(given, "beta", "lam")
    w = s.add(at.p)
    for k, j in enumerate(w):
        gain = difference(at, k)
        s.cost[j] = ANY if gain is None else (-gain[0], gain[1])
    t, _ = s.deviations(at, given, w, (0, near(kappa(beta))))
    plus, minus = s.add(at.p, 0, lam), s.add(at.p, 0, lam)
    s.row({t: 1}, None, 1)
    split(s, w, plus, minus)


def l1_mpm(s: Sketch, at: Features, given: Mapping[str, Any]) -> None:
    """Sketch min e'(w+ + w-), m_1 = w'mu1 - b >= kappa ||F1 w||, m_2 = b - w'mu2 >= kappa ||F2 w||, both at least 1."""
    (delta,) = values(given, "delta")
    w, plus = s.add(at.p), s.add(at.p, 0, 1)
    minus, (b,) = s.add(at.p, 0, 1), s.add(1)
    (first,), (second,) = s.add(1, 1), s.add(1, 1)
    heads = s.deviations(at, given, w, (0, 0))
    split(s, w, plus, minus)
    s.row({**{j: at.mean(k, 1) for k, j in enumerate(w)}, b: -1, first: -1}, 0, 0)
    s.row({**{j: at.mean(k, -1, -1) for k, j in enumerate(w)}, b: 1, second: -1}, 0, 0)
    for m, t in zip((first, second), heads, strict=True):
        s.row({m: 1, t: near(-kappa(delta))}, 0)


def l0_mpm_step(s: Sketch, at: Features, given: Mapping[str, Any]) -> None:
    """Sketch the same with the costs of 1 - e^-alpha |w_j|."""
    (alpha,) = values(given, "alpha")
    l1_mpm(s, at, given)
    s.slopes = [(ONE, alpha, (at.p + j, 2 * at.p + j)) for j in range(at.p)]


MOMENTS = ("unbiased", "ridge")
PROGRAMS = {
    "svm": (svm, ("c",)),
    "onsvm": (onsvm, ("c",)),
    "rsvm": (rsvm, ("w_cap",)),
    "svm-norm": (svm_norm, ("c",)),
    "fsp-sub": (fsp_sub, ("c", "sigma")),
    "gmeb-primal": (gmeb_primal, ("r_plus", "r_minus")),
    "misclass-step": (misclass_step, ("alpha",)),
    "fsv-step": (fsv_step, ("lam", "alpha")),
    "mpm": (mpm, MOMENTS),
    "s-mpm": (s_mpm, ("beta", "lam", *MOMENTS)),
    "l1-mpm": (l1_mpm, ("delta", *MOMENTS)),
    "l0-mpm-step": (l0_mpm_step, ("delta", "alpha", *MOMENTS)),
}
"""Program -> function that sketches it, and its parameters."""
SELECTIONS = (
    *("gbd", "gbd-lambda", "best-subset", "best-subset-penalised"),
    *("alternatives", "necessity", "path"),
)
METHODS = {
    **{name: (name,) for name in ("svm", "onsvm", "rsvm", "svm-norm", "mpm", "s-mpm", "l1-mpm")},
    "l1-svm": ("onsvm",),
    "gmeb": ("gmeb-primal",),
    "misclass": ("misclass-step",),
    "pmm": ("misclass-step",),
    "mopfs": ("misclass-step",),
    "fsv": ("fsv-step",),
    "l0-mpm": ("l0-mpm-step",),
    "rfe": ("svm",),
    "r2w2": ("svm",),
    **dict.fromkeys(("pearson", "fisher", "ks", "infogain", "relief", "vs-ssvm"), ("svm", "rsvm")),
    **dict.fromkeys(SELECTIONS, ("selection",)),
}
"""Method or study -> the programs of its claims."""
VALUES = ("mopfs", "rfe", "r2w2", "pearson", "fisher", "ks", "infogain", "relief", "vs-ssvm")
"""Heuristics: their first claim is the value of their hyperplane, no optimum."""
LIMITS = ("m", "costs", "budget", "include", "exclude", "implies", "conflicts", "lam")


def compare(
    statement: Mapping[str, Any], claim: Mapping[str, Any], part: Mapping[str, Any], program: Any, table: Samples | None
) -> bool:
    """Raise Different where a program is not that of its claim; return whether there is one to compare it with."""
    name, slug = statement["name"], claim["program"]
    same(statement["answer"] in ("method", "model", "study"), "the answer is no method, model or study")
    wanted = (name,) if statement["answer"] == "model" else METHODS.get(name)
    same(wanted is None or slug in wanted, f"'{slug}' is no program of the {statement['answer']} '{name}'")
    if name in VALUES and statement["answer"] == "method":
        filtered = slug == "misclass-step" or claim["columns"] is not None
        same(statement["claims"][0]["status"] == "feasible" and filtered, f"'{name}' has no such claim")
    elif slug not in ("selection", "gmeb-primal"):
        same(claim["rows"] is None and claim["columns"] is None, f"'{slug}' is on all samples and features here")
    same((claim["units"] == "rms") == (slug == "gmeb-primal" and name == "gmeb"), "the units are not those stated")
    own, given = statement["parameters"], claim["parameters"]
    same(own.get("scale", statement["scale"]) == statement["scale"], "the scale is not that of the parameters")
    unlike = [k for k in given if own.get(k) is not None and own[k] != given[k]]
    same(not unlike, f"a parameter of the program is another one: {unlike}")
    same((slug == "selection") == (part["kind"] == "selection"), f"the proof is of another kind than '{slug}'")
    if statement["changed"] or statement["data"]["weighted"] or wanted is None:
        return False
    if slug == "selection":
        compare_selection(statement, claim, part, program, table)
        return True
    if slug not in PROGRAMS:
        return False
    function, names = PROGRAMS[slug]
    others = [k for k in given if k not in names and given[k] is not None]  # a linearisation elsewhere than at 0
    if others and statement["answer"] == "model":
        return False
    same(not others and set(names) <= set(given), f"the parameters of '{slug}' are not {', '.join(names)}")
    size_of(statement, claim, program.n)
    sketch = Sketch()
    function(sketch, Features(statement, claim, table), given)
    compare_program(sketch, program, part)
    return True


def size_of(statement: Mapping[str, Any], claim: Mapping[str, Any], n: int) -> None:
    """Raise Different where a program has fewer variables than samples and features are stated."""
    data = statement["data"]
    p = data["features"] if claim["columns"] is None else len(claim["columns"])
    samples = 0 if "mpm" in claim["program"] else data["samples"]
    same(p + samples <= n, f"a program of {n} variables is not one of {data['samples']} samples and {p} features")


def close(value: Fraction | None, wanted: Near | None) -> bool:
    """Return whether a number is the wanted one up to its tolerance."""
    return value is not None and (wanted is None or abs(value - wanted[0]) <= wanted[1])


def compare_program(sketch: Sketch, program: Any, part: Mapping[str, Any]) -> None:
    """Raise Different where a program is not the sketched one."""
    sizes = (program.n, len(program.rows), len(program.cones))
    wanted = (len(sketch.cost), len(sketch.rows), len(sketch.cones))
    same(sizes == wanted, f"it has {sizes} variables, rows and cones, the statement is of {wanted}")
    same(not program.matrices and not program.integer and not program.c0, "it has parts that the statement has not")
    same(dict.fromkeys(sketch.quadratic, 1) == program.P, "its squares are not those of the statement")
    bounds = [(None if lo is None else Fraction(lo), None) for lo in sketch.lb]
    same(program.bounds == bounds, "its bounds are not those of the statement")
    curved = set()
    if part["kind"] == "stationary":
        found = sorted((tuple(columns), f, k) for f, k, columns in part["slopes"])
        same(found == sorted((columns, f, k) for f, k, columns in sketch.slopes), "its concave terms are other ones")
        curved = {j for _, _, columns in sketch.slopes for j in columns}
    for j, (cost, near_) in enumerate(zip(program.c, sketch.cost, strict=True)):
        same(j in curved or close(cost, near_), f"the cost of its variable {j} is not that of the statement")
    for i, (row, limits, (terms, lo, hi)) in enumerate(zip(program.rows, program.limits, sketch.rows, strict=True)):
        held = {j: Fraction(v, row.bottom) for j, v in zip(row.columns, row.values, strict=True)}
        known = all(close(held.get(j, ZERO), terms.get(j, (ZERO, ZERO))) for j in held.keys() | terms.keys())
        ends = ((limits[0], lo), (limits[1], hi))
        bounded = all(e is None if near_ is None else close(e, near_) for e, near_ in ends)
        same(known and bounded, f"its row {i} is not that of the statement")
    for i, (cone, (left, right, tails)) in enumerate(zip(program.cones, sketch.cones, strict=True)):
        same(cone_of(cone) == (*map(head, (left, right)), sorted(tails)), f"its cone {i} is not that of the statement")
    for factor in sketch.factors:
        compare_factor(program, *factor)


def head(value: Fraction | int) -> Any:
    """Return the description of a form: a number alone, or one variable."""
    return ([], [], value) if isinstance(value, Fraction) else ([value], [1], 0)


def cone_of(cone: Any) -> Any:
    """Return the heads of a cone and the variables of its tail, all of weight 1; None for another cone."""
    weights, (left, right, *tails) = cone
    plain = all(w == 1 for w in weights) and all((f.values, f.constant, f.bottom) == ([1], 0, 1) for f in tails)
    heads = [(f.columns, f.values, Fraction(f.constant, f.bottom)) for f in (left, right)]
    return (*heads, sorted(f.columns[0] for f in tails)) if plain else None


def compare_factor(program: Any, rows: range, w: range, side: int, at: Features, given: Mapping[str, Any]) -> None:
    """Raise Different where the rows F w of a class have no F'F that is its covariance."""
    F = []
    for i in rows:
        row = program.rows[i]
        held = dict(zip(row.columns, row.values, strict=True))
        F.append([Fraction(held.get(j, 0), row.bottom) for j in w])
    members = at.members(side)
    means = [sum((at.z[j][i][0] for i in members), ZERO) / len(members) for j in range(at.p)]
    (ridge,) = values(given, "ridge")
    same(isinstance(given["unbiased"], bool), "unbiased is neither true nor false")
    share = len(members) - given["unbiased"]
    size = [2 * reach + root(ridge) for reach in at.reach]
    centred = [[short(at.z[j][i][0] - means[j]) for i in members] for j in range(at.p)]
    for j in range(at.p):
        for k in range(j + 1):
            covariance = sum((a * b for a, b in zip(centred[j], centred[k], strict=True)), ZERO) / max(share, 1)
            own = sum((row[j] * row[k] for row in F), ZERO)
            off = abs(own - covariance - (ridge if j == k else 0))
            same(off <= 16 * ROUNDING * size[j] * size[k], f"the covariance of class {side:+d} is another one")


# -- selections ----------------------------------------------------------------------------------------------------


def limits_of(given: Mapping[str, Any], p: int) -> list[tuple[list[Fraction], Fraction]]:
    """Return the constraints a's <= r of the parameters of a selection."""

    def unit(plus: Iterable[int], minus: Iterable[int] = ()) -> list[Fraction]:
        plus, minus = list(plus), list(minus)
        same(all(isinstance(j, int) and 0 <= j < p for j in (*plus, *minus)), "a rule is on no feature")
        return [Fraction((j in plus) - (j in minus)) for j in range(p)]

    found = []
    if given["m"] is not None:
        found.append(([ONE] * p, Fraction(given["m"])))
    if given["costs"] is not None:
        same(len(given["costs"]) == p, "the costs are not one for each feature")
        found.append(([Fraction(v) for v in given["costs"]], Fraction(given["budget"])))
    found += [(unit([], [j]), -ONE) for j in given["include"]] + [(unit([j]), ZERO) for j in given["exclude"]]
    found += [(unit([j], [k]), ZERO) for j, k in given["implies"]] + [(unit(g), ONE) for g in given["conflicts"]]
    return found


def compare_selection(
    statement: Mapping[str, Any], claim: Mapping[str, Any], part: Mapping[str, Any], problem: Any, table: Samples | None
) -> None:
    """Raise Different where a problem bounds other selections than those that the statement allows.

    Each constraint of the problem is one of the statement, up to a slack outward: the bound holds for all selections
    that are allowed. Its point satisfies all of the statement's, up to that slack.
    """
    given = {"loss": "hinge", **claim["parameters"]}
    same(
        set(given) == {"c", "loss", *LIMITS} and claim["columns"] is None,
        f"its parameters are not c, loss, {', '.join(LIMITS)}",
    )
    n = statement["data"]["samples"] if claim["rows"] is None else len(claim["rows"])
    p = statement["data"]["features"]
    same((len(problem.y), problem.p) == (n, p), f"it has other than {n} samples and {p} features")
    same(values(given, "c") == [problem.C], "its C is not that of the statement")
    same(given["loss"] == problem.loss, "its loss is not that of the statement")
    try:
        limits = limits_of(given, p)
        lam = given["lam"] if isinstance(given["lam"], list) else [given["lam"] or 0] * p
        weights = [Fraction(v) for v in lam]
    except (TypeError, ValueError, OverflowError):
        raise Different("the limits of its selections are damaged") from None
    same(problem.lam == weights, "its penalty weights are not those of the statement")

    def slack(right: Fraction) -> Fraction:
        return right + SLACK * (1 + SLACK) * max(ONE, abs(right))

    def single(j: int, value: int) -> bool:
        """Return whether a constraint of the statement forbids that a feature has a value."""
        return any(not any(v for k, v in enumerate(a) if k != j) and a[j] * value > slack(r) for a, r in limits)

    stated = {tuple(a): min(r for b, r in limits if b == a) for a, _ in limits}
    for a, r in zip(problem.R, problem.r, strict=True):
        same(tuple(a) in stated and stated[tuple(a)] <= r, "it has a constraint that the statement has not")
    fixed = all(single(j, 0) for j in problem.fixed[0]) and all(single(j, 1) for j in problem.fixed[1])
    same(fixed, "it fixes a feature that the statement leaves free")
    if part["point"] is not None:
        chosen = set(part["point"]["selected"])
        same(all(sum((a[j] for j in chosen if j < p), ZERO) <= slack(r) for a, r in limits), "its point is not allowed")
    if table is None:
        return
    at = Features(statement, claim, table)
    same(problem.y == at.y, "its labels are not those of the data")
    for j, (column, wanted) in enumerate(zip(problem.columns, at.z, strict=True)):
        known = all(close(v, near_) for v, near_ in zip(column, wanted, strict=True))
        same(known, f"its feature {j} is not that of the data")
