#!/usr/bin/env python3
"""Prints the golden values of test_distributions.c and test_metrics.c with scipy."""
import numpy as np
from scipy import stats

print("gamma: upper tails of a shape a row")
for a in (0.05, 0.5, 1.0, 3.7, 25.0, 400.0, 1e4, 1e6):
    print("    {%s}," % ", ".join("%.17g" % stats.gamma.sf(a * r, a) for r in (1e-3, 0.3, 0.97, 1.0, 1.03, 2.5, 8.0)))
print("chi-square: df, x, upper")
for df, x in ((1, 3.841), (25, 25.0), (25, 80.0), (0.7, 2.0)):
    print("    {%r, %r, %.17g}," % (float(df), x, stats.chi2.sf(x, df)))
print("t: df, t, two-sided")
for df in (1.0, 2.0, 4.0, 9.0, 30.0, 1e5):
    for t in (1e-8, 0.5, 2.2, 12.0):
        print("    {%r, %r, %.17g}," % (df, t, 2 * stats.t.sf(t, df)))
print("normal: x, lower")
for x in (-30.0, -8.0, -1.96, 0.0, 0.7, 5.0):
    print("    {%r, %.17g}," % (x, stats.norm.cdf(x)))
a = np.array([0.12, 0.15, 0.11, 0.18, 0.14])
b = np.array([0.13, 0.19, 0.12, 0.17, 0.20])
print("paired t:", repr(stats.ttest_rel(a, b).pvalue))
