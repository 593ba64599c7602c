#!/bin/sh
# How much of the response stays unexplained, for every shipped workload and every synchronous
# setting: the share that `budget_error` reports, with the parts measured on every transaction and
# with the default sampling. The target is at most 3 %.
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

printf '%-16s %-12s %-8s %14s %14s\n' workload synchronous sampling 'budget_error %' 'tx/s'
for workload in atm oltp-read-only oltp-read-write point-select report-scan tpcb values1; do
    for synchronous in full normal off; do
        for sampling in --budget-every=1 default; do
            set -- run "$workload" --target "sqlite:?synchronous=$synchronous" --time "$length" \
                --warmup 500ms --no-record --json
            [ "$sampling" = default ] || set -- "$@" "$sampling"
            "$dbtime" "$@" >"$dir/run.json" || true
            printf '%-16s %-12s %-8s %14s %14s\n' "$workload" "$synchronous" \
                "${sampling#--budget-every=}" \
                "$(field budget_error | awk '{ printf "%.2f", 100 * $1 }')" \
                "$(field throughput_tps | awk '{ printf "%.0f", $1 }')"
        done
    done
done
