"""Fits the universal scalability law with scipy to the data in src/scalability/tests.rs: run once,
its output is in the tests.

Needs numpy and scipy (1.17.1 was used).
"""

import numpy
from scipy import optimize

# Schwartz, Practical Scalability Analysis with the Universal Scalability Law (2015): a benchmark of
# Cisco with 1 to 32 clients.
CISCO = [
    955.16, 1878.91, 2688.01, 3548.68, 4315.54, 5130.43, 5931.37, 6531.08, 7219.8, 7867.61, 8278.71,
    8646.7, 9047.84, 9426.55, 9645.37, 9897.24, 10097.6, 10240.5, 10532.39, 10798.52, 11151.43,
    11518.63, 11806, 12089.37, 12075.41, 12177.29, 12211.41, 12158.93, 12155.27, 12118.04, 12140.4,
    12074.39,
]
# SPEC SDM91 on a SPARCcenter 2000, and a ray tracer on an Origin 2000 (Gunther, Guerrilla Capacity
# Planning, 2007).
SDM91 = ([1, 18, 36, 72, 108, 144, 216], [64.9, 995.9, 1652.4, 1853.2, 1828.9, 1775.0, 1702.2])
TRACER = (
    [1, 4, 8, 12, 16, 20, 24, 28, 32, 48, 64],
    [20, 78, 130, 170, 190, 200, 210, 230, 260, 280, 310],
)
# Nothing is lost to more clients at first, and at last much more than the law has.
COLLAPSE = ([1, 8, 64, 512, 2048] * 2, [100, 790, 5000, 6000, 1000, 102, 805, 5050, 5900, 1010])


def fit(n, x):
    n, y = numpy.array(n, float), numpy.log(numpy.array(x, float))

    def residuals(p):
        return p[0] + numpy.log(n) - numpy.log1p(p[1] * (n - 1) + p[2] * n * (n - 1)) - y

    bounds = ([-numpy.inf, 0, 0], [numpy.inf, 1, numpy.inf])
    fits = [
        optimize.least_squares(residuals, [y[0], sigma, kappa], bounds=bounds, xtol=1e-15,
                               ftol=1e-15, gtol=1e-15, x_scale=[1, 0.01, 1e-4], max_nfev=10_000)
        for sigma in (1e-3, 0.05, 0.5)
        for kappa in (1e-7, 1e-5, 1e-3)
    ]
    best = min(fits, key=lambda one: one.cost)
    return [float(v) for v in (numpy.exp(best.x[0]), best.x[1], best.x[2], 2 * best.cost)]


print("CISCO", fit(range(1, 33), CISCO))
print("SDM91", fit(*SDM91))
print("TRACER", fit(*TRACER))
print("COLLAPSE", fit(*COLLAPSE))
