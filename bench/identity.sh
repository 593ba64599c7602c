#!/bin/sh
# How much of the response stays unexplained, for every shipped workload and every synchronous
# setting: the share that `budget_error` reports, with the parts of all transactions and, as where
# restartable sequences are missing, with those of a sample that is probed. The target is at most
# 3 %.
#
# Usage: bench/identity.sh [path of dbtime] [length of each window]
set -eu
dbtime=${1:-target/release/dbtime}
length=${2:-2s}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# The first occurrence of a field at the top level of the record.
field() {
    sed -n "s/^  \"$1\": \([^,]*\),*$/\1/p" "$dir/run.json" | head -n 1
}

printf '%-16s %-12s %-8s %14s %14s\n' workload synchronous method 'budget_error %' 'tx/s'
for workload in atm oltp-read-only oltp-read-write point-select report-scan tpcb values1; do
    for synchronous in full normal off; do
        for method in switches probes; do
            tunables=
            [ "$method" = switches ] || tunables=glibc.pthread.rseq=0
            GLIBC_TUNABLES=$tunables "$dbtime" run "$workload" \
                --target "sqlite:?synchronous=$synchronous" --time "$length" --warmup 500ms \
                --no-record --json >"$dir/run.json" || true
            printf '%-16s %-12s %-8s %14s %14s\n' "$workload" "$synchronous" "$method" \
                "$(field budget_error | awk '{ printf "%.2f", 100 * $1 }')" \
                "$(field throughput_tps | awk '{ printf "%.0f", $1 }')"
        done
    done
done
