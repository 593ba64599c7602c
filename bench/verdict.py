"""Reads what the scripts beside it measured; prints medians with quartiles, and the limits.

Lines of the file, separated by tabs:
    measure CASE SIDE NAME VALUE        one of the values of a case, in the order of the rounds
    limit CASE NAME SIDES OP VALUE      SIDES is one side, or two as in `dbtime/sysbench`; OP is <=
                                        or >=
    dropped CASE WHY                    a round that was taken again

A ratio is taken round by round, where its second side is positive. A limit holds where both
quartiles keep to it, fails where neither does, and is undecided where it lies between them: then
the noise is larger than the difference.
"""

import sys
from collections import Counter, defaultdict


def quantile(values, share):
    values = sorted(values)
    at = share * (len(values) - 1)
    low = int(at)
    high = min(low + 1, len(values) - 1)
    return values[low] + (values[high] - values[low]) * (at - low)


def shown(value):
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def spread(values):
    low, middle, high = (quantile(values, share) for share in (0.25, 0.5, 0.75))
    return f"{shown(middle)} ({shown(low)} to {shown(high)})"


def judge(values, op, limit):
    def holds(value):
        return value <= limit if op == "<=" else value >= limit

    kept = sum(map(holds, values))
    quartiles = [holds(quantile(values, share)) for share in (0.25, 0.75)]
    word = "holds" if all(quartiles) else "undecided" if any(quartiles) else "FAILS"
    return f"{word}, kept by {kept} of {len(values)}"


def main(path):
    measured = defaultdict(lambda: defaultdict(list))
    limits = defaultdict(list)
    dropped = defaultdict(Counter)
    for line in open(path):
        kind, case, *rest = line.rstrip("\n").split("\t")
        if kind == "measure":
            side, name, value = rest
            measured[case][name, side].append(float(value))
        elif kind == "limit":
            limits[case].append(rest)
        else:
            dropped[case][rest[0]] += 1
    for case, figures in measured.items():
        rounds = max(map(len, figures.values()))
        print(f"\n{case}, {rounds} round{'' if rounds == 1 else 's'}: median (quartiles)")
        for why, count in dropped[case].items():
            print(f"  {count} more left out: {why}")
        for (name, side), values in sorted(figures.items()):
            print(f"  {name:<24} {side:<10} {spread(values)}")
        for name, sides, op, limit in limits[case]:
            first, _, second = sides.partition("/")
            values = figures.get((name, first), [])
            if second:
                base = figures.get((name, second), [])
                pairs = list(zip(values, base))
                values = [a / b for a, b in pairs if b > 0]
                if len(values) < len(pairs):
                    print(f"  {name:<24} {sides:<16} {len(pairs) - len(values)} of {len(pairs)} rounds "
                          "left out: the second side's cost drowned in that of its start")
            if values:
                wanted = f"{'at most' if op == '<=' else 'at least'} {limit}"
                found = f"{spread(values)}, {wanted}: {judge(values, op, float(limit))}"
                print(f"  {name:<24} {sides:<16} {found}")
    for case, flaws in dropped.items():
        if case not in measured:
            told = ", ".join(f"{count} with {why}" for why, count in flaws.items())
            print(f"\n{case}: not measured, every round was left out: {told}")


main(sys.argv[1])
