"""Prints what scipy makes of the values in src/log_ratio.rs, and how far src/sample_size.rs is off:
run once, its output is in the test and in the comment.

Needs numpy and scipy (1.17.1 was used).
"""

import numpy
from scipy import optimize, stats

A = numpy.log([102.0, 98.5, 101.2, 97.3, 100.4, 99.1])
B = numpy.log([105.1, 103.0, 106.2, 99.9, 104.8, 104.0])

paired = stats.ttest_rel(B, A)
interval = paired.confidence_interval(0.95)
print("PAIRED", *(repr(float(x)) for x in
      (*numpy.expm1([(B - A).mean(), interval.low, interval.high]), paired.pvalue)))
welch = stats.ttest_ind(B, A, equal_var=False)
interval = welch.confidence_interval(0.95)
print("WELCH", *(repr(float(x)) for x in
      (*numpy.expm1([interval.low, interval.high]), welch.pvalue)))

for pairs in (3, 5, 10):
    freedom = pairs - 1
    critical = stats.t.ppf(0.975, freedom)
    used = critical + stats.t.ppf(0.8, freedom)
    exact = optimize.brentq(lambda d: stats.nct.sf(critical, freedom, d) - 0.8, 0.5, 1.5 * used)
    print("CHANGE", pairs, f"{used / exact:.3f}")
