"""The exact claim of a saved fit of GMEB: program (15) at its hyperplane, with the multipliers of (16)."""

from __future__ import annotations

import numpy as np

from fsopt.certificates.exact.claims import Claim
from fsopt.certificates.exact.program import exact_program
from fsopt.compiler import compile_model
from fsopt.errors import reading
from fsopt.methods.exact.programs import about_of, assembled, hinge_values, multipliers, optimum
from fsopt.methods.gmeb.unit_rms import unit_rms
from fsopt.methods.spec import SavedFit
from fsopt.methods.verification import finite_vector
from fsopt.models.gmeb.norm import GmebNorm
from fsopt.models.registry import build

NAME = "the optimum of (15), on features of unit root mean square"


def of_gmeb(saved: SavedFit) -> list[Claim]:
    r"""Return the claim of ``gmeb``.

    With the multipliers :math:`\mu, \mu_1, \mu_+, \mu_-` of (16) the dual point of (15) has
    :math:`\alpha_j = \mu_+v_j^+ + \mu_-v_j^-`, :math:`\beta_j = \mu_1` and :math:`\gamma_j = -s_j` in the cone
    :math:`w_j^2 \le \sigma_jt_j`. Separable data have the bound 0 of all multipliers 0.

    Raises
    ------
    FileError : the saved multipliers are damaged.
    """
    fit = saved.fit
    with reading("multipliers"):
        prepared = unit_rms(saved.raw, fit.params["scale"])
        part = saved.data.columns(prepared.kept)
        work = part.with_X(part.X / prepared.units)
        stated = fit.details["multipliers"]
        mu = finite_vector(stated["mu"], saved.data.n)
        unit, plus, minus = (float(stated[k]) for k in ("unit", "plus", "minus"))
        radii = [np.inf if fit.params[k] is None else float(fit.params[k]) for k in ("r_plus", "r_minus")]
    norm, w = GmebNorm.of(work, *radii), saved.w[prepared.kept] * prepared.units
    model = build("gmeb-primal", work, r_plus=radii[0], r_minus=radii[1])
    program = compile_model(model)
    sigma = norm.scales(w)
    t = np.divide(w**2, sigma, out=np.zeros_like(w), where=sigma > 0)
    x = assembled(model, program, {**hinge_values(work, w, saved.b), "sigma": sigma, "t": t})
    exact = exact_program(program)
    start = np.zeros(exact.dual_size)
    if not bool(fit.details["separable"]):
        sides = {"moment_plus": -plus, "moment_minus": -minus, "unit_norm": -unit}
        rows = {k: np.array([v]) for k, v in sides.items() if model.component(k) is not None and np.isfinite(v)}
        start[: len(exact.rows)] = multipliers(model, program, {"margin": mu, **rows})
        s = work.X.T @ (mu * work.y)
        scales = (plus if np.isfinite(radii[0]) else 0.0) * norm.v_plus
        scales = scales + (minus if np.isfinite(radii[1]) else 0.0) * norm.v_minus
        for j, cone in enumerate(exact.cones):
            place = len(exact.rows) + 3 * j
            k = int(program.variables[cone.tails[0].columns[0]].index())
            start[place : place + 3] = scales[k], unit, -s[k]
    about = about_of("gmeb-primal", {"r_plus": radii[0], "r_minus": radii[1]}, units="rms")
    return [optimum(saved, program, x, start, about=about, name=NAME)]
