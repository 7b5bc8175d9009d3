"""The certificate of GBD: every number behind the bounds is checked."""

import numpy as np
from support import reference

import fsopt
from fsopt.drivers.gbd.certificate import certify_gbd
from fsopt.drivers.gbd.driver import gbd

C = 4.0


def test_the_certificate_of_gbd_notices_what_is_corrupted():
    data = reference("gbd_n6")
    result = gbd(data, fsopt.build("fsp-master", data, m=2), fsopt.build("fsp-sub", data, c=C), c=C)
    for change in ("none", "balance", "cap", "sign", "lower", "higher", "upper", "infinite"):
        alphas = [a.copy() for a in result.point["alphas"]]
        i, k = int(np.argmax(alphas[0] * (data.y > 0))), int(np.argmax(alphas[0] * (data.y < 0)))
        if change == "balance":
            alphas[0][i] *= 1 - 1e-3
        elif change in ("cap", "sign"):
            alphas[0][[i, k]] = C * 1.001 if change == "cap" else -1e-3
        lower = result.bound * {"lower": 0.999, "higher": 1.001}.get(change, 1.0)
        upper = result.objective * {"upper": 1.001, "infinite": np.inf}.get(change, 1.0)
        assert certify_gbd(data, alphas, C, upper, lower, 1e-6).ok == (change == "none"), change
