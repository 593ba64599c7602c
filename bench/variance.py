"""Components of variance of the slices that bench/variance-components.sh measured, a product each.

Shape of the file: lines of product, order, block, side, place, transactions a second.
"""

import math
import statistics
import sys
from collections import defaultdict


def deviation(values):
    return statistics.stdev(values) if len(values) > 1 else float("nan")


def main():
    slices = defaultdict(dict)
    for line in open(sys.argv[1], encoding="utf-8"):
        product, order, block, side, place, tps = line.split()
        if product != "warm":
            slices[product, order, int(block)][side, int(place)] = math.log(float(tps))
    for product in dict.fromkeys(key[0] for key in slices):
        print(product)
        blocks = {key[1:]: of for key, of in slices.items() if key[0] == product}
        within, neighbours, middles = [], [], []
        for (order, _), of in blocks.items():
            places = len(of) // 2
            sides = {side: [of[side, at] for at in range(places)] for side in "AB"}
            within += [deviation(values) ** 2 for values in sides.values()]
            middles.append(statistics.mean(of.values()))
            if order == "alternating":
                ratios = [b - a for a, b in zip(sides["A"], sides["B"])]
                neighbours.append(deviation(ratios) ** 2)
        slice_sd = math.sqrt(statistics.mean(within))
        ratio_sd = math.sqrt(statistics.mean(neighbours))
        print(f"  a slice within its life            {slice_sd:.4f}")
        print(f"  the ratio of neighbouring slices   {ratio_sd:.4f}")
        print(f"  blocks, from one to the next       {deviation(middles):.4f}")
        for order in ("alternating", "contiguous"):
            means = []
            for (of_order, _), of in blocks.items():
                if of_order == order:
                    sides = [[of[key] for key in of if key[0] == side] for side in "AB"]
                    means.append(statistics.mean(sides[1]) - statistics.mean(sides[0]))
            spread = deviation(means)
            text = f"  a block's ratio B/A, {order:<13} {spread:.4f}, of {len(means)} blocks"
            if order == "alternating":
                life = spread**2 - statistics.mean(neighbours) / (len(next(iter(blocks.values()))) // 2)
                text += f"; of it lives {math.sqrt(max(life, 0)):.4f}"
            half = 2.0 * spread / math.sqrt(len(means)) if means else float("nan")
            print(f"{text}; ± {100 * half:.1f} % by all of them")


if __name__ == "__main__":
    main()
