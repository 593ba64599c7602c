"""Makes the table of bench/results/verifiers.md of what guests' verifiers went through: reads lines
`verified PROGRAM INSTRUCTIONS MILLISECONDS` of files named on the command line, one for each kernel."""

import sys

kernels = {}
for name in sys.argv[1:]:
    version, _, path = name.partition("=")
    kernels[version] = {}
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            _, program, instructions, _ = line.split()
            kernels[version][program] = int(instructions)
programs = sorted({program for found in kernels.values() for program in found})
print("| program | " + " | ".join(kernels) + " |")
print("|---|" + "---|" * len(kernels))
for program in programs:
    cells = [kernels[version].get(program) for version in kernels]
    print(f"| `{program}` | " + " | ".join("–" if c is None else f"{c:,}" for c in cells) + " |")
