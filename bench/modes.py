"""Takes the load's mode out of what watching costs, for a case of bench/trace-cost.sh.

Where nothing is pinned a statement costs the more the more often it wakes the other CPU, and that
changes by itself between runs. CPU per statement of the runs with nobody watching is fitted to their
interrupts per statement by least squares, a straight line; of each run with somebody watching that
line's value at its own interrupts is taken off. Prints lines for the file of measured values: what
is left, and, as the side `nobody`, what the line leaves of the runs that made it.

Usage: modes.py MEASURED CASE
"""

import sys
from collections import defaultdict

NAME = "CPU added at its mode, µs"


def line(points):
    """The intercept and the slope of least squares."""
    count = len(points)
    mean_x = sum(x for x, _ in points) / count
    mean_y = sum(y for _, y in points) / count
    spread = sum((x - mean_x) ** 2 for x, _ in points)
    slope = sum((x - mean_x) * (y - mean_y) for x, y in points) / spread if spread else 0.0
    return mean_y - slope * mean_x, slope


def main(path, case):
    figures = defaultdict(list)
    for row in open(path):
        kind, *rest = row.rstrip("\n").split("\t")
        if kind == "measure" and rest[0] == case:
            _, side, name, value = rest
            figures[side, name].append(float(value))
    sides = sorted({side for side, name in figures if name == "interrupts without"})
    bare, watched = [], []
    for side in sides:
        without, added = figures[side, "CPU without, µs"], figures[side, "CPU added, µs"]
        bare += zip(figures[side, "interrupts without"], without)
        costs = map(sum, zip(without, added))
        watched += [(side, x, y) for x, y in zip(figures[side, "interrupts with"], costs)]
    intercept, slope = line(bare)
    rows = [("nobody", x, y) for x, y in bare] + watched
    for side, x, y in rows:
        print("measure", case, side, NAME, f"{y - intercept - slope * x:.3f}", sep="\t")


main(*sys.argv[1:])
