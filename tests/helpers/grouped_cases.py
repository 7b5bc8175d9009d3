"""Problems with pairs of groups, signs, bounds, cardinality, costs and rules, small enough to enumerate."""

import itertools

import numpy as np
from support import exact_value, keeps

import fsopt

KINDS = ("groups", "signs", "bounds", "cardinality", "costs", "rules")
PAIRS = list(itertools.combinations(KINDS, 2))


def drawn(k):
    """Return random data in units of their own, and parameters of one pair of kinds."""
    rng = np.random.default_rng([k, 17])
    n, p = int(rng.integers(12, 30)), int(rng.integers(4, 6))
    y = np.where(np.arange(n) % 3 == 0, 1.0, -1.0)
    X = rng.standard_normal((n, p)) + 0.6 * y[:, None] * rng.integers(-1, 2, p)
    data = fsopt.Dataset(X * 10.0 ** rng.uniform(-2, 2, p) + rng.standard_normal(p), y)
    kinds, names = PAIRS[k % len(PAIRS)], np.array(data.features)
    order = rng.permutation(p)
    groups = [names[order[:2]].tolist()] if rng.integers(2) else {"both": order[1:3].tolist()}
    count = p - ("groups" in kinds)
    size = 1.0 / X.std(axis=0)
    ends = {names[j]: float(size[j] / np.abs(data.X[:, j]).max() * rng.uniform(0.0, 0.5)) for j in order[:3]}
    signs = {"positive": names[order[:2]].tolist(), "negative": [int(order[-1])]}
    parts = {
        "groups": {"groups": groups},
        "signs": signs if rng.integers(2) else {"positive": data.features},
        "bounds": {"upper": ends, "lower": {names[order[-2]]: -0.1 * float(size[order[-2]])}},
        "cardinality": {"m": int(rng.integers(1, count + 1))},
        "costs": {"costs": rng.integers(0, 4, count).tolist(), "budget": float(rng.integers(0, 6))},
        "rules": {("implies", "conflicts")[(k // len(PAIRS) + k) % 2]: [[names[order[0]], int(order[3])]]},
    }
    if "costs" not in kinds:  # which may leave no selection with it
        parts["rules"] |= {"include": [names[order[2]]]} if k % 3 else {}
    params = {name: value for kind in kinds for name, value in parts[kind].items()}
    if "m" in params and "costs" in params:  # there is one limit: costs are penalty weights then
        params = {"lam": params["costs"]}
    return data, params


def bounds(data, params, index):
    """Return the bounds (p,) on the weights of the features as given."""
    lower, upper = np.full(data.p, -np.inf), np.full(data.p, np.inf)
    for ends, given in ((lower, params.get("lower", {})), (upper, params.get("upper", {}))):
        for feature, value in given.items():
            ends[index[feature]] = value
    lower[[index[feature] for feature in params.get("positive", ())]] = 0.0
    upper[[index[feature] for feature in params.get("negative", ())]] = 0.0
    return lower, upper


def enumerated(data, params, c, loss):
    """Return the smallest value over all allowed selections."""
    index, first = {name: j for j, name in enumerate(data.features)} | {j: j for j in range(data.p)}, np.arange(data.p)
    groups = params.get("groups", [])
    for one in groups.values() if isinstance(groups, dict) else groups:
        places = [index[feature] for feature in one]
        first[places] = min(places)
    of = np.unique(first, return_inverse=True)[1]  # groups are counted from their first features
    count, scale = int(of.max()) + 1, data.X.std(axis=0)
    work = data.with_X((data.X - data.X.mean(axis=0)) / scale)
    lower, upper = (ends * scale for ends in bounds(data, params, index))
    lam = np.asarray(params.get("lam", np.zeros(count)), dtype=float)
    rules = {name: params[name] for name in ("m", "costs", "budget") if name in params}
    if not rules.keys() | params.keys() & {"lam"}:
        rules["m"] = min(5, count)
    rules["include"] = [of[index[feature]] for feature in params.get("include", ())]
    for name in params.keys() & {"implies", "conflicts"}:
        rules[name] = [[of[index[feature]] for feature in pair] for pair in params[name]]
    allowed = (s for s in map(np.array, itertools.product((0, 1), repeat=count)) if keeps(s, **rules))
    return min(exact_value(work, s[of], c, loss, lower, upper) + float(lam @ s) for s in allowed)
