"""A logarithm that compilers work out for several numbers at once, which the one of the C library is not."""

from __future__ import annotations

import math

import numpy as np

from ..compile import inline

LOG_ERROR = 1e-14  # more than it is off, as a share of 1 + |ln x|
LOG_2 = math.log(2.0)
MANTISSA = np.int64(52)  # bits
ROOT_HALF = np.int64(0x3FE6A09E667F3BCD)  # the bits of sqrt(1/2)
WHOLE = np.int64(0x4338000000000000)  # those of 1.5 * 2^52: a whole number in the last bits is added to it
OFFSET = 6755399441055744.0  # 1.5 * 2^52


@inline
def near_log(x):
    """ln x of a positive number that is not tiny: x = 2^e m with m near 1, and ln m = 2 artanh((m - 1) / (m + 1))."""
    bits = np.float64(x).view(np.int64)
    e = (bits - ROOT_HALF) >> MANTISSA
    m = np.int64(bits - (e << MANTISSA)).view(np.float64)
    s = (m - 1.0) / (m + 1.0)
    t = s * s
    high = 1.0 / 9.0 + t * (1.0 / 11.0 + t * (1.0 / 13.0 + t * (1.0 / 15.0 + t * (1.0 / 17.0))))
    series = 1.0 + t * (1.0 / 3.0 + t * (1.0 / 5.0 + t * (1.0 / 7.0 + t * high)))
    return 2.0 * s * series + (np.int64(e + WHOLE).view(np.float64) - OFFSET) * LOG_2
