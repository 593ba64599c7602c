#!/bin/sh
# How long dbtime takes to start, and how large it is. Budgets: 20 ms, 40 MB.
#
# Usage: bench/footprint.sh [path of dbtime]
set -eu
dbtime=${1:-target/release/dbtime}
runs=50
begun=$(date +%s%N)
i=0
while [ "$i" -lt "$runs" ]; do
    "$dbtime" --version >/dev/null
    i=$((i + 1))
done
ended=$(date +%s%N)
echo "start: $(((ended - begun) / runs / 1000)) µs each over $runs runs of --version, the shell's fork included"
echo "size: $(wc -c <"$dbtime") bytes"
