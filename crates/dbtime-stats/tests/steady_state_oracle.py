"""Prints what src/steady_state.rs and src/effective_size.rs are held against: MSER-5 and batch means by
their definitions. Run once, its output is in the tests. Needs Python alone.
"""

from math import exp, sin


def settled_after(values, size):
    batches = [sum(values[i:i + size]) / size for i in range(0, len(values) - size + 1, size)]

    def error(cut):
        rest = batches[cut:]
        mean = sum(rest) / len(rest)
        return sum((value - mean) ** 2 for value in rest) / len(rest) ** 2

    return size * min(range(len(batches) // 2 + 1), key=error)


def variance(values):
    mean = sum(values) / len(values)
    return sum((value - mean) ** 2 for value in values) / (len(values) - 1)


def autocorrelation_time(values):
    time, size = 1.0, 2
    while len(values) // size >= 8:
        starts = range(0, len(values) - size + 1, size)
        means = [sum(values[i:i + size]) / size for i in starts]
        time, size = max(time, size * variance(means) / variance(values)), 2 * size
    return time


warming = [1000 - 600 * exp(-i / 6) + 40 * sin(7.3 * i) for i in range(60)]
print("MSER-5", settled_after(warming, 5))
print("MSER", settled_after(warming[:40], 1))
print("TIME", autocorrelation_time([sin(0.37 * i) + sin(2.1 * i * i) for i in range(200)]))
